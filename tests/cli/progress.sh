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

# begin ARGUMENT...: the same, in the background. stop: ends it by Ctrl-C.
begin() {
    script -qefc "stty cols 120 && echo \$\$ >pid && exec env --default-signal=INT '$eenet' run $* >table" /dev/null \
        </dev/null >screen &
}
stop() {
    kill -INT "$(cat pid)" 2>/dev/null || true
    wait $! || true
}

# The first is drawn before a run can have ended; the last thing on the screen is the line's removal.
screen 120 -d synthetic:inner -p uniform,greedy -T 50 -s 0 -j 1
grep -q '^  policy ' table || fail "no table"
grep -Eq '^\[[#-]{20}\] [0-9.]+%, 0/2 runs' lines || fail "no progress: $(cat -v screen)"
test "$(tail -c 4 screen | od -An -c | tr -d ' ')" = '\r033[K' || fail "the line is left behind: $(cat -v screen)"

# While it plays, for ever: the signal is sent when the line has told the time. It is answered at once.
begin -d synthetic:inner -p uniform -T 1000000000000 -s 5
line='\[-{20}\] 0\.0%, 0/1 runs, [0-9:]+ left; synthetic:inner uniform seed 5: [0-9]+/1000000000000'
until tr '\r' '\n' <screen | sed "s/$escape\[K//" | grep -Eqx "$line"; do
    kill -0 $! || fail "it ended too early: $(cat -v screen)"
done
stop
grep -q 'eenet run: stopping; press Ctrl-C again to quit at once' screen || fail "no answer: $(cat -v screen)"
grep -q 'interrupted; missing: uniform seed 5' screen || fail "not interrupted: $(cat -v screen)"

# The bar moves within a run: one run alone, which is looked at until it has; never back. -q draws nothing.
begin -d synthetic:inner -p uniform -T 10000000 -s 0
drawn() { tr '\r' '\n' <screen | sed -n 's/^\[\([#-]*\)\] \([0-9.]*\)%, 0\/1 runs.*/\2 \1/p'; }
until drawn | awk '!bar[$2]++ { bars++ } !share[$1]++ { shares++ } END { exit !(bars > 1 && shares > 2) }'; do
    kill -0 $! || fail "the bar does not move within a run: $(drawn)"
done
stop
drawn | awk '$1 + 0 < last { back = 1 } { last = $1 + 0 } END { exit back }' || fail "the bar goes back: $(drawn)"
screen 120 -d synthetic:inner -p eenet -T 2000 -s 0 -q
test ! -s screen || fail "not quiet: $(cat -v screen)"

# Where stderr is no terminal, a line after some seconds, if there is more to come; none with -q. The quiet one started
# before, so its line would be there.
env --default-signal=INT "$eenet" run -d synthetic:inner -p uniform -T 1e12 -s 0 -q >quiet_table 2>quiet &
quiet=$!
env --default-signal=INT "$eenet" run -d synthetic:inner -p uniform -T 1e12 -s 0 >table 2>stderr &
until test -s stderr; do kill -0 $! || fail "it ended too early"; done
kill -INT $! $quiet
wait $! $quiet || true
head -n 1 stderr | grep -Eqx 'eenet run: 0\.0%, 0/1 runs, [0-9:]+ left' || fail "no line: $(cat stderr)"
test "$(wc -l <stderr)" = 2 || fail "more than a line: $(cat stderr)"
test "$(cat quiet)" = 'eenet run: interrupted; missing: uniform seed 0' || fail "not quiet: $(cat quiet)"

# On a narrow terminal the line is cut, so that it does not wrap.
screen 26 -d synthetic:inner -p uniform -T 50 -s 0
grep -Eqx '\[[#-]{20}\] [0-9.]{2}' lines || fail "not cut: $(cat -v screen)"

# What is read from a folder counts as done, three quarters; on a busy machine the last run is almost over by then.
"$eenet" run -d synthetic:inner -p uniform -T 50 -s 0-2 -o kept >table
screen 120 -d synthetic:inner -p uniform -T 50 -s 0-3 -o kept -j 1
grep -Eq '^\[#{14}[#-]{6}\] (7|8|9|100)[0-9.]*%, 3/4 runs' lines || fail "what is there does not count: $(cat -v screen)"
