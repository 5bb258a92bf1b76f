#!/bin/sh
# mpi_jobs.sh PROGRAM SCRIPTS: ranks of MPI that a real Slurm starts on two nodes, by srun and by mpirun in an
# allocation: they play what one machine plays; a rank that is killed ends the job, and the same again goes on.
set -eu
eenet=$1 scripts=$2
fail() { echo "mpi_jobs.sh: $*" >&2; exit 1; }
"$eenet" --version | grep -q 'Open MPI' || { echo 'built without MPI'; exit 77; }
. "$(dirname "$0")/cluster.inc"
cluster_start
srun --mpi=list 2>&1 | grep -qw pmix || { echo 'srun has no pmix'; exit 77; }

# As root, on no core of its own, by shared memory that needs no rights. Its files are named by the number of the job,
# which other clusters on this machine may have too, and stay where a rank is killed: not in /dev/shm.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_btl_vader_backing_directory="$sockets"

runs='run -d synthetic:inner -d synthetic:cosine,dim=5 -p uniform,eenet -T 2000 -s 0-19'
# shellcheck disable=SC2086 # words
eenet $runs -o one -j 2 -q >table

# By srun: rank 2 is killed in the middle, then rank 0, then the job is cancelled. Nothing that ended is lost.
# shellcheck disable=SC2086
play() { submit --nodes=2 --ntasks=4 "$scripts/mpi.sbatch" $runs -o srun; }
has_ended() { test -e srun && test "$(ended srun | wc -l)" -gt "$1"; }
has_ended_or_over() { has_ended "$1" || job_over "$job"; }
: >before
for end in 'rank 2' 'rank 0' scancel; do
    play
    await 'a run that ended' has_ended_or_over "$(wc -l <before)"
    has_ended "$(wc -l <before)" || fail "$end: the job has ended before"
    if test "$end" = scancel; then
        scancel "$job"
        job_ends CANCELLED "$job"
    else
        eenet_with "SLURM_PROCID=${end#rank }"
        kill -9 "$found" || fail "$end ended before it was killed"
        job_ends FAILED "$job"
    fi
    ended srun >after
    comm -23 before after >lost
    test ! -s lost || fail "$end: lost: $(cat lost)"
    test "$(wc -l <after)" -lt 80 || fail "$end: too late"
    mv after before
done
play
job_ends COMPLETED "$job"
same srun one
ended srun | comm -23 before - >lost
test ! -s lost || fail "played again: $(wc -l <lost) of $(wc -l <before) runs"
test ! -e srun/shards || fail 'ranks of MPI have taken themselves for shards'
grep -q '^\* eenet' "slurm-$job.out" || fail "no table: $(cat "slurm-$job.out")"

# By mpirun, in an allocation of two nodes.
small='run -d synthetic:inner -p linucb,greedy -T 200 -s 0-3'
# shellcheck disable=SC2086
eenet $small -o small-one -j 1 >table
# shellcheck disable=SC2086
salloc --quiet --nodes=2 --ntasks=4 mpirun eenet $small -o mpirun >table 2>said || fail "mpirun: $(cat said)"
same mpirun small-one

# Settings that are chosen by halving, which shards cannot do.
grid='grid --halving -d synthetic:inner,dim=4 -p neural-epsilon,uniform --set neural-epsilon.epsilon=1,0.3,0.1,0
    --set neural-epsilon.f1.width=10 --tune 100-103 -T 200 -s 0-1'
# shellcheck disable=SC2086
eenet $grid -o grid-one -j 1 >table 2>&1
# shellcheck disable=SC2086
SLURM_PMIX_FENCE=ring srun --mpi=pmix --nodes=2 --ntasks=4 eenet $grid -o grid-srun >table 2>said || fail "srun: $(cat said)"
same grid-srun grid-one
