#!/bin/sh
# stages.sh TASKS DIR VERB WORD...: `eenet paper` or `eenet grid` in arrays of Slurm of so many tasks, results in DIR.
#
#   ./stages.sh 64 results paper -d fashion-mnist -d synthetic:cosine -p eenet,linucb
#
# The runs that count need the settings that others choose. So an array plays those that choose, and when they are
# merged, a second array plays those that count; at last one job shows the table and, of paper, makes the report. Each
# waits for the one before. Where runs that choose are missing, what waits for them is taken from the queue; the same
# command goes on from there. A run that counts may diverge, and its task fails by that: the last job comes all the same,
# shows what there is, and plays what is missing if a task was killed. Settings that are chosen by --halving need MPI
# instead: see mpi.sbatch.
set -eu
tasks=$1 folder=$2 verb=$3
shift 3
script=$(dirname "$0")/eenet.sbatch

# submit AFTER WORD...: sbatch with these words, when AFTER has come; its number is in $job.
submit() {
    after=$1
    shift
    job=$(sbatch --parsable ${after:+--dependency="$after" --kill-on-invalid-dep=yes} "$@")
    job=${job%%;*} # on some clusters their name comes behind it
}
submit '' --array=0-$((tasks - 1)) "$script" "$verb" "$@" -o "$folder"
echo "$job: the runs that choose settings"
submit "afterok:$job" "$script" merge "$folder"
chosen=$job
submit "afterok:$chosen" --array=0-$((tasks - 1)) "$script" "$verb" "$@" -o "$folder"
echo "$job: the runs that count"
submit "afterok:$chosen,afterany:$job" "$script" merge "$folder"
submit "afterok:$job" "$script" "$verb" "$@" -o "$folder"
echo "$job: the table, in slurm-$job.out"
