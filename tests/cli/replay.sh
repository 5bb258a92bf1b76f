#!/bin/sh
# replay.sh PROGRAM: what a server did is made again, beside it, after it was killed, and after somebody changed it.
set -eu
eenet=$1
fail() { echo "replay.sh: $*" >&2; exit 1; }
pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || :' EXIT

# refuse STATUS SENTENCE ARGUMENT...: the first line on stderr is the sentence.
refuse() {
    expected=$1 sentence=$2
    shift 2
    code=0
    "$eenet" replay "$@" >stdout 2>stderr || code=$?
    [ "$code" = "$expected" ] && [ "$(head -n 1 stderr)" = "eenet replay: $sentence" ] ||
        fail "replay $*: status $code: $(cat stderr)"
}
refuse 2 "expected the server's folder"
refuse 2 "expected one folder, got 'b' too" a b
refuse 2 "--from: expected a time such as 2026-11-16T08:00:00Z, got 'noon'" data --from noon

# start: starts it, waits for its first line, and sets pid and place.
start() {
    : >out
    "$eenet" serve --port 0 --folder data >out 2>err &
    pid=$!
    until [ -s out ]; do
        kill -0 "$pid" 2>/dev/null || fail "it did not start: $(cat err)"
        sleep 0.02
    done
    place=$(sed -n '1s/^eenet: listening on //p' out)
}

# stop SIGNAL
stop() {
    kill -"$1" "$pid"
    wait "$pid" 2>/dev/null || :
    pid=
}

start
# post PATH BODY
post() { curl -sS -f -X POST -H 'Content-Type: application/json' -d "$2" "$place/v1/bandits$1" >answer || fail "$1: $2"; }
post '' '{"name":"shop","policy":"linucb","dim":2}'
post '' '{"name":"news","policy":"eenet","features":"","options":"f1.width=8"}'
for i in 1 2 3 4 5 6 7 8; do
    post /shop/decide "{\"id\":\"s$i\",\"actions\":[[1,0.$i],[0.$i,1]]}"
    post /shop/reward "{\"id\":\"s$i\",\"value\":0.$i}"
    post /news/decide "{\"id\":\"n$i\",\"context\":{\"user\":\"u$i\"},\"actions\":[{\"id\":\"a\",\"features\":{\"x\":$i}},{\"id\":\"b\",\"features\":{\"y\":1}}]}"
    post /news/reward "{\"id\":\"n$i\",\"value\":1}"
done

"$eenet" replay data >found || fail "beside the server: $(cat found)"
stop KILL
"$eenet" replay data >found || fail "after it was killed: $(cat found)"
sed -E 's/[0-9]+ events in [0-9]+ steps/N events in N steps/' found >rounded
cat >expected <<'END'
replayed 2 bandits, N events in N steps: 16 decisions and 0 models
all are identical to the log
END
diff expected rounded
"$eenet" replay data --json --bandit shop >found
grep -q '^{"bandits": 1, .*"decisions": 8, .*"other_decisions": 0, "other_models": 0, "first": null}$' found ||
    fail "as JSON: $(cat found)"
code=0
"$eenet" replay data --from 2000-01-01 --until 2000-01-02 >found 2>stderr || code=$?
[ "$code" = 1 ] && [ ! -s found ] &&
    grep -Eq '^eenet replay: nothing to replay: no decisions in this time range; the log covers 20[^ ]*Z to 20[^ ]*Z$' stderr ||
    fail "long ago: status $code: $(cat found stderr)"
code=0
"$eenet" replay data --json --from 2100-01-01 >found 2>stderr || code=$?
[ "$code" = 1 ] && grep -q '"decisions": 0' found || fail "in the future: status $code: $(cat found stderr)"
refuse 1 "replay: there is no bandit 'shoe' in this folder" data --bandit shoe

# A model that was saved, and that somebody changed.
start
post /shop/decide '{"id":"s9","actions":[[1,0.9],[0.9,1]]}'
stop TERM
"$eenet" replay data >found || fail "after it was stopped: $(cat found)"
model=$(ls data/models/1/*.model)
printf '\377' | dd of="$model" bs=1 seek=200 conv=notrunc 2>/dev/null
code=0
"$eenet" replay data >found 2>stderr || code=$?
[ "$code" = 1 ] && [ ! -s found ] || fail "a change was not found: $(cat found)"
sed -E 's/[0-9]+/N/g' stderr >rounded
cat >expected <<'END'
damage: models/N/N.model is damaged: its checksum does not match
eenet replay: data is damaged; the log is intact: restore the files from a backup, or delete them; the server trains again from the log
END
diff expected rounded
