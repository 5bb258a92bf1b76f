#!/bin/sh
# json.sh PROGRAM: one line of JSON for each finished run.
. "$(dirname "$0")/cli.inc"

"$eenet" run -d synthetic:cosine,dim=5 -p uniform,eenet -T 30 -s 3,8 --json >lines 2>stderr
drop_progress
test ! -s stderr || fail "words on stderr, which is no terminal"
test "$(wc -l <lines)" = 4 || fail "expected 4 lines, got $(wc -l <lines)"

# Whatever -j is, the lines stand in the order of the runs.
number='-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?'
grep -Evx "\{\"dataset\":\"synthetic:cosine,dim=5\",\"fingerprint\":\"0{16}\",\"dim\":5,\"arms\":10,\
\"policy\":\"(uniform|eenet)\",\"options\":\"[a-z0-9_=:|. -]+\",\"seed\":(3|8),\"rounds\":30,\"tuning\":false,\
\"regret\":$number,\"reward\":$number,\"optimal\":$number,\"seconds\":$number,\"bytes\":[0-9]+,\
\"marks\":\[($number,){19}$number\],(\"directions\":\[(\[($number,){9}$number\],?){20}\],)?\
\"machine\":\"[^\"]+\",\"version\":\"[0-9.]+\",\"kernels\":\"[a-z0-9]+\"\}" lines && fail "lines of another form"
test "$(grep -c directions lines)" = 2 || fail "directions of a policy that does not explore, or none of one that does"
sed -E 's/.*"policy":"([a-z]*)".*"seed":([0-9]*),.*/\1 \2/' lines >runs
printf '%s\n' 'uniform 3' 'uniform 8' 'eenet 3' 'eenet 8' | diff - runs

# Rewards that come late are in the line, and the room for the decisions that wait among the options.
"$eenet" run -d synthetic:cosine,dim=5 -p uniform -T 30 -s 3 --delay 2000 --json >late
grep -Eq '[" ]pending=2001[" ].*,"tuning":false,"delay":"2000","regret":' late || fail "no delay: $(cat late)"
"$eenet" run -d synthetic:cosine,dim=5 -p uniform -T 30 -s 3 --delay 2000 --set uniform.pending=3000 --json >late
grep -Eq '[" ]pending=3000[" ]' late || fail "not the option that was given: $(cat late)"
! grep -q '"delay"' lines || fail "a delay where there is none"

# The same runs again: the same bytes, the time aside.
sed -E 's/"seconds":[^,]*//' lines >first
for jobs in 1 4; do
    "$eenet" run -d synthetic:cosine,dim=5 -p uniform,eenet -T 30 -s 3,8 -j "$jobs" --json >again
    sed -E 's/"seconds":[^,]*//' again | cmp - first
done
