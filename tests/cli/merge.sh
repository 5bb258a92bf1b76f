#!/bin/sh
# merge.sh PROGRAM: runs of several folders in one. Those of shards are in shard.sh.
set -eu
eenet=$1
fail() { echo "merge.sh: $*" >&2; exit 1; }

runs='-d synthetic:cosine,dim=5 -d synthetic:inner -p eenet,uniform -T 300'
# shellcheck disable=SC2086 # words
play() { "$eenet" run $runs -j 2 -q -o "$@" >/dev/null; } # FOLDER FLAG...
# A table without its seconds, and without the name of its folder.
shown() { sed -E 's/ +[0-9]+\.[0-9]{2}$//; s/ are in .*//'; }
plain() { sed -E 's/"(seconds|bytes|machine)":("[^"]*"|[^,]*),//g; s/"row":[0-9]*,//' "$1/results.jsonl"; }

play whole -s 0-5
play one -s 0-1,4
play two -s 2-3
play three -s 5

# Into a new folder: every run, each with its curve; where it came from stays as it was.
cp -a one before
said=$("$eenet" merge all one two three)
test "$said" = 'all: 24 runs added from 3 folders' || fail "$said"
diff -r one before || fail "the folder that was read has changed"
plain whole | sort >expected
plain all | sort | cmp - expected || fail "other lines"
# shellcheck disable=SC2086
"$eenet" run $runs -s 0-5 -o whole | shown >table
# shellcheck disable=SC2086
"$eenet" run $runs -s 0-5 -o all | shown >merged
cmp table merged || fail "another table: $(cat merged)"

# Again: nothing is written.
cp -a all before-again
said=$("$eenet" merge all one two three)
test "$said" = 'all: 0 runs added from 3 folders, 24 already there' || fail "again: $said"
diff -r all before-again || fail "again: something was written"

# The curves: as those of one folder, whatever the rows are called.
for folder in whole all; do
    play "$folder" -s 0-5 # plays what has lost its curve: nothing
    test "$(wc -l <"$folder/results.jsonl")" = 24 || fail "$folder: curves were lost"
done
"$eenet" report all >/dev/null || fail "no report"

# In the middle, and then the rest: while a folder is being written to, what is whole is taken.
cp -a one growing
head -n 7 one/results.jsonl >growing/results.jsonl
sed -n 8p one/results.jsonl | head -c 100 >>growing/results.jsonl
said=$("$eenet" merge some growing)
test "$said" = 'some: 7 runs added from 1 folder' || fail "in the middle: $said"
said=$("$eenet" merge some one two three)
test "$said" = 'some: 17 runs added from 3 folders, 7 already there' || fail "the rest: $said"
plain some | sort | cmp - expected || fail "in the middle: other lines"

# Killed in the middle, and again.
for turns in 1 10 100 300 1000 3000; do
    "$eenet" merge killed one two three >/dev/null 2>&1 &
    pid=$!
    turn=0
    while test "$turn" -lt "$turns"; do turn=$((turn + 1)); done
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
done
"$eenet" merge killed one two three >/dev/null
plain killed | sort | cmp - expected || fail "killed: other lines"
play killed -s 0-5
test "$(wc -l <killed/results.jsonl)" = 24 || fail "killed: curves were lost"

list() { find . ! -name stdout ! -name stderr ! -name 'listed-*' | sort; }
# refuse CODE SENTENCE FOLDER...: the first line on stderr, and nothing is written.
refuse() {
    expected_code=$1 sentence=$2
    shift 2
    list >listed-before
    code=0
    "$eenet" merge "$@" >stdout 2>stderr || code=$?
    test "$code" = "$expected_code" || fail "$*: exit status $code: $(cat stderr)"
    test ! -s stdout || fail "$*: $(cat stdout)"
    head -n 1 stderr | grep -qx "eenet merge: $sentence" || fail "$*: got '$(cat stderr)', expected '$sentence'"
    list | cmp - listed-before || fail "$*: left something behind"
}

# Contradictions: another result, another version, other kernels, other data.
cp -a two other
run='synthetic:cosine,dim=5, eenet, seed 2, 300 rounds'
sed -E '1s/"reward":[^,]*/"reward":-1/' two/results.jsonl >other/results.jsonl
refuse 1 "run $run has different results in two (line 1) and other (line 1), .*" new two other
test "$(tail -n 1 stderr)" = 'eenet merge: nothing was merged because of 1 contradiction' || fail "$(cat stderr)"
cp -a all before-refusal
refuse 1 "run $run has different results in all (line [0-9]*) and other (line 1), .*" all other
diff -r all before-refusal || fail "a refusal has changed the folder"
curve=$(sed -n '1s/.*"curve":"\([^"]*\)".*/\1/p' two/results.jsonl)
sed 's/"version":"[^"]*"/"version":"0.0.1"/' two/results.jsonl >other/results.jsonl
refuse 1 "other (line 1) was run by eenet 0.0.1 with kernels .*, but one (line 1) by .*: remove other and run .*" new one other
sed 's/"kernels":"[^"]*"/"kernels":"abacus"/' two/results.jsonl >other/results.jsonl
refuse 1 "other (line 1) was run by eenet .* with kernels abacus, but all (line 1) by .*" all other
sed 's/"fingerprint":"[^"]*"/"fingerprint":"00000000000000ff"/' two/results.jsonl >other/results.jsonl
refuse 1 "data set synthetic:cosine,dim=5 has fingerprint 0* in one (line 1) but 00000000000000ff in other (line 1), .*" new one other

# A curve that is lost: said, and left out.
cp -a two lost
rm "lost/curves/$curve"
"$eenet" merge fewer lost >stdout 2>stderr
test "$(cat stdout)" = 'fewer: 6 runs added from 1 folder, 2 skipped' || fail "lost: $(cat stdout)"
grep -qx "eenet merge: lost/curves/$curve is missing or damaged: skipped the run in line 1 of lost/results.jsonl; run its shard again to restore it" \
    stderr || fail "lost: $(cat stderr)"

# A line that cannot be read, no folders, wrong ones.
sed '2s/"regret":[^,]*/"regret":"none"/' two/results.jsonl >other/results.jsonl
refuse 1 "other/results.jsonl: line 2: expected a number in 'regret'; delete that line to continue" new one other
refuse 1 "file: could not .* nowhere/results.jsonl: No such file or directory" new one nowhere
refuse 1 "no finished runs in all/shards; run the shards first: eenet run --shard I/N -o all ..." all
mkdir -p bare/shards/0-of-4 bare/shards/4-of-4 bare/shards/mine
refuse 1 "no finished runs in bare/shards; .*" bare
refuse 2 "one/../one is the target folder itself; expected other folders after it" one one/../one
refuse 2 "expected the DIR of 'eenet run --shard I/N -o DIR'"
refuse 2 "unknown flag '--all'" --all
refuse 2 "expected a folder, got ''" ''

# Two writers of one folder: the second is refused.
env --default-signal=INT "$eenet" run -d synthetic:inner -p uniform -T 10000000 -s 0-9 -o busy -j 1 >table 2>first &
pid=$!
until test -e busy/results.jsonl; do kill -0 "$pid" || fail "it ended too early: $(cat first)"; done
code=0
"$eenet" merge busy one >stdout 2>stderr || code=$?
kill -INT "$pid"
wait "$pid" || true
test "$code" = 1 || fail "busy: exit status $code"
test "$(cat stderr)" = 'eenet merge: busy: another run is writing results there' || fail "busy: $(cat stderr)"
