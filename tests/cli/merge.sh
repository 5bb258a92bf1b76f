#!/bin/sh
# merge.sh PROGRAM: runs of several folders in one. Those of shards are in shard.sh; two writers are in resume.sh.
. "$(dirname "$0")/cli.inc"

runs='-d synthetic:cosine,dim=5 -d synthetic:inner -p eenet,uniform -T 100'
play() { "$eenet" run $runs -j 2 -q -o "$@" >stdout; } # FOLDER FLAG...
plain() { sed -E 's/"(seconds|bytes|machine)":("[^"]*"|[^,]*),//g; s/"row":[0-9]*,//' "$1/results.jsonl" | sort; }
# merged SENTENCE FOLDER...
merged() {
    sentence=$1
    shift
    said=$("$eenet" merge "$@")
    test "$said" = "$sentence" || fail "$*: $said"
}

play whole -s 0-5
play one -s 0-1,4
play two -s 2-3
play three -s 5

# Into a new folder: every run, each with its curve; where it came from stays as it was.
cp -a one before
merged 'all: 24 runs added from 3 folders' all one two three
diff -r one before || fail "the folder that was read has changed"
plain whole >expected
plain all | cmp - expected || fail "other lines"
for folder in whole all; do # which plays what has lost its curve: nothing
    "$eenet" run $runs -s 0-5 -o $folder | shown >$folder.table
    test "$(lines $folder)" = 24 || fail "$folder: curves were lost"
done
cmp whole.table all.table || fail "another table: $(cat all.table)"
"$eenet" report all >stdout || fail "no report"

# Again: nothing is written.
rm -r all/report.html all/figures all/summary.csv
cp -a all before-again
merged 'all: 0 runs added from 3 folders, 24 already there' all one two three
diff -r all before-again || fail "again: something was written"

# In the middle, and then the rest: while a folder is being written to, what is whole is taken.
cp -a one growing
head -n 7 one/results.jsonl >growing/results.jsonl
sed -n 8p one/results.jsonl | head -c 100 >>growing/results.jsonl
merged 'some: 7 runs added from 1 folder' some growing
merged 'some: 17 runs added from 3 folders, 7 already there' some one two three
plain some | cmp - expected || fail "in the middle: other lines"

# Contradictions: another result, another version, other kernels, other data.
cp -a two other
run='synthetic:cosine,dim=5, eenet, seed 2, 100 rounds'
change() { sed -E "$1" two/results.jsonl >other/results.jsonl; }
change '1s/"reward":[^,]*/"reward":-1/'
refuse_like 1 "run $run has different results in two \(line 1\) and other \(line 1\), .*" merge new two other
test "$(tail -n 1 stderr)" = 'eenet merge: nothing was merged because of 1 contradiction' || fail "$(cat stderr)"
refuse_like 1 "run $run has different results in all \(line [0-9]*\) and other \(line 1\), .*" merge all other
diff -r all before-again || fail "a refusal has changed the folder"
change 's/"version":"[^"]*"/"version":"0.0.1"/'
refuse_like 1 "other \(line 1\) was run by eenet 0.0.1 with kernels .*, but one \(line 1\) by .*: remove other and run .*" merge new one other
change 's/"kernels":"[^"]*"/"kernels":"abacus"/'
refuse_like 1 "other \(line 1\) was run by eenet .* with kernels abacus, but all \(line 1\) by .*" merge all other
change 's/"fingerprint":"[^"]*"/"fingerprint":"00000000000000ff"/'
refuse_like 1 "data set synthetic:cosine,dim=5 has fingerprint 0* in one \(line 1\) but 00000000000000ff in other \(line 1\), .*" merge new one other

# A curve that is lost: said, and left out.
cp -a two lost
curve=$(sed -n '1s/.*"curve":"\([^"]*\)".*/\1/p' two/results.jsonl)
rm "lost/curves/$curve"
ends_with 0 "$eenet" merge fewer lost
has_line stdout 'fewer: 6 runs added from 1 folder, 2 skipped'
has_line stderr "eenet merge: lost/curves/$curve is missing or damaged: skipped the run in line 1 of lost/results.jsonl; run its shard again to restore it"

# A line that cannot be read, no folders, wrong ones.
change '2s/"regret":[^,]*/"regret":"none"/'
refuse 1 "other/results.jsonl: line 2: expected a number in 'regret'; delete that line to continue" merge new one other
refuse_like 1 "file: could not .* nowhere/results.jsonl: No such file or directory" merge new one nowhere
refuse 1 "no finished runs in all/shards; run the shards first: eenet run --shard I/N -o all ..." merge all
mkdir -p bare/shards/0-of-4 bare/shards/4-of-4 bare/shards/mine
refuse_like 1 "no finished runs in bare/shards; .*" merge bare
refuse 2 "one/../one is the target folder itself; expected other folders after it" merge one one/../one
refuse 2 "expected the DIR of 'eenet run --shard I/N -o DIR'" merge
refuse 2 "unknown flag '--all'" merge --all
refuse 2 "expected a folder, got ''" merge ''
