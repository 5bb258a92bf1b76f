#!/bin/sh
# interrupt.sh PROGRAM: Ctrl-C ends the runs at the next round; what is done is printed, what is missing is named.
# A shell's background programs ignore SIGINT, so env gives it back.
set -eu
eenet=$1
fail() { echo "interrupt.sh: $*" >&2; exit 1; }

# In the middle of the runs: the signal is sent when the first of many has been told.
mkfifo lines
env --default-signal=INT "$eenet" run -d synthetic:inner -p uniform,greedy -T 1000 -s 0-99999 -j 1 --json >lines 2>stderr &
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
test "$(tail -n 1 stderr)" = "eenet run: interrupted; missing: uniform seeds $done-99999; greedy seeds 0-99999" ||
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
synthetic:inner: 10 arms of 20 features, 1000000000000 rounds, seeds 0-4

  policy   regret  optimal  seconds  runs
  uniform       -        -        -   0/5
END
diff expected table
test "$(tail -n 1 stderr)" = "eenet run: interrupted; missing: uniform seeds 0-4" || fail "got '$(cat stderr)'"

# On two threads, with results kept: what is done stays, and the same command goes on from there. The lines are more
# than a pipe holds, so it cannot be done before the signal is sent.
runs='-d synthetic:inner -d synthetic:cosine -p uniform,eenet -T 200 -s 0-19 -j 2 -o kept'
# shellcheck disable=SC2086 # words
"$eenet" run $runs >table
sed -E 's/"seconds":[^,]*//' kept/results.jsonl >expected
rm -r kept
# shellcheck disable=SC2086
env --default-signal=INT "$eenet" run $runs --json >lines 2>stderr &
pid=$!
exec 3<lines
IFS= read -r first <&3
kill -INT "$pid"
cat <&3 >rest
code=0
wait "$pid" || code=$?
test "$code" = 130 || fail "exit status $code"
grep -q '^eenet run: interrupted; missing: .*synthetic:cosine eenet seeds .*; the same command resumes it$' \
    stderr || fail "got '$(cat stderr)'"
done=$(($(wc -l <rest) + 1))
test "$done" -lt 80 || fail "nothing was interrupted"
kept=$(($(wc -l <kept/results.jsonl) + $(find kept -name '*.run' | wc -l)))
test "$kept" = "$done" || fail "$done runs were done, $kept are kept"
# shellcheck disable=SC2086
"$eenet" run $runs >again
sed -E 's/"seconds":[^,]*//' kept/results.jsonl | cmp - expected
sed -E 's/ +[0-9.]+$//' table >expected
sed -E 's/ +[0-9.]+$//' again | cmp - expected
test ! -e kept/pending || fail "something is left in pending/"

# In the middle of a round that takes for ever: it is not waited for. What had ended before is kept and shown.
endless='--set eenet.f1.steps=1e9'
# shellcheck disable=SC2086
env --default-signal=INT "$eenet" run -d synthetic:inner -p uniform,eenet $endless -T 20 -s 0-1 -j 1 -o slow \
    --save slow.model >table 2>stderr &
pid=$!
until test -e slow/results.jsonl && test "$(wc -l <slow/results.jsonl)" = 2; do
    kill -0 "$pid" || fail "it ended too early: $(cat stderr)"
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
test "$code" = 130 || fail "a long round: exit status $code"
grep -Eq '^  uniform .* 2/2$' table || fail "a long round: $(cat table)"
grep -Eq '^  eenet .* 0/2$' table || fail "a long round: $(cat table)"
tail -n 1 table | grep -q 'For an HTML report: eenet report slow' || fail "a long round: no report is offered: $(cat table)"
test "$(tail -n 1 stderr)" = 'eenet run: interrupted; missing: eenet seeds 0-1; the same command resumes it' ||
    fail "a long round: $(cat stderr)"
test ! -e slow.model.lock || fail "a long round: a lock is left behind"
cp slow/results.jsonl before
"$eenet" run -d synthetic:inner -p uniform -T 20 -s 0-1 -o slow >again
cmp before slow/results.jsonl
test "$(ls -A slow | tr '\n' ' ')" = 'curves results.jsonl ' || fail "a long round: left behind: $(ls -A slow)"

# The same of a grid, and of runs of which none has finished: no report of nothing is offered.
for verb in grid run; do
    # shellcheck disable=SC2086
    env --default-signal=INT "$eenet" $verb -d synthetic:inner -p eenet $endless -T 20 -s 0 -o "nothing-$verb" \
        --save "$verb.model" >table 2>stderr &
    pid=$!
    until test -e "nothing-$verb/pending" && awk "$catches" "/proc/$pid/status"; do
        kill -0 "$pid" || fail "it ended too early: $(cat stderr)"
    done
    kill -INT "$pid"
    code=0
    wait "$pid" || code=$?
    test "$code" = 130 || fail "$verb of nothing: exit status $code"
    grep -q "^eenet $verb: interrupted.*; the same command resumes it\$" stderr || fail "$verb: $(cat stderr)"
    ! grep -q report table || fail "a report of nothing is offered: $(cat table)"
    test ! -e "$verb.model.lock" || fail "$verb of nothing: a lock is left behind"
done

# The same of the run that --save plays once more. The lines are made to be of the endless setting, so they are read.
"$eenet" run -d synthetic:inner -p eenet --set eenet.f1.steps=7 -T 2 -s 0 -o read >table
sed 's/f1\.steps=7 /f1.steps=1000000000 /' read/results.jsonl >made
mv made read/results.jsonl
# shellcheck disable=SC2086
env --default-signal=INT "$eenet" run -d synthetic:inner -p eenet $endless -T 2 -s 0 -o read --save read.model \
    >table 2>stderr &
pid=$!
until awk "$catches" "/proc/$pid/status"; do
    kill -0 "$pid" || fail "it ended too early: $(cat stderr)"
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
test "$code" = 130 || fail "a long round of --save: exit status $code"
test "$(tail -n 1 stderr)" = 'eenet run: interrupted; read.model was not saved' || fail "a long round of --save: $(cat stderr)"
test ! -e read.model && test ! -e read.model.lock || fail "a long round of --save: left behind: $(ls)"
