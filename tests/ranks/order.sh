#!/bin/sh
# order.sh PROGRAM LIBRARY: rank 0 takes the messages of a worker in the order in which they were sent, even if the network
# completes a later one first (late_messages.c). Otherwise it would count the progress of a run for the next run, or end
# with an error because the worker has none.
. "$(dirname "$0")/mpirun.inc"
library=$2

# The longest run is rank 0's: it still runs when rank 1 has reported the other one.
runs='run -d synthetic:inner,arms=300 -d synthetic:inner,arms=8 -p greedy -T 2500 -s 0 -q -o'
"$eenet" $runs one -j 1 >table
LATE_MESSAGES=$PWD/overtaken mpirun -n 2 -x LATE_MESSAGES -x LD_PRELOAD="$library" "$eenet" $runs ranks >table ||
    fail "exit status $?"
same ranks one
test "$(wc -l <overtaken)" -gt 0 || fail "no message was overtaken"
