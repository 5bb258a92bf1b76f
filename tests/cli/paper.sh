#!/bin/sh
# paper.sh PROGRAM: the paper's experiments in one command, killed in the middle and started again.
. "$(dirname "$0")/cli.inc"

refuse 2 'expected a folder for results: -o DIR' paper -d synthetic:inner

# A grid of two by --set, one of the paper's, and a policy that has none.
runs="-d synthetic:inner,dim=3,arms=2 -d synthetic:cosine,dim=3,arms=2 -p eenet,linucb,uniform
    --set eenet.f1.rate=0.01,0.001 --set eenet.f1.width=5 --tune 100-101 -T ${EENET_TEST_LONG:+1}50 -s 0-2 -j 2"
"$eenet" paper $runs -o whole >out
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
has whole/report.html 'Ablation: the label of f2' 'Ablation: the kind of f3' 'Ablation: the weight of f2' 'Exploration direction' 'id="grid"'

# Killed while it tunes, between the two and near the end: the same lines, the seconds aside, and the same page.
for count in 3 21 50; do
    start paper $runs -o killed >/dev/null 2>stderr
    await "$count runs" has_lines killed "$count"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null || true
done
"$eenet" paper $runs -o killed >out
untimed killed | cmp - expected
diff -r whole/curves killed/curves

# Where some runs failed, the page shows the others, and the exit status tells.
ends_with 1 "$eenet" paper -d synthetic:inner,dim=4 -p linucb,greedy --set linucb.alpha=1 --set greedy.f1.optimizer=sgd \
    --set greedy.f1.rate=1000,900 --tune 7 -T 100 -s 0-1 -o some
has some/summary.csv ',main,linucb,'
