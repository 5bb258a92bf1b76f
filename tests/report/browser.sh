#!/bin/sh
# browser.sh PROGRAM SCRIPT: makes a report of small runs and looks at it in a real browser, as wide as a desk and as
# narrow as a telephone. SCRIPT runs in the page and writes what is wrong with it. 77: there is no browser, or no gnuplot.
set -eu
eenet=$1
script=$2
command -v chromium >/dev/null || exit 77
command -v gnuplot >/dev/null || exit 77

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

# The page in a frame of that width: the browser's own window has a least width. What the script finds comes by a
# message, since a frame of another file is closed to the page around it.
look() { # WIDTH
    awk -v script="$script" '
        $0 == "</body>" { print "<script>"; while ((getline line < script) > 0) print line; print "</script>" }
        { print }' runs/report.html >"framed-$1.html"
    cat >"frame-$1.html" <<END
<!DOCTYPE html>
<html><body style="margin:0"><pre id="verdict">no verdict</pre>
<script>addEventListener('message', m => { document.getElementById('verdict').textContent = m.data })</script>
<iframe src="framed-$1.html" style="border:0;width:$1px;height:3000px"></iframe></body></html>
END
    chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/profile" \
        --virtual-time-budget=20000 --window-size=1500,3200 --dump-dom "file://$PWD/frame-$1.html" >"seen-$1" 2>said ||
        { cat said; exit 1; }
    sed -n 's/.*<pre id="verdict">\(.*\)<\/pre>.*/\1/p' "seen-$1" >"verdict-$1"
    [ "$(cat "verdict-$1")" = "good, $1 wide" ] || { echo "at $1 pixels:"; cat "verdict-$1"; exit 1; }
}
look 400
look 1400
