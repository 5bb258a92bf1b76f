#!/bin/sh
# grid.sh PROGRAM: settings chosen on tuning seeds, then run on others.
. "$(dirname "$0")/cli.inc"

# Any arm, or the best: which one is chosen is plain. The reported numbers are those of eenet run.
"$eenet" grid -d synthetic:inner,dim=4 -p neural-epsilon,uniform --set neural-epsilon.epsilon=1,0 \
    --set neural-epsilon.f1.width=10 --tune 100-101 -T 300 -s 0-1 -o kept >out
like out '^settings tuned on seeds 100-101' '^  neural-epsilon +2  f1.width=10 epsilon=0$'
"$eenet" run -d synthetic:inner,dim=4 -p neural-epsilon,uniform --set neural-epsilon.epsilon=0 \
    --set neural-epsilon.f1.width=10 -T 300 -s 0-1 >alone
head -n 5 out | sed 's/ *[0-9.]*$//' >reported
sed -e '/^$/!s/ *[0-9.]*$//' alone | head -n 5 | diff - reported

# Two settings on two seeds, then two policies on two seeds; nothing is played twice.
test "$(wc -l <kept/results.jsonl)" = 8 || fail "$(wc -l <kept/results.jsonl) runs"
test "$(grep -c '"tuning":true' kept/results.jsonl)" = 4 || fail "the tuning runs are not marked"
cp kept/results.jsonl before
"$eenet" grid -d synthetic:inner,dim=4 -p neural-epsilon,uniform --set neural-epsilon.epsilon=1,0 \
    --set neural-epsilon.f1.width=10 --tune 100-101 -T 300 -s 0-1 -o kept >again
cmp before kept/results.jsonl
cmp out again

# With a delay the choice is made and played with it, and is no part of what was played without.
cp -a kept late
"$eenet" grid -d synthetic:inner,dim=4 -p neural-epsilon,uniform --set neural-epsilon.epsilon=1,0 \
    --set neural-epsilon.f1.width=10 --tune 100-101 -T 300 -s 0-1 --delay 20 -o late >table
head -n 1 table | grep -qx 'synthetic:inner,dim=4: 10 arms of 4 features, 300 rounds, delay 20, seeds 0-1' ||
    fail "no delay: $(cat table)"
test "$(grep -c '"tuning":true,"delay":"20"' late/results.jsonl)" = 4 || fail "tuning runs without the delay"
test "$(grep -c '"tuning":false,"delay":"20"' late/results.jsonl)" = 4 || fail "runs without the delay"
head -n 8 late/results.jsonl | cmp - before

# The paper's grid, but for what --set names: of neural-ucb's three axes one is left with four values.
"$eenet" grid -d synthetic:inner,dim=4 -p neural-ucb --paper --halving --set neural-ucb.nu=1 \
    --set neural-ucb.f1.rate=0.01,0.02 --tune 7 -T 900 -s 0 -o paper >out
like out '^  neural-ucb +6  nu=1 '

# The page marks what was chosen, with and without halving; where a second grid found a better setting, that one.
chosen() { # FOLDER: the options that tell the chosen setting of the one policy from the others
    "$eenet" report "$1" >/dev/null
    sed -n 's/.*<th scope="row">[a-z-]* \(.*\)<span class="tag">chosen<.*/\1/p' "$1/report.html"
}
test "$(chosen kept)" = 'epsilon=0' || fail "the page has another choice: $(chosen kept)"
chosen paper | tr ' ' '\n' | sort >marked
sed -n 's/^  neural-ucb  *6  nu=1 //p' out | tr ' ' '\n' | sort | diff - marked
"$eenet" grid -d synthetic:inner,dim=4 -p neural-epsilon --set neural-epsilon.epsilon=0.5,0.9 \
    --set neural-epsilon.f1.width=10 --tune 100-101 -T 300 -s 0-1 -o kept >out
test "$(chosen kept)" = 'epsilon=0' || fail "two grids: $(chosen kept)"

# A policy none of whose settings can be played: such steps end in numbers that are not finite. The others play, and
# what failed is told with its setting.
ends_with 1 "$eenet" grid -d synthetic:inner,dim=4 -p greedy,linucb --set greedy.f1.optimizer=sgd --set greedy.f1.rate=1000,900 \
    --set linucb.alpha=0.1,1 --tune 7 -T 100 -s 0-1 -j 1
like stderr '^eenet grid: synthetic:inner,dim=4, greedy f1.optimizer=sgd f1.rate=1000, seed 7: '
like stdout '^  greedy +- +- +- +0/2$' '^  linucb .* 2/2$' '^  greedy +2  none: every setting failed$'

# A setting that is the only one, and fails on the seeds that count.
ends_with 1 "$eenet" grid -d synthetic:inner,dim=4 -p greedy,uniform --set greedy.f1.optimizer=sgd --set greedy.f1.rate=1000 \
    --tune 7 -T 100 -s 0-1
like stdout '^  uniform .* 2/2$'

# What is given later wins: of two lists of one option, and of a list and a value.
"$eenet" grid -d synthetic:inner,dim=4 -p greedy,greedy:paper --set greedy.f1.width=5,6 --set greedy:paper.f1.width=7,8,9 \
    --tune 7 -T 20 -s 0 >out
like out '^  greedy +2 ' '^  greedy:paper +3  f1.width=[789]$'
"$eenet" grid -d synthetic:inner,dim=4 -p greedy --set greedy.f1.width=5,6 --set greedy.f1.width=7 --tune 7 -T 20 -s 0 >out
! grep -q 'settings tuned' out || fail "one setting is chosen by nobody: $(cat out)"

# What cannot be.
refuse 2 'seed 3 is in both --tune and --seeds; expected disjoint seeds, or results would be biased' grid -d synthetic:inner -p uniform --tune 3 -s 0-4
refuse 2 'options: linucb.alpha must be 0 to 1000000, got -1' grid -d synthetic:inner -p linucb --set linucb.alpha=1,-1
refuse_like 2 '.*linucb.alpha.*' grid -d synthetic:inner -p linucb --set linucb.alpha=1,
