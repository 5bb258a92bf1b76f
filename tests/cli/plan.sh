#!/bin/sh
# plan.sh PROGRAM: what runs are going to take is said, and nothing is played.
. "$(dirname "$0")/cli.inc"

# expect NAME COMMAND...: what the command prints is what is on stdin.
expect() {
    name=$1
    shift
    cat >expected
    "$@" >out 2>stderr || fail "$name: exit status $?: $(cat stderr)"
    cmp -s out expected || fail "$name: $(diff expected out)"
    test ! -s stderr || fail "$name: $(cat stderr)"
}

# Without finished runs there is no estimate.
unknown='time: unknown until each policy has a finished run in'
expect run "$eenet" run -d synthetic:cosine -p eenet,linucb -T 5e6 -j 1 --plan <<X
20 runs
$unknown -o DIR
X
expect 'a log' "$eenet" run -d synthetic:cosine -p eenet -T 1e10 -s 5 --plan --log x.csv -q <<X
1 run
$unknown -o DIR
X
test ! -e x.csv || fail 'a log was made'
expect 'a model' "$eenet" run -d synthetic:cosine -p eenet,uniform -T 1e6 -s 5 --plan -j 1 --save model <<X
2 runs
$unknown -o DIR
X
test ! -e model || fail 'a model was made'

# Estimates extrapolate from the runs of a folder: here one that took 360 s for 1000 rounds.
"$eenet" run -d synthetic:cosine -p uniform -T 1000 -s 9 -o timed -q >table
sed -i -E 's/"seconds":[^,]*/"seconds":360/' timed/results.jsonl
plan() { "$eenet" run -d synthetic:cosine -p uniform -o timed --plan "$@"; }
expect minutes plan -T 2000 -s 0-3 -j 1 <<'X'
4 runs
on one core: about 48 min, estimated from the runs in timed
with any number in parallel: at least 12 min
X
expect hours plan -T 1e5 -s 0-2 -j 2 -q <<'X'
3 runs
on one core: about 30 h 0 min, estimated from the runs in timed
with 2 in parallel, as here: 15 h 0 min; with any number: at least 10 h 0 min
X
expect 'days, and a task of Slurm' env SLURM_CPUS_PER_TASK=1 "$eenet" run -d synthetic:cosine -p uniform -o timed --plan -T 1e6 -s 5 <<'X'
1 run
on one core: about 4 days 4 h, estimated from the runs in timed
X
expect 'one is there' plan -T 1000 -s 8-9 <<'X'
2 runs; 1 already done
the rest on one core: about 6 min, estimated from the runs in timed
X
expect 'a policy without runs' "$eenet" run -d synthetic:cosine -p uniform,linucb -o timed --plan -T 1000 -s 9 <<X
2 runs; 1 already done
$unknown timed
X

# Three settings and four, each on two seeds; then two policies on three.
runs='-d synthetic:inner,dim=4,arms=3 -d synthetic:cosine,dim=4,arms=3 -p eenet,linucb --set eenet.f1.rate=0.01,0.001
    --set eenet.f1.width=20 --set linucb.alpha=0.1,1,2 --tune 100-101 -T 900 -s 0-2 -j 1'
expect grid "$eenet" grid $runs --plan -o kept <<X
32 runs: 20 for tuning, 12 final
$unknown kept
X
expect halving "$eenet" grid $runs --plan --halving -o kept <<X
32 runs: 20 for tuning, 12 final
$unknown kept
X
expect paper "$eenet" paper $runs --plan -o kept <<X
68 runs: 20 for tuning, 48 final
$unknown kept
X
test ! -e kept/results.jsonl || fail 'a run was played'

# What is there is said, and how long by what it took: that is this machine's.
"$eenet" grid $runs -o kept >table 2>stderr
drop_progress
test ! -s stderr || fail "grid announces: $(cat stderr)"
expect 'all there' "$eenet" grid $runs --plan -o kept <<'X'
32 runs: 20 for tuning, 12 final; all already done
X
"$eenet" paper $runs --plan -o kept >out
head -n 1 out | grep -qx '68 runs: 20 for tuning, 48 final; 32 already done' || fail "$(cat out)"
sed -n 2p out | grep -Eqx 'the rest on one core: about [0-9]+ (s|min), estimated from the runs in kept' || fail "$(cat out)"
"$eenet" run -d synthetic:inner,dim=4,arms=3 -p linucb,greedy -T 900 -s 0 --plan -o kept >out
sed -n 2p out | grep -qx "$unknown kept" || fail "$(cat out)"

# Of all shards; what is there is what DIR has, and what this one has played.
shards='-d synthetic:inner,dim=4,arms=3 -p linucb,uniform -T 100 -s 0-4 -j 1 -o parted'
"$eenet" run $shards --shard 1/3 -q >played
there=$(wc -l <parted/shards/1-of-3/results.jsonl)
test "$there" -gt 1 || fail "a shard played $there runs"
"$eenet" run $shards --shard 1/3 --plan >out
head -n 1 out | grep -qx "10 runs; $there already done" || fail "the same shard: $(cat out)"
sed -n 3p out | grep -q '^with 3 in parallel, in all shards: ' || fail "the same shard: $(cat out)"
"$eenet" run $shards --shard 0/3 --plan >out
head -n 1 out | grep -qx '10 runs' || fail "another shard: $(cat out)"
"$eenet" merge parted >/dev/null
"$eenet" run $shards --shard 0/3 --plan >out
head -n 1 out | grep -qx "10 runs; $there already done" || fail "merged: $(cat out)"

# What could not be played is refused as it would be without.
refuse_like 2 '.*alpha.*' grid -d synthetic:inner -p linucb --set linucb.alpha=1,-1 --plan

# The paper says it before it starts, unless it is to be quiet.
paper='-d synthetic:inner,dim=4,arms=3 -p linucb,uniform --tune 7 -T 100 -s 0-1 -j 1'
"$eenet" paper $paper -o loud >/dev/null 2>stderr
cat >expected <<X
eenet paper: 7 runs: 3 for tuning, 4 final
eenet paper: $unknown loud
X
drop_progress
cmp stderr expected || fail "$(cat stderr)"
"$eenet" paper $paper -o silent -q >/dev/null 2>stderr
test ! -s stderr || fail "not quiet: $(cat stderr)"
