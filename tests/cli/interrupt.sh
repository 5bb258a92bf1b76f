#!/bin/sh
# interrupt.sh PROGRAM: Ctrl-C ends the runs at the next round; what is done is printed, what is missing is named.
. "$(dirname "$0")/cli.inc"

# In the middle of the runs: the signal is sent when the first of many has been told.
mkfifo lines
first_line() {
    env --default-signal=INT "$eenet" "$@" --json >lines 2>stderr &
    pid=$!
    exec 3<lines
    IFS= read -r first <&3
    interrupt rest
    done=$(($(wc -l <rest) + 1))
}
last_line() { test "$(tail -n 1 stderr)" = "$1" || fail "expected '$1', got '$(cat stderr)'"; }
first_line run -d synthetic:inner -p uniform,greedy -T 1000 -s 0-99999 -j 1
case $first in *'"seed":0,'*) ;; *) fail "the first line is not of seed 0: $first" ;; esac
last_line "eenet run: interrupted; missing: uniform seeds $done-99999; greedy seeds 0-99999"

# In the middle of a run that would take for ever: the signal is sent when the program catches it.
start run -d synthetic:inner -p uniform -T 1000000000000 -s 0-4 >table 2>stderr
await_handler "$pid"
interrupt
diff - table <<'END'
synthetic:inner: 10 arms of 20 features, 1000000000000 rounds, seeds 0-4

  policy   regret  optimal  seconds  runs
  uniform       -        -        -   0/5
END
last_line "eenet run: interrupted; missing: uniform seeds 0-4"

# On two threads, with results kept: what is done stays, and the same command goes on from there. The lines are more
# than a pipe holds, so it cannot be done before the signal is sent.
runs='run -d synthetic:inner -d synthetic:cosine -p uniform,eenet -T 60 -s 0-19 -j 2 -o kept'
"$eenet" $runs >table
untimed kept >expected
rm -r kept
first_line $runs
like stderr '^eenet run: interrupted; missing: .*synthetic:cosine eenet seeds .*; the same command resumes it$'
test "$done" -lt 80 || fail "nothing was interrupted"
test "$(($(lines kept) + $(find kept -name '*.run' | wc -l)))" = "$done" || fail "$done runs were done, but not kept"
"$eenet" $runs >again
untimed kept | cmp - expected
shown <table >expected
shown <again | cmp - expected
test ! -e kept/pending || fail "something is left in pending/"

# In the middle of a round that takes for ever: it is not waited for. What had ended before is kept and shown.
endless='--set eenet.f1.steps=1e9 -s 0-1 -T 20'
start run -d synthetic:inner -p uniform,eenet $endless -j 1 -o slow --save slow.model >table 2>stderr
await "two runs" has_lines slow 2
interrupt
like table '^  uniform .* 2/2$' '^  eenet .* 0/2$' 'For an HTML report: eenet report slow$'
last_line 'eenet run: interrupted; missing: eenet seeds 0-1; the same command resumes it'
test ! -e slow.model.lock || fail "a lock is left behind"
cp slow/results.jsonl before
"$eenet" run -d synthetic:inner -p uniform -T 20 -s 0-1 -o slow >again
cmp before slow/results.jsonl
test "$(ls -A slow | tr '\n' ' ')" = 'curves results.jsonl ' || fail "left behind: $(ls -A slow)"

# The same of a grid, and of runs of which none has finished: no report of nothing is offered.
for verb in grid run; do
    start $verb -d synthetic:inner -p eenet $endless -o "nothing-$verb" --save "$verb.model" >table 2>stderr
    await_handler "$pid"
    await "a run" test -e "nothing-$verb/pending"
    interrupt
    like stderr "^eenet $verb: interrupted.*; the same command resumes it\$"
    ! grep -q report table || fail "a report of nothing is offered: $(cat table)"
    test ! -e "$verb.model.lock" || fail "$verb of nothing: a lock is left behind"
done

# The same of the run that --save plays once more. The lines are made to be of the endless setting, so they are read.
"$eenet" run -d synthetic:inner -p eenet --set eenet.f1.steps=7 -T 2 -s 0 -o read >table
sed -i 's/f1\.steps=7 /f1.steps=1000000000 /' read/results.jsonl
start run -d synthetic:inner -p eenet --set eenet.f1.steps=1e9 -T 2 -s 0 -o read --save read.model >table 2>stderr
await_handler "$pid"
interrupt
last_line 'eenet run: interrupted; read.model was not saved'
test ! -e read.model && test ! -e read.model.lock || fail "--save: left behind: $(ls)"
