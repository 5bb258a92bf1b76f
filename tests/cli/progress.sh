#!/bin/sh
# progress.sh PROGRAM: the line that is rewritten where stderr is a terminal. script(1) makes one.
set -eu
eenet=$1
fail() { echo "progress.sh: $*" >&2; exit 1; }
script -qec true /dev/null </dev/null >/dev/null 2>&1 || { echo "progress.sh: skipped: script(1) makes no terminal"; exit 0; }
escape=$(printf '\033')

# screen COLUMNS ARGUMENT...: the lines that were drawn, one after the other.
screen() {
    columns=$1
    shift
    script -qec "stty cols $columns && '$eenet' run $* >table" /dev/null </dev/null >screen
    tr '\r' '\n' <screen | sed "s/$escape\[K//" >lines
}

# The first is drawn before a run can have ended; the last thing on the screen is the line's removal.
screen 120 -d synthetic:inner -p uniform,greedy -T 50 -s 0 -j 1
grep -q '^  policy ' table || fail "no table"
grep -Eq '^\[[#-]{10}\] 0/2 runs, [01] running' lines || fail "no progress: $(cat -v screen)"
test "$(tail -c 4 screen | od -An -c | tr -d ' ')" = '\r033[K' || fail "the line is left behind: $(cat -v screen)"

# While it plays, for ever: the signal is sent when the line has told the rate.
script -qefc "stty cols 120 && echo \$\$ >pid && exec env --default-signal=INT '$eenet' run -d synthetic:inner \
    -p uniform -T 1000000000000 -s 5 >table" /dev/null </dev/null >screen &
line='\[-{10}\] 0/1 runs, 1 running, [0-9]+ rounds/s, [0-9:]+ left; synthetic:inner uniform seed 5: [0-9]+/1000000000000'
until tr '\r' '\n' <screen | sed "s/$escape\[K//" | grep -Eqx "$line"; do
    kill -0 $! || fail "it ended too early: $(cat -v screen)"
done
kill -INT "$(cat pid)"
wait $! || true
grep -q 'interrupted; missing: uniform seed 5' screen || fail "not interrupted: $(cat -v screen)"

# On a narrow terminal the line is cut, so that it does not wrap.
screen 16 -d synthetic:inner -p uniform -T 50 -s 0
grep -Eqx '\[[#-]{10}\] 0/' lines || fail "not cut: $(cat -v screen)"

# What is read from a folder counts as done.
"$eenet" run -d synthetic:inner -p uniform -T 50 -s 0-2 -o kept >table
screen 120 -d synthetic:inner -p uniform -T 50 -s 0-3 -o kept -j 1
grep -Eq '^\[#{7}[#-]{3}\] 3/4 runs' lines || fail "what is there does not count: $(cat -v screen)"
