#!/bin/sh
# resume.sh PROGRAM: killed at any moment and started again, -o DIR ends with the bytes of a run never killed.
set -eu
eenet=$1
fail() { echo "resume.sh: $*" >&2; exit 1; }
. "$(dirname "$0")/progress.inc"

runs='-d synthetic:cosine,dim=5 -d synthetic:inner -p eenet:fast,linucb,uniform -T 400 -s 0-3'
# shellcheck disable=SC2086 # words
play() { "$eenet" run $runs -o "$@"; } # FOLDER FLAG...
lines() { if test -e "$1/results.jsonl"; then wc -l <"$1/results.jsonl"; else echo 0; fi; }
untimed() { sed -E 's/"seconds":[^,]*//' "$1/results.jsonl"; }

# same FOLDER: as the one never killed, and nothing else is in it.
same() {
    untimed "$1" >untimed
    cmp untimed expected || fail "$1: other lines"
    diff -r "$1/curves" whole/curves || fail "$1: other curves"
    test "$(ls -A "$1" | tr '\n' ' ')" = 'curves results.jsonl ' || fail "$1: left behind: $(ls -A "$1")"
}

play whole -j 1 >table
test "$(lines whole)" = 24 || fail "$(lines whole) lines of 24"
test "$(ls whole/curves | wc -l)" = 6 || fail "curves of 6 settings: $(ls whole/curves)"
untimed whole >expected
for jobs in 2 4; do
    play "threads-$jobs" -j "$jobs" >/dev/null
    same "threads-$jobs"
done

# The same command again: nothing is played, nothing is written, the table is the same.
cp -a whole before
play whole -j 2 >again
diff -r whole before || fail "the same command again has changed something"
cmp again table
play whole --json | wc -l | grep -qx 24 || fail "what is there has no lines of JSON"

# start FOLDER: plays in the background. kill_now: kills it, whatever it does, and waits until it is gone.
# shellcheck disable=SC2086
start() {
    "$eenet" run $runs -o "$1" -j 2 >/dev/null 2>&1 &
    pid=$!
}
kill_now() {
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

# After each number of lines.
for count in 1 2 3 5 8 13 16 21 23; do
    start killed
    while test "$(lines killed)" -lt "$count" && kill -0 "$pid" 2>/dev/null; do :; done
    kill_now
done
play killed -j 2 >/dev/null
same killed

# At moments that mean nothing: after so many turns of a loop, each time more.
kills=0
for folder in turns-1 turns-2 turns-3; do
    turns=1000
    while start "$folder" && test "$turns" -lt 100000; do
        turn=0
        while test "$turn" -lt "$turns"; do turn=$((turn + 1)); done
        test "$(lines "$folder")" = 24 || kills=$((kills + 1))
        kill_now
        turns=$((turns + turns / 3 + kills * 11))
    done
    wait "$pid"
    same "$folder"
done
test "$kills" -gt 0 || fail "none was killed before it was done"

# Half a line, half a row, a row and a file of curves that no line names: cut off.
cp -a whole damaged
head -n 20 whole/results.jsonl >damaged/results.jsonl
sed -n 21p whole/results.jsonl | head -c 100 >>damaged/results.jsonl
for curve in damaged/curves/*inner*uniform*.npy; do printf 'half a row' >>"$curve"; done
for curve in damaged/curves/*inner*linucb*.npy; do printf 'half a row' >>"$curve"; done
play damaged >/dev/null
same damaged

# A line that is whole and wrong is named, and nothing is lost.
cp -a whole wrong
sed '3s/"regret":[^,]*/"regret":"none"/' whole/results.jsonl >wrong/results.jsonl
code=0
play wrong >stdout 2>stderr || code=$?
test "$code" = 1 || fail "a wrong line: exit status $code"
test "$(cat stderr)" = "eenet run: wrong/results.jsonl: line 3: expected a number in 'regret'; delete that line to continue" ||
    fail "got '$(cat stderr)'"
diff -r wrong/curves whole/curves

# Curves that somebody has removed or cut: those runs are played again, and a sentence says so.
cp -a whole lost
for curve in lost/curves/*inner*uniform*.npy; do rm "$curve"; done
for curve in lost/curves/*cosine*eenet*.npy; do
    head -c 8000 "$curve" >half # its two first rows, and a part of the third
    mv half "$curve"
done
# shellcheck disable=SC2086
"$eenet" run $runs -o lost --json 2>stderr >lines
test "$(wc -l <lines)" = 24 || fail "lost curves: $(wc -l <lines) runs"
test "$(grep -c damaged stderr)" = 2 || fail "lost curves: $(cat stderr)"
grep -Eq '^eenet run: lost/curves/.*inner.*uniform.*\.npy is missing or damaged: 4 of its 4 runs are repeated now$' \
    stderr || fail "lost curves: $(cat stderr)"
grep -Eq '^eenet run: lost/curves/.*cosine.*eenet.*\.npy is missing or damaged: 2 of its 4 runs are repeated now$' \
    stderr || fail "lost curves: $(cat stderr)"
untimed lost | sort >untimed
sort expected | cmp - untimed || fail "lost curves: other lines"
diff -r lost/curves whole/curves || fail "lost curves: other curves"
play lost 2>stderr >/dev/null
drop_progress
test ! -s stderr || fail "lost curves: again: $(cat stderr)"
# Until then a report says what is missing, and what helps.
for curve in lost/curves/*inner*uniform*.npy; do rm "$curve"; done
code=0
"$eenet" report lost >/dev/null 2>stderr || code=$?
test "$code" = 1 || fail "a report without curves: exit status $code"
grep -q 'uniform.*\.npy is missing or damaged; repeat the command that made it' stderr ||
    fail "a report without curves: $(cat stderr)"

# More seeds, other rounds, other options: only what is missing is played.
cp -a whole more
"$eenet" run -d synthetic:inner -p uniform -T 400 -s 2-5 -o more >table
test "$(lines more)" = 26 || fail "two more seeds: $(lines more) lines"
head -n 24 more/results.jsonl | cmp - whole/results.jsonl
"$eenet" run -d synthetic:inner -p uniform -T 200 -s 0 -o more >table
"$eenet" run -d synthetic:inner -p uniform -T 400 -s 0 --set uniform.pending=9 -o more >table
test "$(lines more)" = 28 || fail "another setting: $(lines more) lines"

# Another delay is another run; 0 is what was played before there were delays.
"$eenet" run -d synthetic:inner -p uniform -T 400 -s 0-3 --delay 0 -o more >table
test "$(lines more)" = 28 || fail "no delay: $(lines more) lines"
for lines in 32 32; do
    "$eenet" run -d synthetic:inner -p eenet:fast -T 400 -s 0-3 --delay 10 -o more -j 2 >table
    test "$(lines more)" = "$lines" || fail "a delay: $(lines more) lines"
done
"$eenet" run -d synthetic:inner -p eenet:fast -T 400 -s 0-3 --delay geometric:10 -o more >table
test "$(lines more)" = 36 || fail "a random delay: $(lines more) lines"

# Killed and started again with delays: the bytes of a run never killed.
runs='-d synthetic:cosine,dim=5 -p eenet:fast,linucb -T 400 -s 0-3 --delay clicks:20,100'
play late -j 1 >/dev/null
test "$(lines late)" = 8 || fail "late: $(lines late) lines of 8"
untimed late >expected-late
start late-killed
while test "$(lines late-killed)" -lt 3 && kill -0 "$pid" 2>/dev/null; do :; done
kill_now
play late-killed -j 2 >/dev/null
untimed late-killed | cmp - expected-late || fail "late: other lines"
diff -r late/curves late-killed/curves || fail "late: other curves"
runs='-d synthetic:cosine,dim=5 -d synthetic:inner -p eenet:fast,linucb,uniform -T 400 -s 0-3'

# refuse SENTENCE FOLDER: exit status 1 and the sentence.
refuse() {
    code=0
    play "$2" >stdout 2>stderr || code=$?
    test "$code" = 1 || fail "$2: exit status $code"
    test ! -s stdout || fail "$2: a table of nothing"
    grep -qx "$1" stderr || fail "$2: got '$(cat stderr)', expected '$1'"
}
: >file
refuse 'eenet run: file: could not create the folder file: Not a directory' file
refuse 'eenet run: file: could not create the folder file: Not a directory' file/inside
if test "$(id -u)" != 0; then
    mkdir closed && chmod 555 closed
    refuse 'eenet run: file: could not open closed/results.jsonl: Permission denied' closed
fi

# A disk that is full: here, files that may not grow. What is whole stays, and with room it goes on from there.
code=0
(trap '' XFSZ; ulimit -f 20; play full -j 2) >stdout 2>stderr || code=$?
test "$code" = 1 || fail "a full disk: exit status $code"
grep -Eqx 'eenet run: file: could not write full/.*: File too large' stderr || fail "a full disk: $(cat stderr)"
test "$(lines full)" -gt 0 || fail "a full disk: no line was kept"
play full -j 2 >/dev/null 2>stderr
drop_progress
test ! -s stderr || fail "a full disk: a line without its curve: $(cat stderr)"
same full

# Two at a time: the second is refused, and the first goes on.
env --default-signal=INT "$eenet" run -d synthetic:inner -p uniform -T 4000000 -s 0-9 -o busy -j 1 >table 2>first &
pid=$!
until test -e busy/results.jsonl; do kill -0 "$pid" || fail "it ended too early: $(cat first)"; done
refuse 'eenet run: busy: another run is writing results there' busy
kill -INT "$pid"
code=0
wait "$pid" || code=$?
test "$code" = 130 || fail "the first: exit status $code"
