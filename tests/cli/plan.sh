#!/bin/sh
# plan.sh PROGRAM: what runs are going to take is said, and nothing is played.
set -eu
eenet=$1
fail() { echo "plan.sh: $*" >&2; exit 1; }
. "$(dirname "$0")/progress.inc"

# expect NAME COMMAND...: what the command prints is what is on stdin.
expect() {
    name=$1
    shift
    cat >expected
    "$@" >out 2>stderr || fail "$name: exit status $?: $(cat stderr)"
    cmp -s out expected || fail "$name: $(diff expected out)"
    test ! -s stderr || fail "$name: $(cat stderr)"
}

# By the usual pace, of which nothing depends on this machine: 10 runs of 5e6 rounds of 106.7 us, and 10 of 6.2 us.
expect run "$eenet" run -d synthetic:cosine -p eenet,linucb -T 5e6 -j 1 --plan <<'X'
20 runs
on one core: about 94 min, estimated from runs on a reference machine
with 16 ranks: 9 min; more do not help
X
expect 'many at a time' "$eenet" run -d synthetic:cosine -p eenet -T 1e7 -s 0-99 -j 20 --plan -q <<'X'
100 runs
on one core: about 29 h 38 min, estimated from runs on a reference machine
with 20 in parallel, as here: 89 min; 64 ranks: 36 min; 256 ranks: 18 min; more do not help
X
expect 'a task of Slurm' env SLURM_CPUS_PER_TASK=1 "$eenet" run -d synthetic:cosine -p eenet,linucb -T 5e6 --plan <<'X'
20 runs
on one core: about 94 min, estimated from runs on a reference machine
with 16 ranks: 9 min; more do not help
X
expect 'a long one' "$eenet" run -d synthetic:cosine -p eenet -T 1e10 -s 5 --plan --log x.csv <<'X'
1 run
on one core: about 12 days 8 h, estimated from runs on a reference machine
X
test ! -e x.csv || fail 'a log was made'
expect 'one long, one short' "$eenet" run -d synthetic:cosine -p eenet,uniform -T 1e6 -s 5 --plan -j 1 --save model <<'X'
2 runs
on one core: about 108 s, estimated from runs on a reference machine
more cores do not help
X
test ! -e model || fail 'a model was made'

# Three settings and four, each on two seeds; then two policies on three.
runs='-d synthetic:inner,dim=4,arms=3 -d synthetic:cosine,dim=4,arms=3 -p eenet,linucb --set eenet.f1.rate=0.01,0.001
    --set eenet.f1.width=20 --set linucb.alpha=0.1,1,2 --tune 100-101 -T 900 -s 0-2 -j 1'
# shellcheck disable=SC2086 # words
expect grid "$eenet" grid $runs --plan -o kept <<'X'
32 runs: 20 for tuning, 12 final
on one core: about 1 s, estimated from runs on a reference machine
with 16 ranks: 1 s; more do not help
X
# shellcheck disable=SC2086
expect halving "$eenet" grid $runs --plan --halving -o kept <<'X'
32 runs: 20 for tuning, 12 final
on one core: about 1 s, estimated from runs on a reference machine
with 16 ranks: 1 s; more do not help
X
# shellcheck disable=SC2086
expect paper "$eenet" paper $runs --plan -o kept <<'X'
68 runs: 20 for tuning, 48 final
on one core: about 3 s, estimated from runs on a reference machine
with 16 ranks: 1 s; 64 ranks: 1 s; more do not help
X
test ! -e kept/results.jsonl || fail 'a run was played'

# What is there is said, and how long by what it took: that is this machine's.
# shellcheck disable=SC2086
"$eenet" grid $runs -o kept >table 2>stderr
drop_progress
test ! -s stderr || fail "grid announces: $(cat stderr)"
# shellcheck disable=SC2086
expect 'all there' "$eenet" grid $runs --plan -o kept <<'X'
32 runs: 20 for tuning, 12 final; all already done
X
# shellcheck disable=SC2086
"$eenet" paper $runs --plan -o kept >out
head -n 1 out | grep -qx '68 runs: 20 for tuning, 48 final; 32 already done' || fail "$(cat out)"
sed -n 2p out | grep -Eqx 'the rest on one core: about [0-9]+ (s|min), estimated from the runs in kept' || fail "$(cat out)"
"$eenet" run -d synthetic:inner,dim=4,arms=3 -p linucb,greedy -T 900 -s 0 --plan -o kept >out
sed -n 2p out | grep -Eqx 'on one core: about [0-9]+ (s|min), estimated from the runs in kept and, for policies it lacks, a reference machine' ||
    fail "$(cat out)"

# Of all shards; what is there is what DIR has, and what this one has played.
shards='-d synthetic:inner,dim=4,arms=3 -p linucb,uniform -T 100 -s 0-4 -j 1 -o parted'
# shellcheck disable=SC2086
"$eenet" run $shards --shard 1/3 -q >played
there=$(wc -l <parted/shards/1-of-3/results.jsonl)
test "$there" -gt 1 || fail "a shard played $there runs"
# shellcheck disable=SC2086
"$eenet" run $shards --shard 1/3 --plan >out
head -n 1 out | grep -qx "10 runs; $there already done" || fail "the same shard: $(cat out)"
sed -n 3p out | grep -q '^with 3 in parallel, in all shards: ' || fail "the same shard: $(cat out)"
# shellcheck disable=SC2086
"$eenet" run $shards --shard 0/3 --plan >out
head -n 1 out | grep -qx '10 runs' || fail "another shard: $(cat out)"
"$eenet" merge parted >/dev/null
# shellcheck disable=SC2086
"$eenet" run $shards --shard 0/3 --plan >out
head -n 1 out | grep -qx "10 runs; $there already done" || fail "merged: $(cat out)"

# What could not be played is refused as it would be without.
code=0
"$eenet" grid -d synthetic:inner -p linucb --set linucb.alpha=1,-1 --plan >out 2>stderr || code=$?
test "$code" = 2 && grep -q alpha stderr || fail "a wrong value: exit status $code: $(cat out stderr)"

# The paper says it before it starts, unless it is to be quiet.
paper='-d synthetic:inner,dim=4,arms=3 -p linucb,uniform --tune 7 -T 100 -s 0-1 -j 1'
# shellcheck disable=SC2086
"$eenet" paper $paper -o loud >/dev/null 2>stderr
cat >expected <<'X'
eenet paper: 7 runs: 3 for tuning, 4 final
eenet paper: on one core: about 1 s, estimated from runs on a reference machine
eenet paper: with 16 ranks: 1 s; more do not help
X
drop_progress
cmp stderr expected || fail "$(cat stderr)"
# shellcheck disable=SC2086
"$eenet" paper $paper -o silent -q >/dev/null 2>stderr
test ! -s stderr || fail "not quiet: $(cat stderr)"
