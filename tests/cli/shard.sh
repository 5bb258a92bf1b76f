#!/bin/sh
# shard.sh PROGRAM: several programs share the runs; merged, they are those of one.
. "$(dirname "$0")/cli.inc"
untimed() { sed -E 's/"seconds":[^,]*,//; s/"machine":"[^"]*",//' "$1/results.jsonl"; }

runs='-d synthetic:cosine,dim=5 -d synthetic:inner -p eenet:fast,linucb,uniform -T 100 -s 0-3'
play() { "$eenet" run $runs -j 1 -o "$@"; } # FOLDER FLAG...
play whole >table
untimed whole >expected

# ---- eenet run ----

# Three shards at a time: each has its part, and together they have each run once.
pids=
for shard in 0 1 2; do
    play all --shard "$shard/3" >"said-$shard" &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid" || fail "a shard: exit status $?"; done
total=0
for shard in 0 1 2; do
    own=$(lines "all/shards/$shard-of-3")
    test "$own" -gt 0 || fail "shard $shard plays nothing"
    total=$((total + own))
    head -n 1 "said-$shard" | grep -qx "shard $shard/3: $own runs finished, in all/shards/$shard-of-3" ||
        fail "shard $shard: $(cat "said-$shard")"
    tail -n 1 "said-$shard" | grep -q '^When all shards are done: eenet merge all; then the same command without --shard' ||
        fail "shard $shard: $(cat "said-$shard")"
done
test "$total" = 24 || fail "$total runs of 24 in all"
test ! -e all/results.jsonl || fail "a shard has written beside its folder"

# Merged: the bytes that one program writes, in its order; the folder then has the table, and all are done.
"$eenet" merge all >said
head -n 1 said | grep -qx 'all: 24 runs added from 3 folders' || fail "$(cat said)"
tail -n 1 said | grep -q '^All 24 requested runs are complete: ' || fail "$(cat said)"
untimed all | cmp - expected || fail "other lines than those of one program"
diff -r all/curves whole/curves || fail "other curves than those of one program"
play all | shown >merged-table
shown <table | cmp - merged-table || fail "another table: $(cat merged-table)"
untimed all | cmp - expected || fail "something was played after all shards were merged"
play all --shard 1/3 >said
head -n 1 said | grep -qx 'shard 1/3: 0 runs finished, in all/shards/1-of-3' || fail "$(cat said)"
tail -n 1 said | grep -q '^All shards are complete' || fail "$(cat said)"

# What the folder has is not played again, whoever had it; what only another shard has is not waited for.
rm -r all/shards
play all --shard 2/3 >said
test "$(lines all/shards/2-of-3)" = 0 || fail "it was played again"

# Killed in the middle, merged in the middle, gone on: nothing is lost, and nothing of what was kept is played again.
for count in 1 4; do
    kill_after "$count" "$eenet" run $runs -j 1 -o killed --shard 0/2
    "$eenet" merge killed >said || fail "merged in the middle: $(cat said)"
    grep -qx 'Shards without finished runs (of 2): 1' said || fail "no word of the other shard: $(cat said)"
    like said '^[0-9]* of 24 requested runs are missing'
done
play killed --shard 1/2 >/dev/null
play killed --shard 0/2 >/dev/null
"$eenet" merge killed >said
test "$(lines killed)" = 24 || fail "killed: $(lines killed) lines of 24"
sort expected >sorted
sed -E 's/"row":[0-9]*,//' sorted | sort >sorted-without-rows
untimed killed | sed -E 's/"row":[0-9]*,//' | sort | cmp - sorted-without-rows || fail "killed: other lines"

# A shard that never comes: the same command without --shard plays what is missing. A merge that was forgotten is told.
play half --shard 0/2 >/dev/null
cp -a half forgotten
"$eenet" report forgotten 2>&1 | head -n 1 |
    grep -qx 'eenet report: some runs of shards are not merged yet, and the report leaves them out; merge them first: eenet merge forgotten' ||
    fail "a report without what the shards have, and no word of it"
play forgotten 2>&1 >/dev/null | grep -qx 'eenet run: some runs of shards are not merged yet, .*: eenet merge forgotten' ||
    fail "no word of a merge that was forgotten"
"$eenet" merge half >/dev/null
play half >/dev/null 2>stderr
if grep -q merge stderr; then fail "merged, and yet: $(cat stderr)"; fi
untimed half | sed -E 's/"row":[0-9]*,//' | sort | cmp - sorted-without-rows || fail "half: other lines"

# Machines that share no disk: a folder stands for its shards, which may be in several, beside those of the first.
for shard in 0 1 2; do play "own-$shard" --shard "$shard/4" >/dev/null; done
cp -a own-1/shards/1-of-4 own-2/shards
"$eenet" merge own-0 own-1 own-2 >said
grep -qx 'Shards without finished runs (of 4): 3' said || fail "no disk is shared: $(cat said)"
play own-3 --shard 3/4 >/dev/null
"$eenet" merge gathered own-3 own-0 own-1 own-2 >said
tail -n 1 said | grep -q '^All 24 requested runs are complete' || fail "no disk is shared: $(cat said)"
untimed gathered | cmp - expected || fail "no disk is shared: other lines than those of one program"

# More shards than runs: some have nothing to do.
for shard in 0 1 2 3 4; do "$eenet" run -d synthetic:inner -p uniform,linucb -T 50 -s 0 -o few --shard $shard/5 -q; done >said
test "$(grep -c ' 1 run finished' said)" = 2 || fail "more shards than runs: $(cat said)"
test "$(wc -l <said)" = 5 || fail "hints with -q: $(cat said)"
"$eenet" merge few >said
like said 'few: 2 runs added'

# JSON: the lines of the runs that it knows.
play json --shard 0/2 --json >lines-0 2>/dev/null
test "$(wc -l <lines-0)" = "$(lines json/shards/0-of-2)" || fail "--json: $(wc -l <lines-0) lines"

# Ctrl-C.
start run -d synthetic:inner -p uniform -T 10000000 -s 0-9 -o stopped -j 1 --shard 0/2 >said 2>stderr
await "the folder of the shard" test -e stopped/shards/0-of-2/results.jsonl
await_handler "$pid"
interrupt
has_line stderr 'eenet run: interrupted; the same command resumes it'

# ---- as Slurm says ----

slurm='-d synthetic:inner -p uniform -T 20 -s 0-5'
# in_array ID COUNT MIN MAX STEP FLAG...
in_array() {
    id=$1 count=$2 first=$3 last=$4 step=$5
    shift 5
    env SLURM_ARRAY_TASK_ID="$id" SLURM_ARRAY_TASK_COUNT="$count" SLURM_ARRAY_TASK_MIN="$first" \
        SLURM_ARRAY_TASK_MAX="$last" SLURM_ARRAY_TASK_STEP="$step" "$eenet" run $slurm "$@"
}
for id in 10 14 18; do in_array $id 3 10 18 4 -o array; done >said 2>stderr
test "$(ls array/shards | tr '\n' ' ')" = '0-of-3 1-of-3 2-of-3 program ' || fail "array: $(ls array/shards)"
has_line stderr 'eenet run: Slurm task: runs only shard 2/3, into array/shards/2-of-3; --shard 0/1 runs everything'
"$eenet" merge array | grep -q 'array: 6 runs added' || fail "array: not all runs"
in_array 1 2 0 1 1 -o quiet -q 2>stderr >/dev/null
test ! -s stderr || fail "-q: $(cat stderr)"
in_array 1 2 0 1 1 -o alone --shard 0/1 >/dev/null 2>&1
test "$(lines alone)" = 6 || fail "--shard 0/1 plays $(lines alone) runs"
in_array 7 1 7 7 1 -o one-task >/dev/null 2>&1
test "$(lines one-task)" = 6 || fail "an array of one task plays $(lines one-task) runs"
# srun_task PROCID TASKS FLAG...
srun_task() {
    process=$1 tasks=$2
    shift 2
    env SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_NTASKS="$tasks" SLURM_STEP_NUM_TASKS="$tasks" SLURM_PROCID="$process" \
        "$eenet" run $slurm "$@"
}
srun_task 1 4 -o step >/dev/null 2>&1
test "$(ls step/shards | tr '\n' ' ')" = '1-of-4 program ' || fail "a step: $(ls step/shards)"
srun_task 0 1 -o lone >/dev/null 2>&1
test "$(lines lone)" = 6 || fail "a step of one task plays $(lines lone) runs"
SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4 "$eenet" run $slurm -o batch >/dev/null 2>&1
test "$(lines batch)" = 6 || fail "a batch script plays $(lines batch) runs"

# ---- what cannot be ----

# refuse SENTENCE VERB FLAG...: exit status 2, and nothing is made.
refuse() {
    sentence=$1 verb=$2
    shift 2
    ends_with 2 "$eenet" "$verb" -d synthetic:inner -p uniform -T 20 "$@"
    head -n 1 stderr | grep -q "^eenet $verb: $sentence" || fail "$*: got '$(cat stderr)', expected '$sentence'"
    test ! -e new || fail "$*: a folder was made"
}
refuse '--shard: expected I/N such as 0/16' run --shard 3 -o new
refuse '--shard 4/4: expected 0/4 to 3/4; shards are numbered from 0' run --shard 4/4 -o new
refuse '--shard is given twice' run --shard 0/4 --shard 1/4 -o new
refuse '--shard 0/4: expected the folder that all shards share: -o DIR' run --shard 0/4
refuse '--save needs the runs of all shards, and this is shard 0/4' run --shard 0/4 -o new --save new
refuse '--save needs the runs of all shards, and this is shard 0/4' grid --shard 0/4 -o new --save new
refuse '--halving .* this is shard 0/4: .* mpirun -n 4 eenet grid --halving' grid --shard 0/4 -o new --halving
refuse '--halving .* this is shard 0/4: .* mpirun -n 4 eenet paper --halving' paper --shard 0/4 -o new --halving
ends_with 2 in_array 5 3 1 9 1 -o new
like stderr '^eenet run: the 3 tasks of this array, 1 to 9, are not evenly spaced: .* task 5 .* --shard I/N'
ends_with 2 in_array 0 3 0 2 1
like stderr '^eenet run: Slurm started 3 tasks, .* -o DIR; or --shard 0/1 to run everything'

# Other kernels than the other shards have: said before anything is played.
EENET_KERNELS=reference "$eenet" run -d synthetic:inner -p uniform -T 20 -o kinds --shard 0/2 >/dev/null
kernels=$("$eenet" --version | sed 's/.*kernels \([a-z0-9]*\).*/\1/')
if test "$kernels" != reference; then
    for verb in run grid; do
        ends_with 1 "$eenet" $verb -d synthetic:inner -p uniform -T 20 -o kinds --shard 1/2
        test ! -s stdout || fail "other kernels: $(cat stdout)"
        grep -q "^eenet $verb: kinds/shards was run by eenet .* with kernels reference, but this is .* with $kernels, .*: set EENET_KERNELS=reference$" \
            stderr || fail "other kernels: $(cat stderr)"
        test ! -e kinds/shards/1-of-2 || fail "other kernels: a folder was made"
    done
    "$eenet" merge kinds >/dev/null
    rm -r kinds/shards
    ends_with 1 "$eenet" run -d synthetic:inner -p uniform -T 20 -o kinds --shard 1/2
    like stderr '^eenet run: kinds was run by eenet .* with kernels reference'
fi

# ---- eenet grid and eenet paper ----

# in_shards FOLDER VERB FLAG...: two of them, to the end: the runs that choose, then those that count.
in_shards() {
    folder=$1 verb=$2
    shift 2
    for stage in choose count; do
        for shard in 0 1; do "$eenet" "$verb" "$@" -j 1 -o "$folder" --shard "$shard/2" >"said-$stage-$shard"; done
        "$eenet" merge "$folder" >"said-$stage"
    done
    tail -n 1 said-choose-0 | grep -q '; then run the same shards again: these were the tuning runs, the final runs follow.$' ||
        fail "$verb: $(cat said-choose-0)"
    tail -n 1 said-choose | grep -q '^All [0-9]* tuning runs are complete: run the same shards again' ||
        fail "$verb: $(cat said-choose)"
    tail -n 1 said-count-0 | grep -q '; then the same command without --shard prints the results' || fail "$verb: $(cat said-count-0)"
    tail -n 1 said-count | grep -q '^All [0-9]* requested runs are complete' || fail "$verb: $(cat said-count)"
}
grid='-d synthetic:inner,dim=4 -d synthetic:cosine,dim=3 -p neural-epsilon,uniform --set neural-epsilon.epsilon=1,0
    --set neural-epsilon.f1.width=10 --tune 100-101 -T 200 -s 0-1'
"$eenet" grid $grid -j 1 -o grid-one >table
in_shards grid-all grid $grid
untimed grid-one >expected
untimed grid-all | cmp - expected || fail "grid: other lines than those of one program"
diff -r grid-all/curves grid-one/curves || fail "grid: other curves"
"$eenet" grid $grid -j 1 -o grid-all | shown >merged-table
shown <table | cmp - merged-table || fail "grid: another table"
untimed grid-all | cmp - expected || fail "grid: something was played after all shards were merged"

# Settings that diverge have no line: the shards of the others know of them all the same, once they are merged.
grid='-d synthetic:inner,dim=4 -p greedy,linucb --set greedy.f1.optimizer=sgd --set greedy.f1.rate=0.01,900,1000
    --set linucb.alpha=0.1,1 --tune 100-101 -T 100 -s 0-1'
"$eenet" grid $grid -j 1 -o diverged-one >table 2>failures
in_shards diverged grid $grid 2>/dev/null
test -s diverged/failed || fail "none of the settings diverged"
test "$(wc -l <diverged/failed)" = "$(wc -l <failures)" || fail "other failures: $(cat failures diverged/failed)"
like said-choose "^[0-9]* of the requested runs failed: diverged/failed has the reasons.\$"
untimed diverged-one >expected
untimed diverged | cmp - expected || fail "settings that diverge: other lines than those of one program"

paper='-d synthetic:inner,dim=4 -p eenet,linucb,uniform --tune 100 -T 60 -s 0-1'
"$eenet" paper $paper -j 1 -o paper-one >/dev/null 2>&1
in_shards paper-all paper $paper 2>/dev/null
test ! -e paper-all/report.html || fail "paper: a shard has made a report"
untimed paper-one >expected
untimed paper-all | cmp - expected || fail "paper: other lines than those of one program"
"$eenet" paper $paper -j 1 -o paper-all >/dev/null 2>&1
test -e paper-all/report.html || fail "paper: no report"
untimed paper-all | cmp - expected || fail "paper: something was played after all shards were merged"
