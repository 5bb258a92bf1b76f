#!/bin/sh
# progress.sh PROGRAM: the line that is rewritten where stderr is a terminal. script(1) makes one.
. "$(dirname "$0")/cli.inc"
script -qec true /dev/null </dev/null >/dev/null 2>&1 || { echo "progress.sh: skipped: script(1) makes no terminal"; exit 0; }
escape=$(printf '\033')

# screen COLUMNS ARGUMENT...: what a run draws is in the file screen, line by line in the file lines.
screen() {
    columns=$1
    shift
    script -qec "stty cols $columns && '$eenet' run $* >table" /dev/null </dev/null >screen
    tr '\r' '\n' <screen | sed "s/$escape\[K//" >drawn
}

# begin ARGUMENT...: the same in the background; its lines come from descriptor 3. stop: ends it by Ctrl-C; the rest of
# what it draws is in the file drawn.
mkfifo lines
begin() {
    script -qefc "stty cols 120 && echo \$\$ >pid && exec env --default-signal=INT '$eenet' run $* >table" /dev/null \
        </dev/null | stdbuf -oL tr '\r' '\n' >lines &
    exec 3<lines
}
stop() {
    kill -INT "$(cat pid)"
    cat <&3 >drawn
}
# next: the next line that is drawn.
next() {
    IFS= read -r line <&3 || fail "it ended too early, after '$line'"
    line=${line#"$escape[K"}
    line=${line%"$escape[K"}
}
line=

# The first is drawn before a run can have ended; the last thing on the screen is the line's removal.
screen 120 -d synthetic:inner -p uniform,greedy -T 50 -s 0 -j 1
like table '^  policy '
like drawn '^\[[#-]{20}\] [0-9.]+%, 0/2 runs'
test "$(tail -c 4 screen | od -An -c | tr -d ' ')" = '\r033[K' || fail "the line is left behind: $(cat -v screen)"

# While it plays, for ever: the signal is sent when the line has told the time. It is answered at once.
begin -d synthetic:inner -p uniform -T 1000000000000 -s 5
until echo "$line" |
    grep -Eqx '\[-{20}\] 0\.0%, 0/1 runs, [0-9:]+ left; synthetic:inner uniform seed 5: [0-9]+/1000000000000'; do next; done
stop
has drawn 'eenet run: stopping; press Ctrl-C again to quit at once' 'interrupted; missing: uniform seed 5'

# The bar moves within a run, which takes as long as it is looked at until it has; never back.
begin -d synthetic:inner -p uniform -T 10000000 -s 0
bars=0 shares=0 bar=none share=-1
while [ "$bars" -lt 2 ] || [ "$shares" -lt 3 ]; do
    next
    case $line in *', 0/1 runs'*) ;; *) continue ;; esac
    now=${line#*] } && now=${now%%%*}
    awk "BEGIN { exit $now < $share }" || fail "the bar goes back: $share, then $now"
    [ "$now" = "$share" ] || { share=$now shares=$((shares + 1)); }
    [ "${line%%]*}" = "$bar" ] || { bar=${line%%]*} bars=$((bars + 1)); }
done
stop

# -q draws nothing. On a narrow terminal the line is cut, so that it does not wrap.
screen 120 -d synthetic:inner -p eenet -T 100 -s 0 -q
test ! -s screen || fail "not quiet: $(cat -v screen)"
screen 26 -d synthetic:inner -p uniform -T 50 -s 0
like drawn '^\[[#-]{20}\] [0-9.]{2}$'

# Where stderr is no terminal, a line after some seconds, if there is more to come.
env --default-signal=INT "$eenet" run -d synthetic:inner -p uniform -T 1e12 -s 0 >table 2>lines &
pid=$!
exec 3<lines
next
echo "$line" | grep -Eqx 'eenet run: 0\.0%, 0/1 runs, [0-9:]+ left' || fail "no line: $line"
interrupt stderr
drop_progress # a busy machine may have taken so long that there are more
test "$(cat stderr)" = 'eenet run: interrupted; missing: uniform seed 0' || fail "the end: $(cat stderr)"

# What is read from a folder counts as done, three quarters; on a busy machine the last run is almost over by then.
"$eenet" run -d synthetic:inner -p uniform -T 50 -s 0-2 -o kept >table
screen 120 -d synthetic:inner -p uniform -T 50 -s 0-3 -o kept -j 1
like drawn '^\[#{14}[#-]{6}\] (7|8|9|100)[0-9.]*%, 3/4 runs'
