#!/bin/sh
# paper.sh PROGRAM: the paper's experiments in one command, killed in the middle and started again.
set -eu
eenet=$1
fail() { echo "paper.sh: $*" >&2; exit 1; }

code=0
"$eenet" paper -d synthetic:inner >stdout 2>stderr || code=$?
test "$code" = 2 || fail "without a folder: exit status $code"
grep -q 'expected a folder for results: -o DIR' stderr || fail "$(cat stderr)"

# A grid of three, one of two by --set, and a policy that has none.
runs='-d synthetic:inner,dim=4,arms=3 -d synthetic:cosine,dim=4,arms=3 -p eenet,linucb,uniform
    --set eenet.f1.rate=0.01,0.001 --set eenet.f1.width=20 --tune 100-101 -T 150 -s 0-2'
# shellcheck disable=SC2086 # words
"$eenet" paper $runs -o whole -j 2 >out
untimed() { sed -E 's/"seconds":[^,]*//' "$1/results.jsonl"; }
untimed whole >expected

# For each data set five settings on two seeds; then three policies and six ablations on three.
test "$(wc -l <expected)" = $((2 * (5 * 2 + 9 * 3))) || fail "$(wc -l <expected) runs"
test "$(grep -c '"tuning":true' expected)" = 20 || fail "$(grep -c '"tuning":true' expected) tuning runs"
for label in 'label=abs' 'label=relu' 'decision=neural' 'decision=hybrid' 'w2=1' 'w2=0'; do
    test "$(grep -c "eenet $label " out)" = 2 || fail "no row of $label in the tables: $(cat out)"
    test "$(grep -c ",ablation-[a-z]*,eenet,eenet $label,3," whole/summary.csv)" = 2 || fail "$label in summary.csv"
done
test "$(grep -c ',main,' whole/summary.csv)" = 6 || fail "$(cat whole/summary.csv)"
test "$(grep -c '^settings tuned on seeds 100-101$' out)" = 2 || fail "no word of the choice: $(cat out)"
test "$(tail -n 1 out)" = whole/report.html || fail "the page is not named: $(cat out)"
for heading in 'Ablation: the label of f2' 'Ablation: the kind of f3' 'Ablation: the weight of f2' 'Exploration direction' 'id="grid"'; do
    grep -q "$heading" whole/report.html || fail "no '$heading' in the page"
done

# Killed while it tunes, between the two and near the end: the same lines, the seconds aside, and the same page.
for count in 3 21 50; do
    # shellcheck disable=SC2086
    "$eenet" paper $runs -o killed -j 2 >/dev/null 2>&1 &
    pid=$!
    until test -e killed/results.jsonl && test "$(wc -l <killed/results.jsonl)" -ge "$count"; do
        kill -0 "$pid" 2>/dev/null || break
    done
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
done
# shellcheck disable=SC2086
"$eenet" paper $runs -o killed -j 2 >out
untimed killed | cmp - expected
diff -r whole/curves killed/curves

# Where some runs failed, the page shows the others, and the exit status tells.
code=0
"$eenet" paper -d synthetic:inner,dim=4 -p linucb,greedy --set linucb.alpha=1 --set greedy.f1.optimizer=sgd \
    --set greedy.f1.rate=1000,900 --tune 7 -T 100 -s 0-1 -o some >out 2>stderr || code=$?
test "$code" = 1 || fail "a policy that cannot be played: exit status $code"
grep -q ',main,linucb,' some/summary.csv || fail "no report of the other: $(cat out stderr)"
