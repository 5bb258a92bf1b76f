#!/bin/sh
# explain.sh PROGRAM: a round on a saved model, and a decision of a server's folder.
. "$(dirname "$0")/cli.inc"

refuse 2 'expected one MODEL' explain
refuse 2 'expected one MODEL' explain a b -c -
refuse 2 'expected --context FILE, or - for standard input' explain a
refuse 2 'with --data, expected BANDIT and ID' explain --data a b
refuse 2 'give --data or --context, not both' explain --data a b c -c -
refuse 2 '--slot needs --data' explain a -c - -s top
refuse 1 'load: there is no file none' explain none -c -

start_server "$eenet" serve --port 0 --folder data
post '' '{"name":"shop","policy":"linucb","features":"names=100","options":"lambda=0.01","propensity":"floor:1"}'
post '' '{"name":"plain","policy":"linucb","dim":2}'
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    plan=free
    [ $((i % 2)) = 0 ] || plan=paid
    post /shop/decide "{\"id\":\"s$i\",\"context\":{\"user\":{\"plan\":\"$plan\"}},\"actions\":[{\"id\":\"a\",\"features\":{\"item\":\"a\"}},{\"id\":\"b\",\"features\":{\"item\":\"b\"}}]}"
    value=0
    case $plan$(sed 's/.*"action":"\([ab]\)".*/\1/' answer) in freea | paidb) value=1 ;; esac
    post /shop/reward "{\"id\":\"s$i\",\"value\":$value}"
done
post /plain/decide '{"id":"p1","actions":[[1,0],[0,1]]}'
post /shop/decide '{"id":"both","slots":[{"id":"top"},{"id":"side"}],"context":{"user":{"plan":"free"}},"actions":[{"id":"a","features":{"item":"a"}},{"id":"b","features":{"item":"b"}}]}'
post /plain/reward '{"id":"p1","value":1}'

# The model is that of all rewards: the server has learned them before it stops.
learned() { curl -sS -f "$url/v1/bandits/shop" | grep -q '"learned":12,'; }
await "all rewards to be learned" learned
stop_server
"$eenet" explain --data data shop s12 >table || fail 'a decision'
head -n 1 table | grep -Eqx 'decision s12: [ab], with probability 0.5' || fail "$(cat table)"
like table '^a: expected -?[0-9]\.[0-9]{4}, exploration \+[0-9]\.[0-9]{4}, score -?[0-9]\.[0-9]{4}, probability 0\.5000$'
grep -Eq '^ +[+-][0-9]\.[0-9]{4} .* user\.plan=free\*item=a = 1$' table && grep -Eq '^ +[+-][0-9]\.[0-9]{4}  (\+{20}|-{20})  ' table || fail "$(cat table)"
"$eenet" explain --data data shop s12 --json -f 1 >line
like line '^\{"id":"s12","index":[01],"decided_by":[0-9]+,"version":[0-9]+,"actions":\[\{"action":"a".*"others":'
[ "$("$eenet" explain --data data shop both -s side | grep -c ': expected')" = 1 ] || fail 'a slot'
refuse 1 "no stored decision has the id 'both'" explain --data data shop both -s none
refuse 1 "there is no bandit 'other' in this folder" explain --data data other s1
refuse 1 "no stored decision has the id 's13'" explain --data data shop s13
"$eenet" explain --data data plain p1 | grep -q '\[0\] = 1' || fail 'a vector'

# A model by itself: the round as decide takes it, and as Vowpal Wabbit writes it.
model=$(find data -path '*model*' -type f | head -n 1)
[ -n "$model" ] || fail "no model in $(find data)"
for candidate in $(find data -path '*model*' -type f); do
    printf '%s' '{"context":{"user":{"plan":"free"}},"actions":[{"id":"a","features":{"item":"a"}},{"id":"b","features":{"item":"b"}}]}' |
        "$eenet" explain "$candidate" --context - >decide 2>/dev/null && model=$candidate
done
like decide 'user\.plan=free\*item=a'
printf '%s' '{"user":{"plan":"free"},"_multi":[{"_tag":"a","item":"a"},{"_tag":"b","item":"b"}]}' >round.json
"$eenet" explain "$model" -c round.json | sed 's/^0:/a:/;s/^1:/b:/' | cmp - decide || fail 'two forms of a round'
printf '[1]' >bad.json
refuse 1 'the round must be a JSON object' explain "$model" -c bad.json
