#!/bin/sh
# report.sh PROGRAM: the table, the figures and the page of a folder of results. tests/node/report.test.mjs looks at the page.
. "$(dirname "$0")/cli.inc"

"$eenet" run -d synthetic:cosine,arms=3 -p greedy,eenet -T 50 -s 0-1 -o runs >/dev/null

# It needs no other program. If the figures cannot be written, the table is there, and no page.
mkdir empty
touch runs/figures
ends_with 1 "$eenet" report runs
has stderr runs/figures
echo runs/summary.csv | diff - stdout || fail "a file in the place of the figures: output"
[ ! -e runs/report.html ] || fail "a page without figures"
rm runs/figures
PATH=$PWD/empty "$eenet" report runs >out || fail "needs another program"

# One row a cell; the names of the columns are stable, and every row has a field for each.
head -n 1 runs/summary.csv | grep -qx 'dataset,fingerprint,dim,arms,rounds,delay,part,policy,label,seeds,regret_mean,regret_sd,regret_low,regret_high,best,reference,pairs,difference,difference_low,difference_high,p,p_holm,growth,optimal,seconds,bytes,up,up_right,down,down_right,correlation,options,slots' || fail "columns"
[ "$(wc -l <runs/summary.csv)" = 3 ] || fail "rows"
like runs/summary.csv '^"synthetic:cosine,arms=3",0{16},20,3,50,0,main,greedy,greedy,2,[0-9.]+,[0-9.]+,'
[ "$(sed 's/"[^"]*"//' runs/summary.csv | tr -dc ',\n' | awk '{ print length }' | sort -u)" = 32 ] || fail "fields"
# The mean is that of the lines.
awk -F '"regret":' '/"policy":"greedy"/ { sum += $2 + 0; runs++ } END { printf "%.6f\n", sum / runs }' runs/results.jsonl >mean
grep ',main,greedy,' runs/summary.csv | sed 's/"[^"]*"//' | awk -F, '{ printf "%.6f\n", $11 }' | diff - mean || fail "mean"
# Two seeds exclude no difference.
grep ',main,greedy,' runs/summary.csv | grep -q ',-inf,inf,' || fail "interval"

# What is wrong with the arguments.
for arguments in '' 'runs more' 'runs --referense eenet' 'runs --output'; do
    ends_with 2 "$eenet" report $arguments
done
refuse 1 "nowhere not found; expected the DIR of 'eenet run -o DIR' or 'eenet evaluate -o DIR'" report nowhere
refuse 1 "no runs of the reference 'linucb'; the results have greedy, eenet" report runs --reference linucb

# A log of 600 events, uniform over three items; users click on the one that they like 6 times in 10.
cat >make.awk <<'END'
function draw() { state = state * 16807 % 2147483647; return state / 2147483647 }
BEGIN {
    state = 42
    split("red green blue", names, " ")
    for (i = 1; i <= 600; i++) {
        likes = 1 + int(3 * draw())
        action = 1 + int(3 * draw())
        printf "{\"_label_cost\":%d,\"_label_probability\":0.3333333,\"_label_Action\":%d,\"_labelIndex\":%d,", \
            -(draw() < (action == likes ? 0.6 : 0.1)), action, action - 1
        printf "\"Timestamp\":\"2026-05-%02dT12:00:00Z\",\"EventId\":\"e%d\",", 1 + int(i / 25), i
        printf "\"a\":[%d,%d,%d],\"p\":[0.3333333,0.3333333,0.3333334],", action, action % 3 + 1, (action + 1) % 3 + 1
        printf "\"c\":{\"user\":{\"likes\":\"%s\"},\"_multi\":[", names[likes]
        for (k = 1; k <= 3; k++) printf "%s{\"item\":{\"is\":\"%s\"}}", (k > 1 ? "," : ""), names[k]
        print "]}}"
    }
}
END
awk -f make.awk >log.dsjson
"$eenet" evaluate log.dsjson -p linucb,uniform,first -o judged >/dev/null

# Evaluations alone: a table of their own, one row for each candidate and estimator.
"$eenet" report judged >out
diff - out <<'END' || fail "evaluations alone"
judged/evaluations.csv
judged/figures (2 figures as .svg and .dat)
judged/report.html
END
head -n 1 judged/evaluations.csv | grep -qx 'log,fingerprint,mode,model,interval,confidence,candidate,seed,events,estimator,value,low,high,gain,gain_low,gain_high,lambda,log_reward,effective,largest_weight,mean_weight,unsupported,trusted,options' || fail "columns of evaluations"
cut -d , -f 1,3-7,9,10,23 judged/evaluations.csv | sed 1d | sort >rows
sort >expected <<'END'
log.dsjson,progressive,f1,cs,0.95,linucb,600,dr,1
log.dsjson,progressive,f1,cs,0.95,linucb,600,snips,1
log.dsjson,progressive,f1,cs,0.95,uniform,600,dr,1
log.dsjson,progressive,f1,cs,0.95,uniform,600,snips,1
log.dsjson,progressive,f1,cs,0.95,first,600,dr,1
log.dsjson,progressive,f1,cs,0.95,first,600,snips,1
END
diff expected rows || fail "rows of evaluations"
# The values are those of the lines.
sed -n 's/.*"candidate": *"linucb".*"name": *"dr", *"value": *\([0-9.]\{8\}\).*/\1/p' judged/evaluations.jsonl >value
sed -n 's/.*,linucb,0,600,dr,\([0-9.]\{8\}\).*/\1/p' judged/evaluations.csv | diff - value || fail "value"

like judged/report.html '<h1>What 3 candidates would have earned</h1>'
grep -Eq '<p class="headline">linucb would have earned [0-9.]+% more than the logging policy \(DR, 95% interval: [0-9.]+% to [0-9.]+%\)\.</p>' \
    judged/report.html || fail "headline"
! grep -q 'id="overview"' judged/report.html || fail "an overview of no runs"
like judged/report.html '<p><b>Yes.</b> No problems found.</p>'
has judged/report.html 'Mode: progressive (each event is scored before the candidates learn from it)' '<b>dr</b>: doubly robust: '

# The page compares by the headline's estimator, whichever came first on the command line.
"$eenet" evaluate log.dsjson -p uniform,linucb -e dm,snips,dr -o ruled >/dev/null
"$eenet" report ruled >out
like ruled/report.html '<p class="headline">linucb would have earned [0-9.]+% more than the logging policy \(DR, 95% interval: '
like ruled/report.html 'by dr</th><th scope="col">difference from' 'reward per event \(dr\)'
has ruled/figures/value-log-1.svg 'reward per event (dr)'

# A log that has changed: each state has its title, a candidate is counted once and keeps its colour.
mkdir changed
for events in 600 500; do
    head -n $events log.dsjson >changed/log.dsjson
    (cd changed && "$eenet" evaluate log.dsjson -p first,logged,linucb -e snips -i normal -o . >/dev/null)
done
"$eenet" report changed >out
like changed/report.html '<h1>What 3 candidates would have earned</h1>'
for events in 600 500; do
    like changed/report.html ">Evaluation of log.dsjson, $events events</h2>"
done
[ "$(grep -o 'data-line="candidate-[0-9]*"><th scope="row"><[^>]*></[a-z]*>linucb' changed/report.html | sort -u | wc -l)" = 1 ] ||
    fail "a candidate has two colours"
! grep -q 'cannot be told apart' changed/report.html || fail "linucb is better than first"
"$eenet" evaluate log.dsjson -p arm:0,arm:1 -e ips -o alike >/dev/null
"$eenet" report alike >out
like alike/report.html '<p>arm:[01] and arm:[01] cannot be told apart: their 95% intervals overlap.</p>'

# A log that has the probability of the taken action alone: there is no overlap to draw.
awk 'BEGIN { print "a,p,r"; for (i = 0; i < 200; i++) printf "%d,0.5,%d\n", i % 2, i % 7 < 3 }' >few.csv
"$eenet" evaluate csv:few.csv,action=a,probability=p,reward=r -p uniform,arm:1 -e ips -o few >/dev/null
"$eenet" report few >out
! grep -q 'choices (%)' few/figures/weights-log-1.svg || fail "overlap that is not known"
grep -q 'events (%)' few/figures/weights-log-1.svg || fail "no weights"
like few/report.html '<h2 id="log-1">Evaluation of few.csv</h2>'
awk 'BEGIN { print "a,p,r"; for (i = 0; i < 200; i++) printf "%d,1,%d\n", i % 2, i % 7 < 3 }' >sure.csv
"$eenet" evaluate csv:sure.csv,action=a,probability=p,reward=r -p uniform,logged -e ips -o sure >/dev/null
"$eenet" report sure >out
like sure/report.html '<p><b>No:</b></p>'
like sure/report.html 'Every propensity is 1: this log has no exploration and cannot evaluate another policy.'

# Beside runs they are a part of the same page.
cp runs/results.jsonl judged/
cp -r runs/curves judged/
"$eenet" report judged >out
diff - out <<'END' || fail "evaluations and runs"
judged/summary.csv
judged/evaluations.csv
judged/figures (5 figures as .svg and .dat)
judged/report.html
END
like judged/report.html '<h2 id="log-1">Evaluation of log.dsjson</h2>' 'id="overview"'

"$eenet" report runs >out
diff - out <<'END'
runs/summary.csv
runs/figures (3 figures as .svg and .dat)
runs/report.html
END
ls runs/figures >figures
printf '%s-synthetic-cosine-arms-3.%s\n' cost dat cost svg exploration dat exploration svg regret dat regret svg | diff - figures || fail "figures"
# The numbers of a line end with the mean regret of the table.
awk '/^# greedy: round, regret so far \(lower is better\), low, high$/ { found = 1; next } NF == 0 { found = 0 } found { round = $1; mean = $2 }
    END { printf "%d %.6f\n", round, mean }' runs/figures/regret-synthetic-cosine-arms-3.dat >last
sed 's/^/50 /' mean | diff - last || fail "the numbers of a figure"

# The same results give the same page at the same moment, wherever it is written, but for the way to the figures.
export SOURCE_DATE_EPOCH=1767225600
"$eenet" report runs >out
"$eenet" report runs -o page.html >out
tail -n 1 out | grep -qx page.html || fail "-o"
sed 's/href="runs\/figures\//href="figures\//' page.html | cmp - runs/report.html
unset SOURCE_DATE_EPOCH
like page.html '>Made 2026-01-01 00:00 UTC by eenet [0-9.]+ on [^<]*[a-z0-9_]+[^<]*\.<'
like page.html 'Run with eenet [0-9.]+ [a-z0-9]+ on [^<]*[0-9] processor'
mkdir -p other && cp -r runs/curves other/ && sed 's/"machine":"[^"]*"/"machine":"an abacus"/' runs/results.jsonl >other/results.jsonl
sed 's/"machine":"[^"]*",//; s/synthetic:cosine/synthetic:old/' runs/results.jsonl >>other/results.jsonl
"$eenet" report other >out
like other/report.html 'Run with eenet [0-9.]+ [a-z0-9]+ on an abacus; eenet [0-9.]+ [a-z0-9]+\.<'

# Links to the figures for papers lead to them from where the page is, whatever the names of the folders.
mkdir -p 'a b/c#d' e
cp -r runs 'a b/c#d/runs 1'
check_links() { # PAGE
    sed -n 's/.*<a href="\([^"#]*\.svg\)">.*/\1/p' "$1" >links
    [ "$(wc -l <links)" = 3 ] || fail "$1: $(wc -l <links) links to figures, not 3"
    while read -r link; do
        target=$(dirname "$1")/$(echo "$link" | sed 's/%20/ /g; s/%23/#/g')
        head -c 4 "$target" | grep -q '<svg' || fail "$1: $link leads nowhere"
    done <links
}
check_links runs/report.html
for page in 'a b/page.html' e/page.html 'a b/c#d/runs 1/figures/page.html' "$PWD/absolute.html"; do
    "$eenet" report 'a b/c#d/runs 1' -o "$page" >out
    check_links "$page"
done

# A caption tells what its figure has: here one policy of one seed is compared with none.
"$eenet" run -d synthetic:inner -p linucb -T 50 -s 0 -o lone >/dev/null
"$eenet" report lone >out
has lone/report.html '<figcaption>Regret so far, on one seed (lower is better). For papers'
like runs/report.html '<figcaption>Mean regret so far, over the seeds .*; the bands .* Lower chart: difference from the reference, enlarged\.'

# Another reference gives another page; it may be a variant, as the page names it.
"$eenet" report runs --reference greedy -o other.html >out
like other.html 'Differences are from greedy'
"$eenet" run -d synthetic:cosine,arms=3 -p linucb -T 50 -s 0-1 -o variants >/dev/null
"$eenet" run -d synthetic:cosine,arms=3 -p linucb -T 50 -s 0-1 --set linucb.alpha=0.5 -o variants >/dev/null
"$eenet" report variants --reference 'linucb alpha=0.5' -o other.html >out
like other.html 'Differences are from linucb alpha=0.5\.'
refuse_like 1 ".*'linucb alpha=7'.*have linucb alpha=[0-9.]*, linucb alpha=0.5" report variants --reference 'linucb alpha=7'

# A page that cannot be written is named, not a draft of it.
mkdir page.d
ends_with 1 "$eenet" report runs -o page.d
has_line stderr 'eenet report: file: could not replace page.d: Is a directory'

# What a run has not yet ended, or half written, is left out.
printf '{"dataset":"synth' >>runs/results.jsonl
"$eenet" report runs -o page.html >out
like page.html 'seeds 0-1'

# Runs with different delays are groups of their own, with their delay, and the commands have it too; the room for the
# decisions that wait is no setting of its own.
for delay in 0 1 geometric:100 clicks:2.50,2000; do
    "$eenet" run -d synthetic:cosine,arms=3 -p greedy,eenet -T 50 -s 0-1 --delay $delay -o late >/dev/null
done
"$eenet" report late >out
sed -n '2,$ s/^"synthetic:cosine,arms=3",0*,20,3,50,\(.*\),main,\([a-z]*\),[a-z]*,2,.*/\1 \2/p' late/summary.csv >groups
printf '%s\n' '0 greedy' '0 eenet' '1 greedy' '1 eenet' 'geometric:100 greedy' 'geometric:100 eenet' \
    '"clicks:2.5,2000" greedy' '"clicks:2.5,2000" eenet' | diff - groups || fail "groups by delay"
sed -n 's/.*<h2 id="synthetic[^>]*>\(.*\)<\/h2>/\1/p; s/.*<p class="facts">\(.*\)<\/p>/\1/p' late/report.html >heads
diff - heads <<'END' || fail "heads by delay"
synthetic:cosine
50 rounds of 3 arms with 20 features each; seeds 0-1
synthetic:cosine, delay 1
50 rounds of 3 arms with 20 features each; each reward arrives 1 round after its decision; seeds 0-1
synthetic:cosine, delay geometric:100
50 rounds of 3 arms with 20 features each; each reward arrives a random number of rounds after its decision (geometric, mean 100); seeds 0-1
synthetic:cosine, delay clicks:2.5,2000
50 rounds of 3 arms with 20 features each; a reward above 0 arrives a random number of rounds after its decision (geometric, mean 2.5, below 2000); all others arrive as 0 after 2000 rounds; seeds 0-1
END
sed -n 's/^\(<pre>\)*\(eenet run\)/\2/p' late/report.html >commands
diff - commands <<'END' || fail "commands by delay"
eenet run -d synthetic:cosine,arms=3 -p greedy,eenet -T 50 -s 0-1 -o DIR
eenet run -d synthetic:cosine,arms=3 -p greedy,eenet -T 50 -s 0-1 --delay 1 -o DIR
eenet run -d synthetic:cosine,arms=3 -p greedy,eenet -T 50 -s 0-1 --delay geometric:100 -o DIR
eenet run -d synthetic:cosine,arms=3 -p greedy,eenet -T 50 -s 0-1 --delay clicks:2.5,2000 -o DIR
END

# Rounds with several slots are groups of their own, with the regret of each slot.
"$eenet" run -d synthetic:cosine,arms=4 -p uniform,eenet -T 50 -s 0-1 -o slots >/dev/null
"$eenet" run -d synthetic:cosine,arms=4 -p uniform,eenet -T 50 -s 0-1 --slots 2 -o slots >/dev/null
"$eenet" report slots >out
[ "$(grep -c ',2$' slots/summary.csv)" = 2 ] && [ "$(grep -c ',1$' slots/summary.csv)" = 2 ] || fail "groups by slots"
like slots/report.html '<h2 id="[^"]*">synthetic:cosine, 2 slots</h2>'
like slots/report.html 'each round fills 2 slots with different arms; seeds 0-1'
[ "$(grep -c '<h3>Regret per slot</h3>' slots/report.html)" = 1 ] || fail "slot by slot"
grep -q '^\(<pre>\)*eenet run -d synthetic:cosine,arms=4 -p uniform,eenet -T 50 -s 0-1 --slots 2 -o DIR' slots/report.html || fail "commands by slots"

# A file by its name, with the whole specification where it is asked for; how often the best arm was chosen.
mkdir "bob's data"
awk 'BEGIN { print "age,answer"; for (i = 0; i < 90; i++) printf "%d,%s\n", i % 3, substr("abc", i % 3 + 1, 1) }' >"bob's data/people.csv"
"$eenet" run -d "table:bob's data/people.csv,label=answer" -p uniform,linucb -T 90 -s 0-1 --set linucb.alpha=0.5 -o table >/dev/null
"$eenet" report table >out
like table/report.html '<h2 id="table-people-label-answer">people</h2>' \
    '^<p class="headline"><b>linucb</b> leads on people with mean regret ' '^<p>linucb chose the best arm in [0-9.]+% of the rounds; uniform [0-9.]+%\.</p>$'
like table/report.html '<a href="#table-people-label-answer">table:people,label=answer</a></th>'

# The printed commands run as they are, and give the same regrets. In results of an earlier version the path is missing.
sed -n '/id="reproduce"/,$s/^\(<pre>\)*\(eenet run\|  --set\)/\2/p' table/report.html | sed -e "s/&#39;/'/g" -e 's/&amp;/\&/g' >commands
[ "$(grep -c '^eenet run' commands)" = 2 ] || fail "commands of a file: $(cat commands)"
mkdir -p bin && ln -sf "$eenet" bin/eenet
PATH=$PWD/bin:$PATH sh -eu commands >/dev/null || fail "the printed commands fail: $(cat commands)"
regrets() { sed 's/.*"policy":"\([^"]*\)".*"seed":\([0-9]*\).*"regret":\([^,]*\),.*/\1 \2 \3/' "$1/results.jsonl" | sort; }
[ "$(regrets DIR)" = "$(regrets table)" ] && [ "$(regrets DIR | wc -l)" = 4 ] || fail "other regrets: $(regrets DIR)"
like table/report.html 'Paths of data sets are as they were given'
! grep -q '<code>PATH</code>' table/report.html || fail "PATH without need"
sed -i 's/"source":"[^"]*",//' table/results.jsonl
"$eenet" report table >out
like table/report.html 'eenet run -d table:PATH,label=answer -p uniform -T 90 -s 0-1 -o DIR' 'Replace <code>PATH</code>'

# Results are UTF-8: a folder whose name is not leaves the path out.
odd=$(printf 'odd\377')
mkdir "$odd"
cp "bob's data/people.csv" "$odd"
"$eenet" run -d "table:$odd/people.csv,label=answer" -p uniform -T 90 -s 0 -o bytes >/dev/null
"$eenet" report bytes >out
like bytes/report.html 'eenet run -d table:PATH,label=answer'

# Words from outside do no harm in the page.
"$eenet" run -d synthetic:inner -p greedy -T 20 -s 0-1 -o odd >/dev/null
sed -i 's/"dataset":"[^"]*"/"dataset":"<img src=x onerror=1>\x27q\x27"/' odd/results.jsonl
"$eenet" report odd >out
! grep -q '<img' odd/report.html odd/figures/*.svg || fail "markup from a name"
like odd/report.html '&lt;img src=x'

# The headline, and the warning once; tests/unit/lab/report/test_report.c has their words.
"$eenet" run -d synthetic:inner -p uniform,eenet,linucb -T 300 -s 0-2 -o three >/dev/null
"$eenet" report three >out
like three/report.html '^<p class="headline"><b>[a-z]+</b> leads on synthetic:inner with mean regret [0-9.]+: [0-9.]+ \([0-9.]+%\) lower than [a-z]+ \(not tested\)\.</p>$'
[ "$(grep -c 'Too few seeds to test for significance:' three/report.html)" = 1 ] || fail "the warning is not said once"
! grep -q 'chose the best arm in' three/report.html || fail "rewards that are not right or wrong"
! grep -q '≈ 1\.000' three/report.html || fail "a p where no test is possible"
