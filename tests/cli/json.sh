#!/bin/sh
# json.sh PROGRAM: one line of JSON for each finished run.
set -eu
eenet=$1
fail() { echo "json.sh: $*" >&2; exit 1; }

"$eenet" run -d synthetic:cosine,dim=5 -p uniform,eenet -T 30 -s 3,8 --json >lines 2>stderr
test ! -s stderr || fail "words on stderr, which is no terminal"
test "$(wc -l <lines)" = 4 || fail "expected 4 lines, got $(wc -l <lines)"

number='-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?'
grep -Evx "\{\"dataset\":\"synthetic:cosine,dim=5\",\"policy\":\"(uniform|eenet)\",\"options\":\"[a-z0-9_=:|. -]+\",\
\"seed\":(3|8),\"rounds\":30,\"regret\":$number,\"reward\":$number,\"optimal\":$number,\"seconds\":$number,\
\"version\":\"[0-9.]+\"\}" lines && fail "lines of another form"
sed -E 's/.*"policy":"([a-z]*)".*"seed":([0-9]*),.*/\1 \2/' lines >runs
printf '%s\n' 'uniform 3' 'uniform 8' 'eenet 3' 'eenet 8' | diff - runs

# The same runs again: the same bytes, the time aside.
"$eenet" run -d synthetic:cosine,dim=5 -p uniform,eenet -T 30 -s 3,8 --json >again
sed -E 's/"seconds":[^,]*//' lines >first
sed -E 's/"seconds":[^,]*//' again | cmp - first
