#!/bin/sh
# resume.sh PROGRAM: killed at any moment and started again, -o DIR ends with the bytes of a run never killed. Kills at
# every single write are in test_experiment.c.
. "$(dirname "$0")/cli.inc"

runs="run -d synthetic:cosine,dim=5 -d synthetic:inner -p eenet:fast,linucb,uniform -T ${EENET_TEST_LONG:+4}100 -s 0-3"
play() { "$eenet" $runs -o "$@"; } # FOLDER FLAG...
curves() { ls "$1"/curves/*"$2"*"$3"*.npy; } # FOLDER DATASET POLICY

# same FOLDER ONE: as the one never killed, and nothing else is in it.
same() {
    untimed "$2" >expected
    untimed "$1" | cmp - expected || fail "$1: other lines"
    diff -r "$1/curves" "$2/curves" || fail "$1: other curves"
    test "$(ls -A "$1" | tr '\n' ' ')" = 'curves results.jsonl ' || fail "$1: left behind: $(ls -A "$1")"
}

play whole -j 1 >table
test "$(lines whole)" = 24 || fail "$(lines whole) lines of 24"
test "$(ls whole/curves | wc -l)" = 6 || fail "curves of 6 settings: $(ls whole/curves)"
play threads -j 3 >stdout
same threads whole

# The same command again: nothing is played, nothing is written, the table is the same.
cp -a whole before
play whole -j 2 >again
diff -r whole before || fail "the same command again has changed something"
cmp again table
play whole --json | wc -l | grep -qx 24 || fail "what is there has no lines of JSON"

# killed_after COUNT...: after each number of lines, then to the end.
killed_after() {
    for count; do kill_after "$count" "$eenet" $runs -o killed -j 2; done
    play killed -j 2 >stdout
}
killed_after 1 2 5 8 13 21
same killed whole

# Half a line, half a row, a row and a file of curves that no line names: cut off.
cp -a whole damaged
head -n 20 whole/results.jsonl >damaged/results.jsonl
sed -n 21p whole/results.jsonl | head -c 100 >>damaged/results.jsonl
for curve in $(curves damaged inner uniform) $(curves damaged inner linucb); do printf 'half a row' >>"$curve"; done
play damaged >stdout
same damaged whole

# A line that is whole and wrong is named, and nothing is lost.
cp -a whole wrong
sed '3s/"regret":[^,]*/"regret":"none"/' whole/results.jsonl >wrong/results.jsonl
refuse 1 "wrong/results.jsonl: line 3: expected a number in 'regret'; delete that line to continue" $runs -o wrong
diff -r wrong/curves whole/curves

# Curves that somebody has removed or cut: those runs are played again, and a sentence says so.
cp -a whole lost
rm "$(curves lost inner uniform)"
curve=$(curves lost cosine eenet)
size=$(($(stat -c %s "$curve") * 5 / 8))
truncate -s "$size" "$curve" # its two first rows, and a part of the third
play lost --json 2>stderr >stdout
test "$(wc -l <stdout)" = 24 || fail "lost curves: $(wc -l <stdout) runs"
drop_progress
test "$(wc -l <stderr)" = 2 || fail "lost curves: $(cat stderr)"
like stderr '^eenet run: lost/curves/.*inner.*uniform.*\.npy is missing or damaged: 4 of its 4 runs are repeated now$' \
    '^eenet run: lost/curves/.*cosine.*eenet.*\.npy is missing or damaged: 2 of its 4 runs are repeated now$'
untimed lost | sort >again
untimed whole | sort | cmp - again || fail "lost curves: other lines"
diff -r lost/curves whole/curves || fail "lost curves: other curves"
quiet play lost
# Until then a report says what is missing, and what helps.
rm "$(curves lost inner uniform)"
ends_with 1 "$eenet" report lost
like stderr 'uniform.*\.npy is missing or damaged; repeat the command that made it'

# More seeds, other rounds, other options, another delay: only what is missing is played. A delay of 0 is none.
cp -a whole more
rounds=$(echo "$runs" | sed 's/.* -T \([0-9]*\) .*/\1/')
while read -r expected words; do
    "$eenet" run -d synthetic:inner $words -o more >table
    test "$(lines more)" = "$expected" || fail "$words: $(lines more) lines, expected $expected"
done <<END
26 -p uniform -T $rounds -s 2-5
27 -p uniform -T 20 -s 0
28 -p uniform -T $rounds -s 0 --set uniform.pending=9
28 -p uniform -T $rounds -s 0-3 --delay 0
32 -p eenet:fast -T $rounds -s 0-3 --delay 10
32 -p eenet:fast -T $rounds -s 0-3 --delay 10 -j 2
36 -p eenet:fast -T $rounds -s 0-3 --delay geometric:10
END
head -n 24 more/results.jsonl | cmp - whole/results.jsonl

# What cannot be a folder.
: >file
refuse 1 'file: could not create the folder file: Not a directory' $runs -o file
refuse 1 'file: could not create the folder file: Not a directory' $runs -o file/inside
if test "$(id -u)" != 0; then
    mkdir -m 555 closed
    refuse 1 'file: could not open closed/results.jsonl: Permission denied' $runs -o closed
fi

# A disk that is full: here, files that may not grow. What is whole stays, and with room it goes on from there.
blocks=$(($(stat -c %s whole/results.jsonl) / 1024)) # of 512 bytes: half of it
full_disk() { (trap '' XFSZ; ulimit -f "$blocks"; play full -j 2); }
ends_with 1 full_disk
like stderr '^eenet run: file: could not write full/.*: File too large$'
test "$(lines full)" -gt 0 || fail "a full disk: no line was kept"
quiet play full -j 2
same full whole

# Two at a time: the second is refused, and the first goes on.
start run -d synthetic:inner -p uniform -T 1000000000 -s 0-9 -o busy -j 1 >table 2>first
await "the folder" test -e busy/results.jsonl
refuse 1 'busy: another run is writing results there' $runs -o busy
ends_with 1 "$eenet" merge busy whole
has_line stderr 'eenet merge: busy: another run is writing results there'
await_handler "$pid"
interrupt

# Killed and started again with delays.
runs="run -d synthetic:cosine,dim=5 -p eenet:fast,linucb -T $rounds -s 0-3 --delay clicks:20,100"
play late -j 1 >stdout
test "$(lines late)" = 8 || fail "late: $(lines late) lines of 8"
rm -r killed
killed_after 3
same killed late
