#!/bin/sh
# arrays.sh PROGRAM SCRIPTS: arrays of a real Slurm, by the job scripts of examples/cluster: each task plays its part,
# and merged they are what one machine plays, though a task be killed in the middle.
set -eu
eenet=$1 scripts=$2
fail() { echo "arrays.sh: $*" >&2; exit 1; }
. "$(dirname "$0")/cluster.inc"
cluster_start

shards() { (cd "$1/shards" && echo *-of-*); } # FOLDER

# ---- eenet run ----

runs='run -d synthetic:inner -d synthetic:cosine,dim=5 -p uniform,linucb,eenet -T 2000 -s 0-9'
# shellcheck disable=SC2086 # words
eenet $runs -o one -j 2 -q >table

# shellcheck disable=SC2086
play() { submit --array=0-2 "$scripts/eenet.sbatch" $runs -j 1 -o all; }
play
eenet_with SLURM_ARRAY_TASK_ID=1
await 'a run of task 1' has_lines all/shards/1-of-3 1
kill -9 "$found" || fail 'task 1 ended before it was killed'
job_ends 'COMPLETED FAILED' "$job"
test "$(shards all)" = '0-of-3 1-of-3 2-of-3' || fail "shards: $(shards all)"
ended all >before
test "$(wc -l <before)" -lt 60 || fail 'task 1 was killed too late'
eenet merge all >said # in the middle too
grep -q '^[0-9]* of 60 requested runs are missing' said || fail "merged in the middle: $(cat said)"
rm -r all/results.jsonl all/curves

# The same again: what had ended is there, and is not played again.
play
job_ends COMPLETED "$job"
ended all >after
comm -23 before after >lost
test ! -s lost || fail "played again: $(wc -l <lost) of $(wc -l <before) runs"
test "$(wc -l <after)" = 60 || fail "$(wc -l <after) runs of 60"
eenet merge all >said
same all one
grep -q '^All 60 requested runs are complete' said || fail "merged: $(cat said)"

# As steps of its tasks: an array of two jobs, each of two tasks, has four parts; a plain job plays all.
small='run -d synthetic:inner -p linucb -T 100 -s 0-7'
# shellcheck disable=SC2086
submit --array=5-9:4 --ntasks=2 "$scripts/steps.sbatch" $small -o both
job_ends COMPLETED "$job"
test "$(shards both)" = '0-of-4 1-of-4 2-of-4 3-of-4' || fail "steps of an array: $(shards both)"
test "$(ended both | wc -l)" = 8 || fail "steps of an array: $(ended both | wc -l) runs of 8"
# shellcheck disable=SC2086
submit --ntasks=2 "$scripts/eenet.sbatch" $small -o plain
job_ends COMPLETED "$job"
eenet merge both >said
same both plain

# Tasks that are not evenly spaced: what Slurm tells is not enough, and nothing is played.
# shellcheck disable=SC2086
submit --array=1,2,5 "$scripts/eenet.sbatch" $small -o uneven
job_ends FAILED "$job"
test ! -e uneven || fail "tasks that are not evenly spaced play: $(find uneven)"

# ---- eenet grid and eenet paper, in two stages ----

# stages WORD...: starts them, into the folder stages; $jobs are the numbers of those that choose, of those that count
# and of the table.
stages() {
    "$scripts/stages.sh" 2 stages "$@" >said || fail 'stages.sh'
    test "$(wc -l <said)" = 3 || fail "stages.sh: $(cat said)"
    jobs=$(cut -d : -f 1 said | xargs)
}

# A table without its seconds, and without the name of its folder.
shown() { sed -E '/^eenet /d; s/ +[0-9]+\.[0-9]{2}$//; s/ are in .*//'; }

grid='grid -d synthetic:inner,dim=4 -d synthetic:cosine,dim=3 -p neural-epsilon,uniform
    --set neural-epsilon.epsilon=1,0 --set neural-epsilon.f1.width=10 --tune 100-105 -T 2000 -s 0-1 -j 1'
# shellcheck disable=SC2086
eenet $grid -o grid-one >table

# A task that is killed while settings are chosen: what waits for it goes away, and nothing is merged.
# shellcheck disable=SC2086
stages $grid
eenet_with SLURM_ARRAY_TASK_ID=0
await 'a run of task 0' has_lines stages/shards/0-of-2 1
kill -9 "$found" || fail 'task 0 ended before it was killed'
job_ends 'COMPLETED FAILED' "${jobs%% *}"
job_ends CANCELLED "${jobs##* }"
test ! -e stages/results.jsonl || fail 'merged, though a task was killed'
ended stages >before

# The same again goes on, to the end.
# shellcheck disable=SC2086
stages $grid
job_ends COMPLETED "${jobs##* }"
same stages grid-one
ended stages/results.jsonl >after
comm -23 before after >lost
test ! -s lost || fail "grid: played again: $(wc -l <lost) of $(wc -l <before) runs"
shown <table >expected
shown <"slurm-${jobs##* }.out" | diff expected - || fail 'grid: another table'

# Runs that diverge, one that counts too: the table comes all the same, and its job fails as it does on one machine.
rm -r stages
grid='grid -d synthetic:inner,dim=4 -p greedy,linucb --set greedy.f1.optimizer=sgd --set greedy.f1.rate=1000
    --set linucb.alpha=0.1,1 --tune 100-101 -T 100 -s 0-1 -j 1'
code=0
# shellcheck disable=SC2086
eenet $grid -o diverged-one >table 2>/dev/null || code=$?
test "$code" = 1 || fail "a run that counts diverges: exit status $code"
# shellcheck disable=SC2086
stages $grid
job_ends FAILED "${jobs##* }"
same stages diverged-one
shown <table >expected
shown <"slurm-${jobs##* }.out" | diff expected - || fail 'a run that counts diverges: another table'

rm -r stages
paper='paper -d synthetic:inner,dim=4 -p eenet,linucb,uniform --tune 100 -T 60 -s 0-1 -j 1'
# shellcheck disable=SC2086
eenet $paper -o paper-one >table 2>&1
# shellcheck disable=SC2086
stages $paper
job_ends COMPLETED "${jobs##* }"
same stages paper-one
test -e stages/report.html || fail 'paper: no report'
