#!/bin/sh
# coverage.sh PROGRAM: whether intervals hold the truth, as a table, as lines and as figures.
set -eu
eenet=$1
fail() { echo "coverage.sh: $*" >&2; exit 1; }

small="-d synthetic:clicks,arms=3,rate=0.4 --pool 60 --training 100 -T 200 --replications 20"

# One seed, one result, whatever -j; another seed another one.
# shellcheck disable=SC2086 # words
"$eenet" coverage $small -b uniform,floor:0.3 -p uniform,greedy -j 1 >table
# shellcheck disable=SC2086
"$eenet" coverage $small -b uniform,floor:0.3 -p uniform,greedy -j 3 | cmp - table
# shellcheck disable=SC2086
! "$eenet" coverage $small -b uniform,floor:0.3 -p uniform,greedy -s 1 | cmp -s - table || fail "seed"
[ "$(grep -c '^synthetic:clicks,arms=3,rate=0.4, logs of ' table)" = 2 ] || fail "behaviours"
grep -q '^synthetic:clicks.* logs of floor:0.3 (value 0.[0-9]*, least probability 0.1): 20 logs of 200 rounds$' table ||
    fail "the head of a table"
[ "$(grep -Ec '^  [a-z-]+ +(ips|snips|dr|sndr|gain) ' table)" = 32 ] ||
    fail "rows of intervals"
# The anytime-valid ones hold, at the end and always.
grep '^  cs ' table | grep -Eqv ' (9[5-9]|100)\.[0-9]%.* (9[5-9]|100)\.[0-9]%  +0\.' && fail "cs does not hold"

# Lines: valid JSON, one a behaviour, and the same in the folder.
# shellcheck disable=SC2086
"$eenet" coverage $small -b uniform,igw -p greedy,first --json -o dir >lines || {
    command -v gnuplot >/dev/null && fail "-o"
}
[ "$(wc -l <lines)" = 2 ] || fail "lines"
grep -q '"behaviour":"igw:20"' lines || fail "behaviour"
cmp lines dir/coverage.jsonl
if command -v gnuplot >/dev/null; then
    for name in coverage estimator-error; do
        for ending in svg pdf gp dat; do [ -s "dir/figures/$name.$ending" ] || fail "no $name.$ending"; done
    done
fi

# A warm start: the one that knows nothing, the one that has learned, the one that has played.
"$eenet" coverage --warm 300 -d synthetic:cosine,arms=3 -b uniform,floor:0.2 -T 100 --replications 2 >warm
head -n 1 warm | grep -qx 'Regret of the 100 rounds after a log of 300 events: mean ± standard deviation over 2 seeds.' ||
    fail "the head of a warm start"
[ "$(wc -l <warm)" = 4 ] || fail "rows of a warm start"
"$eenet" coverage --warm 300 -d synthetic:cosine,arms=3 -b uniform -T 100 --replications 2 --json >warm.json
grep -Eqx '\{"dataset":"synthetic:cosine,arms=3","events":300,"rounds":100,"seeds":2,"log":"uniform","cold":\[[0-9.]+,[0-9.]+\],"warmed":\[[0-9.]+,[0-9.]+\],"trained":\[[0-9.]+,[0-9.]+\],"logger":\[[0-9.]+,[0-9.]+\]\}' warm.json ||
    fail "a line of a warm start"

# Killed after each study and started again: the bytes of one that was never killed. Without gnuplot all but figures.
several="-d synthetic:clicks,arms=3,rate=0.4 -d synthetic:cosine,arms=3 --pool 60 -p uniform,greedy
    -b uniform,floor:0.3,softmax,igw"
plain="--training 100 -T 200 --replications 20"
lines() { if [ -e "$1/coverage.jsonl" ]; then wc -l <"$1/coverage.jsonl"; else echo 0; fi; }
same() { diff -r -x '*.pdf' "$1" whole || fail "$1: another folder"; } # a PDF has the time in it
# shellcheck disable=SC2086
study() { # FOLDER FLAG...
    "$eenet" coverage $several -o "$@" || {
        command -v gnuplot >/dev/null && fail "-o $1"
        return 0
    }
}
killed() { # LINES FOLDER COMMAND...
    count=$1 folder=$2
    shift 2
    "$@" >/dev/null 2>&1 &
    pid=$!
    while [ "$(lines "$folder")" -lt "$count" ] && kill -0 "$pid" 2>/dev/null; do :; done
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}
# shellcheck disable=SC2086
study whole $plain >whole.table
[ "$(lines whole)" = 8 ] || fail "$(lines whole) lines of 8"
early=0
for count in 1 3 4 6; do
    # shellcheck disable=SC2086
    killed "$count" killed "$eenet" coverage $several $plain -o killed
    [ "$(lines killed)" = 8 ] || early=$((early + 1))
done
[ "$early" -gt 0 ] || fail "none was killed before it was done"
printf '{"dataset":"half' >>killed/coverage.jsonl
# shellcheck disable=SC2086
study killed $plain | sed 's/^killed/whole/' | cmp - whole.table
same killed
# shellcheck disable=SC2086
study whole $plain --json | cmp - whole/coverage.jsonl
same killed

# What is there is not played: a pool of so many rounds would take hours.
mkdir read
sed 's/"training":100,/"training":100000000,/' whole/coverage.jsonl >read/coverage.jsonl
study read --training 100000000 -T 200 --replications 20 | sed 's/^read/whole/' | cmp - whole.table

# Ctrl-C.
# shellcheck disable=SC2086
env --default-signal=INT "$eenet" coverage $several --training 100 -T 1000 --replications 100 -j 1 -o stopped >out 2>err &
pid=$!
until [ "$(lines stopped)" -gt 0 ]; do kill -0 "$pid" || fail "it ended too early: $(cat err)"; done
kill -INT "$pid"
status=0
wait "$pid" || status=$?
[ $status = 130 ] || fail "Ctrl-C: status $status"
[ "$(cat err)" = "eenet coverage: interrupted; the same command resumes it" ] || fail "Ctrl-C: $(cat err)"

# A line that is whole and wrong is named.
damage() { # EXPRESSION SENTENCE
    sed "$1" whole/coverage.jsonl >read/coverage.jsonl
    status=0
    # shellcheck disable=SC2086
    "$eenet" coverage $several $plain -o read >out 2>err || status=$?
    [ $status = 1 ] || fail "'$1': status $status"
    [ "$(cat err)" = "eenet coverage: read/coverage.jsonl: line 3: $2; delete that line to continue" ] || fail "'$1': $(cat err)"
}
damage '3s/{//' 'byte 1: expected {'
damage '3s/"width":[^}]*/"width":"much"/' "expected a number in 'width'"

# Seeds of a warm start.
warm="--warm 300 -d synthetic:cosine,arms=3 -b uniform,floor:0.2 -T 100"
# shellcheck disable=SC2086
"$eenet" coverage $warm --replications 4 >warm.table
# shellcheck disable=SC2086
for count in 1 3 5; do killed "$count" seeds "$eenet" coverage $warm --replications 4 -o seeds; done
# shellcheck disable=SC2086
"$eenet" coverage $warm --replications 4 -o seeds >again
echo seeds/coverage.jsonl | cat warm.table - | cmp - again
[ "$(lines seeds)" = 8 ] || fail "seeds: $(lines seeds) lines"
[ "$(sort -u seeds/coverage.jsonl | wc -l)" = 8 ] || fail "a seed is kept twice"
# shellcheck disable=SC2086
"$eenet" coverage $warm --replications 5 -o seeds >again
[ "$(lines seeds)" = 10 ] || fail "one more seed: $(lines seeds) lines"

# What is wrong with the arguments.
refuse() { # SENTENCE ARGUMENTS...
    sentence=$1
    shift
    status=0
    "$eenet" coverage "$@" >out 2>err || status=$?
    [ $status = 2 ] || fail "'$*': status $status"
    head -n 1 err | grep -qxF "eenet coverage: $sentence" || fail "'$*': $(cat err)"
}
refuse "expected a data set: -d DATASET"
refuse "--behaviour: 'greedy' never plays some arms, so its log cannot show what they earn" -d synthetic:clicks -b uniform,greedy
refuse "--behaviour: floor: expected a number above 0 and up to 1, got '2'" -d synthetic:clicks -b floor:2
refuse "--candidates: expected uniform, first, little, greedy, floor:EPSILON, softmax:TEMPERATURE or igw:GAMMA, got 'best'" \
    -d synthetic:clicks -p best
refuse "--replications: expected a whole number from 1 to 1000000, got '0'" -d synthetic:clicks --replications 0
refuse "--seed is given twice" -d synthetic:clicks -s 1 -s 2
refuse "data set: unknown kind 'syntetic'; did you mean 'synthetic'?" -d syntetic:clicks
