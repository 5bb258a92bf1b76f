#!/bin/sh
# save.sh PROGRAM: --save of run and grid: the best policy's bandit as a file that decides, here and on a server.
set -eu
eenet=$1
fail() { echo "save.sh: $*" >&2; exit 1; }
pid=
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || :' EXIT

# refuse STATUS SENTENCE VERB ARGUMENT...: the first line on stderr is the sentence, and nothing was saved.
refuse() {
    expected=$1 sentence=$2 verb=$3
    shift 3
    code=0
    "$eenet" "$verb" "$@" >stdout 2>stderr </dev/null || code=$?
    [ "$code" = "$expected" ] && [ "$(head -n 1 stderr)" = "eenet $verb: $sentence" ] ||
        fail "$verb $*: status $code: $(cat stderr)"
    [ -z "$(ls | grep model)" ] || fail "$verb $*: there is $(ls)"
}
problem='-d synthetic:cosine,dim=4,arms=3'
for verb in run grid; do
    # shellcheck disable=SC2086 # words
    {
        refuse 2 "--save must be a file, got ''" "$verb" $problem -p uniform --save ''
        refuse 2 '--save is given twice' "$verb" $problem -p uniform --save model --save model
        refuse 2 '--save keeps one bandit: expected one data set, got 2' "$verb" $problem -d synthetic:inner -p uniform --save model
        refuse 1 'file: could not lock none/model: No such file or directory' "$verb" $problem -p uniform --save none/model
    }
done
refuse 2 "no flag is called '--save'" paper --save model

# ---- run: the policy with the star ----
# shellcheck disable=SC2086
"$eenet" run $problem -p uniform,eenet -T 200 -s 5-6 --save model >table || fail "$(cat table)"
grep -q '^\* eenet ' table || fail "$(cat table)"
tail -n 3 table >said
cat >expected <<'END'

Saved model: eenet, which has the least regret, with its defaults, after 200 rounds of seed 5.
To decide with it: eenet decide model
END
diff expected said || fail 'what run says'
[ ! -e model.lock ] || fail 'the lock is still there'
# The same bytes whatever else is played, and from a folder that has the runs already.
# shellcheck disable=SC2086
for place in alone kept kept; do
    "$eenet" run $problem -p eenet -T 200 -s 5-6 -o "$place" --save "$place.model" >table || fail "$place: $(cat table)"
    grep -q "^Saved $place.model: eenet, with its defaults, after 200 rounds of seed 5.$" table || fail "$(cat table)"
    cmp model "$place.model" || fail "$place: another model"
done
# With --json the lines stay alone.
# shellcheck disable=SC2086
"$eenet" run $problem -p uniform -T 10 -s 0 --save json.model --json >lines 2>said || fail "$(cat said)"
[ "$(wc -l <lines)" = 1 ] && grep -q '^Saved json.model: uniform' said || fail "$(cat lines said)"
# The decisions of the run are behind it: the next is number 201, and learns.
printf '%s\n' '{"actions": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]}' '{"id": 201, "reward": 1}' '{"id": 200, "reward": 1}' |
    "$eenet" decide model -o taught >answers && fail 'decision 200 has its reward'
sed -n 1p answers | grep -Eqx '\{"id":201,"arm":[012],"action":"[012]","probability":[0-9.]+,"probabilities":\[[0-9.]+,[0-9.]+,[0-9.]+\]\}' &&
    [ "$(sed -n 2p answers)" = '{"id":201,"learned":true}' ] && sed -n 3p answers | grep -q 'decision 200 has its reward already' ||
    fail "$(cat answers)"

# ---- grid: with the settings that were chosen ----
# shellcheck disable=SC2086
"$eenet" grid $problem -p uniform,linucb --set linucb.alpha=0.1,5 -T 100 -s 0-1 --tune 7 --save grid.model >table || fail "$(cat table)"
chosen=$(sed -n 's/^ *linucb *2 *\(alpha=[0-9.]*\)$/\1/p' table)
[ -n "$chosen" ] && grep -Eq "^Saved grid.model: (linucb, which has the least regret, with $chosen|uniform, .* with its defaults), after 100 rounds of seed 0\.$" table ||
    fail "$(cat table)"

# ---- an end by Ctrl-C saves nothing ----
# shellcheck disable=SC2086
env --default-signal=INT "$eenet" run $problem -p uniform -T 1000000000000 -s 0 --save late.model >table 2>stderr &
pid=$!
until [ -e late.model.lock ]; do kill -0 "$pid" || fail "it ended too early: $(cat stderr)"; done
catches='/^Name:/ { name = $2 } /^SigCgt:/ { set = $2 } END { exit !(name == "eenet" && set ~ /[2367abef]$/) }'
until awk "$catches" "/proc/$pid/status"; do kill -0 "$pid" || fail "it ended too early: $(cat stderr)"; done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
pid=
[ "$code" = 130 ] && [ ! -e late.model ] && ! grep -q Saved table || fail "status $code: $(cat table stderr)"

# ---- a server takes the file, and decides as it does ----
"$eenet" serve --port 0 --folder data >out 2>err &
pid=$!
until [ -s out ]; do
    kill -0 "$pid" 2>/dev/null || fail "it did not start: $(cat err)"
    sleep 0.02
done
place=$(sed -n '1s/^eenet: listening on //p' out)/v1/bandits
json='Content-Type: application/json'
curl -sS -f -H "$json" -d '{"name": "shop", "policy": "eenet", "dim": 4}' "$place" >answer || fail "create: $(cat answer)"
curl -sS -f -X PUT -H 'Content-Type: application/octet-stream' --data-binary @model "$place/shop/model" >answer ||
    fail "PUT: $(cat answer)"
event=$(sed 's/[^0-9]//g' answer)
# Its versions from then on are of the model that was given: the download is the file.
until curl -sS -f "$place/shop" >answer && [ "$(sed 's/.*"version":\([0-9]*\).*/\1/' answer)" -ge "$event" ]; do
    kill -0 "$pid" || fail "$(cat err)"
    sleep 0.02
done
curl -sS -f "$place/shop/model" >given || fail 'no model to download'
cmp model given || fail 'the server has another model'
round='{"actions": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]}'
curl -sS -f -H "$json" -d "$round" "$place/shop/decide" >answer || fail "decide: $(cat answer)"
echo "$round" | "$eenet" decide model -o taught >answers
[ "$(sed 's/.*"probabilities":\(\[[^]]*\]\).*/\1/' answer)" = "$(sed 's/.*"probabilities":\(\[[^]]*\]\).*/\1/' answers)" ] ||
    fail "the server: $(cat answer), decide: $(cat answers)"
