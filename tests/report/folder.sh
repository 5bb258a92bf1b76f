#!/bin/sh
# folder.sh PROGRAM: plays small runs of all kinds in the folder `runs` and writes their report: what
# tests/node/report.test.mjs looks at in a browser.
set -eu
eenet=$1

# Seven policies and the four cells of the ablations on one data set, two policies and one seed on another.
play() { "$eenet" run -T 300 -o runs "$@" >/dev/null; }
play -d synthetic:cosine -s 0-2 -p eenet,neural-ucb,neural-ts,linucb,kernelucb,greedy,uniform
for value in label=abs label=relu decision=neural decision=hybrid; do
    play -d synthetic:cosine -s 0-2 -p eenet --set "eenet.$value"
done
play -d synthetic:quadratic,dim=5,arms=3 -s 0 -p eenet,linucb
# A grid, as if its runs had been for tuning: the curve of a run is not looked at then.
grep '"policy":"neural-ucb"' runs/results.jsonl | sed 's/"tuning":false/"tuning":true/' >tuning
sed 's/nu=0\.1 /nu=0.01 /; s/"regret":[0-9.]*/"regret":1/' tuning >tuning.low
cat tuning tuning.low >>runs/results.jsonl
# Evaluations of a log of 300 events, of which the last candidate's cannot be trusted.
awk 'BEGIN { for (i = 0; i < 300; i++) {
    action = i % 2 + 1
    printf "{\"_label_cost\":%d,\"_label_probability\":0.5,\"_label_Action\":%d,\"_labelIndex\":%d,\"EventId\":\"e%d\",", \
        -(i % 7 < 2 * action), action, action - 1, i
    printf "\"a\":[%d,%d],\"p\":[0.5,0.5],\"c\":{\"user\":{\"age\":%d},\"_multi\":[{\"x\":1},{\"x\":2}]}}\n", \
        action, 3 - action, 20 + i % 30
} }' >log.dsjson
"$eenet" evaluate log.dsjson -p linucb,uniform,first -o runs >/dev/null
tail -n 1 runs/evaluations.jsonl | sed 's/"candidate": *"first"/"candidate":"doubtful"/; s/"trusted": *true/"trusted":false/
    s/"grave": *false/"grave":true/' >doubtful
cat doubtful >>runs/evaluations.jsonl
"$eenet" report runs >written
tail -n 1 written | grep -qx runs/report.html
