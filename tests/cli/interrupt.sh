#!/bin/sh
# interrupt.sh PROGRAM: Ctrl-C ends the runs at the next round; what is done is printed, what is missing is named.
# A shell's background programs ignore SIGINT, so env gives it back.
set -eu
eenet=$1
fail() { echo "interrupt.sh: $*" >&2; exit 1; }

# In the middle of the runs: the signal is sent when the first of many has been told.
mkfifo lines
env --default-signal=INT "$eenet" run -d synthetic:inner -p uniform,greedy -T 1000 -s 0-99999 --json >lines 2>stderr &
pid=$!
exec 3<lines
IFS= read -r first <&3
kill -INT "$pid"
cat <&3 >rest
code=0
wait "$pid" || code=$?
test "$code" = 130 || fail "exit status $code"
case $first in *'"seed":0,'*) ;; *) fail "the first line is not of seed 0: $first" ;; esac
done=$(($(wc -l <rest) + 1))
test "$(cat stderr)" = "eenet run: interrupted; missing: uniform seeds $done-99999; greedy seeds 0-99999" ||
    fail "$done runs are done, got '$(cat stderr)'"

# In the middle of a run that would take for ever: the signal is sent when the program has said that it catches it.
env --default-signal=INT "$eenet" run -d synthetic:inner -p uniform -T 1000000000000 -s 0-4 >table 2>stderr &
pid=$!
catches='/^Name:/ { name = $2 } /^SigCgt:/ { set = $2 } END { exit !(name == "eenet" && set ~ /[2367abef]$/) }'
until awk "$catches" "/proc/$pid/status"; do
    kill -0 "$pid" || fail "it ended too early: $(cat stderr)"
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
test "$code" = 130 || fail "exit status $code"
cat >expected <<'END'
synthetic:inner, 1000000000000 rounds, seeds 0-4

  policy   regret  optimal  seconds  runs
  uniform       -        -        -   0/5
END
diff expected table
test "$(cat stderr)" = "eenet run: interrupted; missing: uniform seeds 0-4" || fail "got '$(cat stderr)'"
