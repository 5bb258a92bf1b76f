#!/bin/sh
# stages.sh TASKS DIR COMMAND WORD...: runs `eenet paper` or `eenet grid` as Slurm arrays of TASKS tasks; results in DIR.
#
#   ./stages.sh 64 results paper -d fashion-mnist -d synthetic:cosine -p eenet,linucb
#
# The final runs need the tuned settings. So the first array does the tuning runs, a job merges them, a second array does
# the final runs, and the last job prints the table and, for paper, writes the report. Each job waits for the one before.
# If tuning runs are missing, Slurm cancels the jobs that need them; the same command resumes. A final run may diverge,
# which fails its task: the last job still prints what there is, and does the runs of tasks that were killed. Tuning with
# --halving needs MPI instead: see mpi.sbatch.
set -eu
tasks=$1 folder=$2 verb=$3
shift 3
script=$(dirname "$0")/eenet.sbatch

# submit AFTER WORD...: sbatch with these words after AFTER; sets $job to its number.
submit() {
    after=$1
    shift
    job=$(sbatch --parsable ${after:+--dependency="$after" --kill-on-invalid-dep=yes} "$@")
    job=${job%%;*} # some clusters append their name
}
submit '' --array=0-$((tasks - 1)) "$script" "$verb" "$@" -o "$folder"
echo "$job: tuning runs"
submit "afterok:$job" "$script" merge "$folder"
chosen=$job
submit "afterok:$chosen" --array=0-$((tasks - 1)) "$script" "$verb" "$@" -o "$folder"
echo "$job: final runs"
submit "afterok:$chosen,afterany:$job" "$script" merge "$folder"
submit "afterok:$job" "$script" "$verb" "$@" -o "$folder"
echo "$job: the table, in slurm-$job.out"
