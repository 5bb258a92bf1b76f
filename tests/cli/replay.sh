#!/bin/sh
# replay.sh PROGRAM: what a server did is made again, beside it, after it was killed, and after somebody changed it.
. "$(dirname "$0")/cli.inc"

refuse 2 "expected the server's folder" replay
refuse 2 "expected one folder, got 'b' too" replay a b
refuse 2 "--from: expected a time such as 2026-11-16T08:00:00Z, got 'noon'" replay data --from noon

start_server "$eenet" serve --port 0 --folder data
post '' '{"name":"shop","policy":"linucb","dim":2}'
post '' '{"name":"news","policy":"eenet","features":"","options":"f1.width=8"}'
for i in 1 2 3 4 5 6 7 8; do
    post /shop/decide "{\"id\":\"s$i\",\"actions\":[[1,0.$i],[0.$i,1]]}"
    post /shop/reward "{\"id\":\"s$i\",\"value\":0.$i}"
    post /news/decide "{\"id\":\"n$i\",\"context\":{\"user\":\"u$i\"},\"actions\":[{\"id\":\"a\",\"features\":{\"x\":$i}},{\"id\":\"b\",\"features\":{\"y\":1}}]}"
    post /news/reward "{\"id\":\"n$i\",\"value\":1}"
done

"$eenet" replay data >found || fail "beside the server: $(cat found)"
stop_server KILL
"$eenet" replay data >found || fail "after it was killed: $(cat found)"
sed -E 's/[0-9]+ events in [0-9]+ steps/N events in N steps/' found >rounded
diff - rounded <<'END'
replayed 2 bandits, N events in N steps: 16 decisions and 0 models
all are identical to the log
END
"$eenet" replay data --json --bandit shop >found
grep -q '^{"bandits": 1, .*"decisions": 8, .*"other_decisions": 0, "other_models": 0, "first": null}$' found ||
    fail "as JSON: $(cat found)"
refuse_like 1 'nothing to replay: no decisions in this time range; the log covers 20[^ ]*Z to 20[^ ]*Z' replay data --from 2000-01-01 --until 2000-01-02
ends_with 1 "$eenet" replay data --json --from 2100-01-01
has stdout '"decisions": 0'
refuse 1 "replay: there is no bandit 'shoe' in this folder" replay data --bandit shoe

# A model that was saved, and that somebody changed.
start_server "$eenet" serve --port 0 --folder data
post /shop/decide '{"id":"s9","actions":[[1,0.9],[0.9,1]]}'
stop_server
"$eenet" replay data >found || fail "after it was stopped: $(cat found)"
model=$(ls data/models/1/*.model)
printf '\377' | dd of="$model" bs=1 seek=200 conv=notrunc 2>/dev/null
ends_with 1 "$eenet" replay data
[ ! -s stdout ] || fail "a change was not found: $(cat stdout)"
sed -E 's/[0-9]+/N/g' stderr >rounded
diff - rounded <<'END'
damage: models/N/N.model is damaged: its checksum does not match
eenet replay: data is damaged; the log is intact: restore the files from a backup, or delete them; the server trains again from the log
END
