#!/bin/sh
# killed.sh PROGRAM: kill -9 of a rank in the middle ends all of them, and the same command goes on: what had ended is
# there, and is not played again.
. "$(dirname "$0")/mpirun.inc"

# The slowest policy first, so that many runs wait in pending/ for their turn.
runs='run -d synthetic:inner -d synthetic:cosine,dim=5 -p eenet:fast,uniform,linucb -T 1000 -s 0-3'
"$eenet" $runs -o one -j 1 >table

# The seconds of each run that has ended, in results.jsonl, in pending/ or, after a kill between the two, in both. They
# identify it: no second run takes the same time.
ended() {
    for kept in "$1/results.jsonl" "$1"/pending/*.run; do
        if test -e "$kept"; then grep -aEo '"seconds":[0-9.e-]+' "$kept" || true; fi
    done | sort -u
}

# ended_enough COUNT: whether so many have ended.
ended_enough() { [ "$(ended "killed-$victim" | wc -l)" -ge "$1" ]; }

for victim in 2 0 1; do
    start_ranks 4 $runs -o "killed-$victim"
    # A rank that stands still holds a run, so that they cannot all end before the kill.
    still=$(rank 3)
    killed=$(rank "$victim")
    await "a run" ended_enough 1
    kill -STOP "$still"
    await "four runs" ended_enough 4
    kill -9 "$killed"
    code=0
    wait "$pid" || code=$?
    test "$code" != 0 || fail "rank $victim: all went well"
    ended "killed-$victim" >before
    test "$(wc -l <before)" -lt 24 || fail "rank $victim: it was killed too late"
    together 4 $runs -o "killed-$victim" >again
    same "killed-$victim" one
    ended "killed-$victim" >after
    comm -23 before after >lost
    test ! -s lost || fail "rank $victim: played again: $(cat lost)"
done
