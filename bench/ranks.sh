#!/bin/sh
# ranks.sh PROGRAM [RANKS...]: measures what scheduling runs on MPI ranks costs on this machine, and how well
# the ranks share the work. For each number of ranks (default: 2 and 4) it prints
# - empty runs per second (uniform, one round, nothing stored), without the start of the ranks;
# - the time of real runs, compared with one thread. The efficiency is the speedup divided by the cores in use.
set -eu
eenet=$1
shift
test $# -gt 0 || set -- 2 4
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
cores=$(nproc)
empty=${EMPTY_RUNS:-20000}

# seconds COMMAND...: prints how long the command takes.
seconds() {
    from=$(date +%s.%N)
    "$@" >/dev/null
    awk -v from="$from" -v to="$(date +%s.%N)" 'BEGIN { print to - from }'
}
idle() { mpirun -n "$1" "$eenet" run -d synthetic:inner -p uniform -T 1 -s "0-$2" -q; }
work='run -d synthetic:cosine -p eenet -T 4000 -s 0-15 -q'

# shellcheck disable=SC2086 # words
alone=$(seconds "$eenet" $work -j 1)
echo "one thread: $alone s"
for ranks; do
    start=$(seconds idle "$ranks" 0)
    all=$(seconds idle "$ranks" "$empty")
    # shellcheck disable=SC2086
    shared=$(seconds mpirun -n "$ranks" "$eenet" $work)
    awk -v ranks="$ranks" -v cores="$cores" -v start="$start" -v all="$all" -v empty="$empty" -v alone="$alone" \
        -v shared="$shared" 'BEGIN {
        hands = ranks < cores ? ranks : cores
        printf "%d ranks: start %.2f s, %.0f empty runs/s, %.1f us a run; work %.2f s, %.2f times one, efficiency %.0f%%\n",
            ranks, start, empty / (all - start), 1e6 * (all - start) / empty, shared, alone / shared,
            100 * alone / shared / hands
    }'
done
