#!/bin/sh
# decide.sh PROGRAM: a bandit that is asked in lines: what it answers, what it refuses, and what is saved when.
# A shell's background programs ignore SIGINT, those of nohup SIGHUP: env gives both back.
. "$(dirname "$0")/cli.inc"

refuse 2 'expected one MODEL' decide
refuse 2 "unexpected 'b'" decide a b
refuse 2 "--every: expected a whole number from 1 to 4294967295, got '0'" decide a --every 0
refuse 2 '--dim is for a new bandit: add -p POLICY' decide a --dim 3
refuse 2 'give --dim (vectors) or --features (named features), not both' decide a -p linucb --dim 3 --features ''
refuse 2 "unknown policy 'linucv'; did you mean 'linucb'?" decide a -p linucv
refuse 2 "--output: expected a file, got ''" decide a -o ''
refuse 2 '--every is given twice' decide a --every 1 --every 1
refuse 1 'a does not exist; check the name, or add -p POLICY to create a new bandit' decide a
refuse 1 'file: could not lock none/a: No such file or directory' decide none/a -p linucb
echo 'no model' >text
refuse 1 'text: not an eenet model' decide text -p linucb
[ "$(cat text)" = 'no model' ] || fail 'a file that is no model was written over'
[ -z "$(ls | grep lock)" ] || fail "a lock was left: $(ls)"

# answers FILE: the lines on standard input, asked of the model that the other arguments name, have these answers.
answers() {
    expected=$1
    shift
    code=0
    "$eenet" decide "$@" >answers 2>stderr || code=$?
    diff "$expected" answers >&2 || fail "decide $*: $(cat stderr)"
}

# ---- named features: every kind of line ----
a='{"id": "a", "features": {"item": "a"}}' b='{"id": "b", "features": {"item": "b"}}'
cat >lines <<END
{"context": {"plan": "free"}, "actions": [$a, $b], "exclude": ["a"], "tag": {"visitor": [7]}}

{"id": 1, "reward": 0.5, "tag": null}
{"actions": [$b], "tag": "x\u00e9"}
  
{"reward": 1, "id": 2}
END
cat >expected <<'END'
{"id":1,"arm":1,"action":"b","probability":1,"probabilities":[0,1],"tag":{"visitor": [7]}}
{"id":1,"learned":true,"tag":null}
{"id":2,"arm":0,"action":"b","probability":1,"probabilities":[1],"tag":"x\u00e9"}
{"id":2,"learned":true}
END
answers expected model -p linucb --features names=50 <lines
[ "$code" = 0 ] || fail "status $code of good lines: $(cat stderr)"

# ---- bad lines: each has its sentence, nothing changes, and the good ones between them are taken ----
printf '%s\n' 'nonsense' '[1]' '{}' '{"id": 1, "reward": 1}' '{"id": 9, "reward": 1}' '{"id": 1.5, "reward": 1}' \
    '{"id": "1", "reward": 1}' '{"id": 1}' '{"reward": 1}' '{"id": 1, "reward": 1, "actions": []}' \
    '{"actoins": []}' '{"actions": []}' '{"actions": [[1, 2]]}' "{\"actions\": [$a], \"actions\": [$a]}" \
    "{\"actions\": [$a, $a]}" "{\"actions\": [$a], \"exclude\": [\"a\"]}" "{\"actions\": [$a]} and more" \
    "{\"actions\": [$a]" '{"id": 3, "reward": "1"}' >bad
printf '%s\n' '{"id": 3, "value": 1}' '{"value": 1, "id": 3}' '{"value": 1}' >>bad
printf 'a zero \0 in it\n{"tag": "\377", "actions": []}\n' >>bad
cat >expected <<'END'
{"error":"line 1: expected a JSON object: a round, such as {\"context\": {\"hour\": 9}, \"actions\": [{\"id\": \"a\", \"features\": {\"price\": 5}}, {\"id\": \"b\", \"features\": {\"price\": 7}}]}, or a reward, {\"id\": 1, \"reward\": 0.5}"}
{"error":"line 2: expected a JSON object: a round, such as {\"context\": {\"hour\": 9}, \"actions\": [{\"id\": \"a\", \"features\": {\"price\": 5}}, {\"id\": \"b\", \"features\": {\"price\": 7}}]}, or a reward, {\"id\": 1, \"reward\": 0.5}"}
{"error":"line 3: expected a round, such as {\"context\": {\"hour\": 9}, \"actions\": [{\"id\": \"a\", \"features\": {\"price\": 5}}, {\"id\": \"b\", \"features\": {\"price\": 7}}]}, or a reward, {\"id\": 1, \"reward\": 0.5}"}
{"error":"line 4: learn: decision 1 already has its reward"}
{"error":"line 5: learn: there is no decision 9; the last one is 2"}
{"error":"line 6: id must be a whole number, 1 or more, got 1.5"}
{"error":"line 7: id must be a number"}
{"error":"line 8: \"id\" without \"reward\": the answer to a round assigns its id; use \"tag\" for your own name"}
{"error":"line 9: \"reward\" without \"id\": expected the id of the decision"}
{"error":"line 10: expected a round or a reward, got keys of both"}
{"error":"line 11: unknown key \"actoins\"; did you mean \"actions\"?"}
{"error":"line 12: actions: expected at least one"}
{"error":"line 13: actions[0] is a vector, but the bandit takes named features; expected {\"id\": ..., \"features\": {...}}"}
{"error":"line 14: duplicate key \"actions\""}
{"error":"line 15: actions[1] and actions[0] have the same id, \"a\""}
{"error":"line 16: no action is left: all 1 are excluded"}
{"error":"line 17: invalid JSON at byte 55: unexpected text after the value"}
{"error":"line 18: invalid JSON at byte 53: unexpected end of input"}
{"error":"line 19: reward must be a number"}
{"error":"line 20: unknown key \"value\"; did you mean \"reward\"?"}
{"error":"line 21: unknown key \"value\"; did you mean \"reward\"?"}
{"error":"line 22: unknown key \"value\"; expected \"context\" or \"actions\", or \"id\" and \"reward\""}
{"error":"line 23: expected a JSON object: a round, such as {\"context\": {\"hour\": 9}, \"actions\": [{\"id\": \"a\", \"features\": {\"price\": 5}}, {\"id\": \"b\", \"features\": {\"price\": 7}}]}, or a reward, {\"id\": 1, \"reward\": 0.5}"}
{"error":"line 24: invalid JSON at byte 10: invalid UTF-8"}
END
answers expected model -o same <bad
[ "$code" = 1 ] || fail "status $code of bad lines"
cmp model same || fail 'bad lines changed the model'
# A line that is too long is passed over, and the next is taken.
{ head -c 70000000 /dev/zero | tr '\0' ' '; printf '\n{"actions": [%s]}' "$a"; } >long
cat >expected <<'END'
{"error":"line 1: the line is longer than 67108864 bytes"}
{"id":3,"arm":0,"action":"a","probability":1,"probabilities":[1]}
END
answers expected model <long
[ "$code" = 1 ] || fail "status $code of a long line"
rm long

# ---- vectors, and blocks: the context is enough ----
cat >expected <<'END'
{"id":1,"arm":1,"action":"1","probability":1,"probabilities":[0,1]}
{"id":2,"arm":0,"action":"x","probability":1,"probabilities":[1]}
{"error":"line 3: actions[0] has 1 numbers, but the bandit takes 2"}
{"error":"line 4: \"context\" is not supported: this bandit takes vectors; to decide on rows, put MODEL.rows.json next to the model"}
{"error":"line 5: expected a round, such as {\"actions\": [[2 numbers], ...]}, or a reward, {\"id\": 1, \"reward\": 0.5}"}
END
answers expected vectors -p linucb --dim 2 <<'END'
{"actions": [[1, 0], [0, 1]], "exclude": ["0"]}
{"actions": [{"id": "x", "vector": [1, 0]}]}
{"actions": [[1]]}
{"context": {}, "actions": [[1, 0]]}
{"exclude": []}
END
# The same round as a context and as vectors is decided the same, by two bandits that learn the same.
for i in 1 2 3 4 5 6 7 8; do
    printf '{"context": [%s, 0.5], "exclude": ["0"]}\n{"id": %s, "reward": %s}\n' "$i" "$i" $((i % 3))
done >short
sed -E 's/"context": (\[(.), 0.5\])/"actions": [[\2,0.5,0,0,0,0],[0,0,\2,0.5,0,0],[0,0,0,0,\2,0.5]]/' short >whole
"$eenet" decide short.model -p eenet --dim 6 --options blocks=3 <short >expected || fail "a context: $(cat expected)"
answers expected whole.model -p eenet --dim 6 --options blocks=3 <whole
[ "$(grep -c learned answers)" = 8 ] || fail "$(cat answers)"
cat >expected <<'END'
{"error":"line 1: context has 3 numbers, but the bandit takes 2"}
{"error":"line 2: context must be an array of 2 numbers; to decide on rows, put MODEL.rows.json next to the model"}
{"error":"line 3: the actions are the model's blocks: leave out \"actions\"; to rule some out, use \"exclude\""}
END
answers expected short.model <<'END'
{"context": [1, 2, 3]}
{"context": {"a": 1}}
{"context": [1, 2], "actions": [[1, 0, 0, 0, 0, 0]]}
END

# ---- what a new bandit is made of; the same command goes on, another is refused ----
"$eenet" decide fresh -p lints --dim 2 --options nu=0.3 --seed 7 </dev/null || fail 'a new bandit'
"$eenet" decide fresh -p lints --dim 2 --options nu=0.3 --seed 7 </dev/null || fail 'the same again'
different='the existing model has another value; to continue with it, leave out -p and its flags, or choose another file'
refuse 2 "--policy: $different" decide fresh -p linucb --dim 2
refuse 2 "--dim: $different" decide fresh -p lints --dim 3 --options nu=0.3
refuse 2 "--features: $different" decide fresh -p lints --options nu=0.3
refuse 2 "--options: $different" decide fresh -p lints --dim 2
refuse 2 "--seed: $different" decide fresh -p lints --dim 2 --options nu=0.3 --seed 8

# A new bandit whose lines are all bad is not saved: the name or the format was wrong.
code=0
printf '23,free,mobile,3\n' | "$eenet" decide mistaken -p linucb >answers 2>stderr || code=$?
[ "$code" = 1 ] && [ ! -e mistaken ] && grep -q '^{"error":"line 1: expected a JSON object: a round, such as {' answers ||
    fail "$code: $(cat answers)"
[ "$(cat stderr)" = 'eenet decide: no line was accepted, so mistaken was not saved' ] || fail "$(cat stderr)"
printf '23,free\n{"actions": [%s]}\n' "$a" | "$eenet" decide mistaken -p linucb >answers 2>stderr || :
[ -e mistaken ] && [ ! -s stderr ] || fail "a good line was not saved: $(cat stderr)"

# ---- it does not matter how often it is ended in between ----
# lines_of FIRST LAST: rounds whose rewards come three rounds late.
lines_of() {
    i=$1
    while [ "$i" -le "$2" ]; do
        printf '{"context": {"n": %s}, "actions": [%s, %s]}\n' $((i % 5)) "$a" "$b"
        [ "$i" -le 3 ] || printf '{"id": %s, "reward": %s}\n' $((i - 3)) $((i % 2))
        i=$((i + 1))
    done
}
make='-p eenet --features names=50 --seed 3'
lines_of 1 40 | "$eenet" decide once $make >once.answers || fail 'in one go'
for part in '1 10' '11 11' '12 40'; do lines_of $part | "$eenet" decide parts $make; done >parts.answers || fail 'in parts'
cmp once.answers parts.answers && cmp once parts || fail 'in parts it is another'
grep -q error once.answers && fail "$(grep error once.answers)"

# ---- answers come at once; signals save; one program at a time ----
mkfifo in out
# start ARGUMENT...: with the model `live`; ask LINE: its answer is in $got.
start() {
    env --default-signal=INT --default-signal=HUP "$eenet" decide live "$@" <in >out 2>stderr &
    pid=$!
    exec 3>in 4<out
}
ask() {
    printf '%s\n' "$1" >&3
    IFS= read -r got <&4 || fail "no answer to $1: $(cat stderr)"
}
round="{\"context\": {\"n\": 1}, \"actions\": [$a, $b]}"
start -p linucb --features names=50
good=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    ask "$round"
    value=0
    case $got in '{"id":'$i',"arm":1,"action":"b",'*) value=1 good=$((good + 1)) ;; esac
    ask "{\"id\": $i, \"reward\": $value}"
    [ "$got" = "{\"id\":$i,\"learned\":true}" ] || fail "$got"
done
[ "$good" -ge 15 ] || fail "of 20 decisions $good were good"
ask "$round"
refuse 1 'live: another program is writing this model; wait for it or stop it' decide live
refuse_like 1 '.*another program is writing this model.*' run -d synthetic:inner -p uniform -T 10 --save live
[ ! -e live ] || fail 'it is saved before the end'
id=21
for signal in TERM INT HUP; do
    kill -"$signal" "$pid"
    wait "$pid" || fail "status $? after $signal: $(cat stderr)"
    pid=
    exec 3>&- 4<&-
    start
    ask "{\"id\": $id, \"reward\": 1}"
    [ "$got" = "{\"id\":$id,\"learned\":true}" ] || fail "after $signal: $got"
    id=$((id + 1))
    ask "$round"
done
# After kill -9 the model is what was saved last.
cp live before
kill -KILL "$pid"
wait "$pid" 2>/dev/null || :
exec 3>&- 4<&-
cmp live before || fail 'kill -9 changed the model'
ls live.* | grep -vqx live.lock && fail "half a model was left: $(ls live.*)"
start --every 1
for i in 1 2 3; do
    ask "$round"
    case $got in "{\"id\":$id,"*) ;; *) fail "not decision $id: $got" ;; esac
    id=$((id + 1))
done
kill -KILL "$pid"
wait "$pid" 2>/dev/null || :
exec 3>&- 4<&-
start --every 1
ask "{\"id\": $((id - 1)), \"reward\": 1}"
[ "$got" = "{\"id\":$((id - 1)),\"learned\":true}" ] || fail "with --every 1 an answer was lost: $got"
exec 3>&- 4<&-
wait "$pid" || fail "at the end: $(cat stderr)"
pid=
[ ! -e live.lock ] || fail 'the lock is still there'

# ---- a model that cannot be saved: it is told, the old one stays, and deciding goes on ----
cp live before
printf '%s\n' "$round" "$round" >two
code=0
sh -c 'ulimit -f 0; exec "$0" decide live --every 1 <two 2>&1' "$eenet" | cat >told || code=$?
[ "$(grep -c '"action"' told)" = 2 ] && grep -q 'could not write' told || fail "on a full disk: $(cat told)"
code=0
sh -c 'ulimit -f 0; exec "$0" decide live <two >/dev/null 2>&1' "$eenet" || code=$?
[ "$code" = 1 ] || fail "status $code where the model could not be saved"
cmp live before || fail 'a model that could not be saved is another'
code=0
"$eenet" decide live <two >/dev/full 2>stderr || code=$?
[ "$code" = 1 ] && grep -q 'could not write to standard output' stderr || fail "no room for answers: $code $(cat stderr)"

# ---- where `wait` acts, it is by the clock: what was decided before the last line has expired by now ----
cat >expected <<'END'
{"id":1,"arm":0,"action":"0","probability":1,"probabilities":[1]}
END
echo '{"actions": [[1, 0]]}' | answers expected waiting -p linucb --dim 2 --options 'wait=0.000001 default_reward=0'
echo '{"id": 1, "reward": 1}' | "$eenet" decide waiting >answers && fail "it has not expired: $(cat answers)"
like answers 'decision 1 .*default'
