#!/bin/sh
# stopped.sh PROGRAM: Ctrl-C at mpirun, SIGINT and SIGTERM at rank 0: what is done is kept and told, and the same command
# goes on.
. "$(dirname "$0")/mpirun.inc"

# Of so many runs that nobody waits for them all; of a few of them the results are known.
runs='run -d synthetic:inner -p greedy -T 1000'
"$eenet" $runs -s 0-9 -o one -j 1 >table
untimed one >expected

# stop NAME SIGNAL WHOM [FROZEN]: rank 0, or mpirun, which has an exit status of its own, while a rank stands still.
stop() {
    start_ranks 3 $runs -s 0-4999 -o "$1"
    await "two runs" has_lines "$1" 2
    if test "${4-}"; then kill -STOP "$(rank "$4")"; fi
    if test "$3" = 0; then kill "-$2" "$(rank 0)"; else kill "-$2" "$pid"; fi
    code=0
    wait "$pid" || code=$?
    if test "$3" = 0; then test "$code" = 130 || fail "$1: exit status $code"; fi
    test "$code" != 0 || fail "$1: all went well"
    done=$(($(lines "$1") + $(find "$1" -name '*.run' | wc -l)))
    grep -q '^eenet run: interrupted; missing: greedy seeds .*-4999; the same command resumes it$' stderr ||
        fail "$1: $(cat stderr)"
    grep -Eq "^. greedy .* $done/5000\$" stdout || fail "$1: $done runs are kept: $(cat stdout)"
    together 3 $runs -s 0-9 -o "$1" >again
    untimed "$1" | grep '"seed":[0-9],' | cmp - expected || fail "$1: other lines"
}
stop at-rank INT 0
stop told-rank TERM 0
stop at-mpirun INT mpirun
stop frozen TERM 0 2

# A rank that stands still before it has opened its data set, which rank 0 takes a while to open: it is not waited for.
awk 'BEGIN { OFS = ","; print "a,b,label"; for (i = 0; i < 300000; i++) print i % 7, i % 5, i % 2 }' >table.csv
start_ranks 2 run -d table:table.csv,label=label -p uniform -T 1000000000000 -s 0-1
leader=$(rank 0)
other=$(rank 1)
# interrupts SET PID: until the process has SIGINT in that set of signals.
has_interrupts() { awk "/^$1:/ { set = \$2 } END { exit set !~ /[2367abef]\$/ }" "/proc/$2/status"; }
interrupts() { await "SIGINT in $1 of process $2" has_interrupts "$@"; }
interrupts SigIgn "$other"
kill -STOP "$other"
interrupts SigCgt "$leader"
kill -INT "$leader"
code=0
wait "$pid" || code=$?
test "$code" = 130 || fail "a rank that stands still: exit status $code"
grep -qx 'eenet run: interrupted; missing: uniform seeds 0-1' stderr || fail "a rank that stands still: $(cat stderr)"
