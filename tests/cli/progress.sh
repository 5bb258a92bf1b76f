#!/bin/sh
# progress.sh PROGRAM: the line that is rewritten where stderr is a terminal. script(1) makes one.
set -eu
eenet=$1
fail() { echo "progress.sh: $*" >&2; exit 1; }
command -v script >/dev/null || { echo "progress.sh: skipped: there is no script(1)"; exit 0; }

script -qec "stty cols 100 && '$eenet' run -d synthetic:inner -p uniform,greedy -T 50 -s 0 >table" /dev/null \
    </dev/null >screen
grep -q '^  policy ' table || fail "no table"
escape=$(printf '\033')
tr '\r' '\n' <screen | sed "s/$escape\[K//" >lines
grep -Eqx '\[-{10}\] 1/2 uniform, seed 0: 1/50, [0-9]+ rounds/s, [0-9:]+ left' lines ||
    fail "no progress: $(cat -v screen)"
# The last thing on the screen is the line's removal.
test "$(tail -c 4 screen | od -An -c | tr -d ' ')" = '\r033[K' || fail "the line is left behind: $(cat -v screen)"

# On a narrow terminal the line is cut, so that it does not wrap.
script -qec "stty cols 30 && '$eenet' run -d synthetic:inner -p uniform -T 50 -s 0 >table" /dev/null </dev/null >screen
tr '\r' '\n' <screen | sed "s/$escape\[K//" >lines
grep -qx '\[----------\] 1/1 uniform, see' lines || fail "not cut: $(cat -v screen)"
