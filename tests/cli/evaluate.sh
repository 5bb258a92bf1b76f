#!/bin/sh
# evaluate.sh PROGRAM: what candidates would have earned, to the letter; what is kept, and what is refused.
. "$(dirname "$0")/cli.inc"

# A log of 600 events: three users, three items; the log shows the first item in 80%, and what a user likes is known.
# The proportions are exact, the order is random. make SCALE: with probabilities that are off by it.
make() {
    awk -v scale="$1" 'BEGIN {
        split("free paid trial", users); split("news sport shop", items)
        for (t = 0; t < 600; t++) order[t] = t
        for (t = 599; t > 0; t--) {
            drawn = (drawn * 16807 + 11) % 2147483647; i = drawn % (t + 1)
            kept = order[t]; order[t] = order[i]; order[i] = kept
        }
        for (t = 0; t < 600; t++) {
            u = order[t] % 3 + 1; k = int(order[t] / 3) % 10; a = k < 8 ? 1 : k - 6
            p = (a == 1 ? 0.8 : 0.1) * scale
            b = a % 3 + 1; c = b % 3 + 1
            printf "{\"_label_cost\":%s,\"_label_probability\":%g,\"_label_Action\":%d,\"_labelIndex\":%d,", \
                a == u ? "-1.0" : "0.0", p, a, a - 1
            printf "\"Timestamp\":\"2026-05-%02dT12:00:00.0000000Z\",\"EventId\":\"e%d\",", 1 + int(t / 30), t
            printf "\"a\":[%d,%d,%d],\"p\":[%g,%g,%g],", a, b, c, p, \
                (b == 1 ? 0.8 : 0.1) * scale, (c == 1 ? 0.8 : 0.1) * scale
            printf "\"c\":{\"User\":{\"plan\":\"%s\"},\"_multi\":[", users[u]
            for (i = 1; i <= 3; i++)
                printf "%s{\"_tag\":\"%s\",\"Item\":{\"id\":\"%s\"}}", (i > 1 ? "," : ""), items[i], items[i]
            print "]}}"
        }
    }'
}
make 1 >log.dsjson
make 0.5 >wrong.dsjson

# The table, and the sentences.
export COLUMNS=100
"$eenet" evaluate log.dsjson -p uniform,first,arm:shop,logged -e ips,snips -j 2 >table 2>stderr
test ! -s stderr || fail "words on stderr, which is no terminal: $(cat stderr)"
cat >expected <<'EOF'
log.dsjson: 600 events
The logging policy earned 0.3333 per event (95% interval: 0.2609 to 0.4057).

EOF
head -n 3 table | diff expected - || fail "the head"
like table '^  candidate  estimator   value      95% interval  difference        95% interval  percent$'
like table '^. uniform +ips +0\.3333 ' "^  logged +ips +0\.3333 .* \+0\.0000 .* \+0\.0%$"
like table "^logged is the logging policy; it earned 0.3333 per event\.$"
sed -n '4,12p' table | awk '{ print length }' | sort -u | wc -l | grep -qx 1 || fail "ragged table: $(cat table)"

# A policy that learns finds what users like.
"$eenet" evaluate log.dsjson -p linucb,uniform --model ridge >table
like table "^\* linucb +dr +0\.[6-9]"
like table '^linucb would have earned [0-9]+% more than the logging policy \(DR, 95% interval: [0-9]+% to [0-9]+%\)\.$'

# Wrong probabilities: nothing sounds sure.
"$eenet" evaluate wrong.dsjson -p uniform -e ips >table
cat >expected <<'EOF'
  ! The log's propensities look wrong: the weights of random choices average 2.00; expected 1.00. No
    estimate from this log is reliable. Check that each event has the probability of the action that
    was shown, as computed by the policy that chose it.
  ! In 100% of the events the action probabilities do not sum to 1; the largest error is 0.5.
EOF
sed -n '3,6p' table | diff expected - || fail "wrong probabilities"
tail -n 1 table | grep -qx "This log cannot show what uniform would have earned." || fail "$(cat table)"

# The log's policy earned nothing; as its true reward may be a little above that, a candidate may be a little worse.
sed 's/"_label_cost":-1.0/"_label_cost":0.0/' log.dsjson >zero.dsjson
"$eenet" evaluate zero.dsjson -p uniform -e ips --json | grep -q '"gain_low":-0\.0' || fail "less than nothing"

# The same numbers whatever the threads, the form of the log and the way in.
values() { grep -oE '"(candidate|value|low|high|gain)":[^,}]*'; }
"$eenet" evaluate log.dsjson -p eenet,linucb,uniform --json -j 1 | values >expected
test "$(wc -l <expected)" = 27 || fail "lines of JSON: $(cat expected)"
"$eenet" evaluate log.dsjson -p eenet,linucb,uniform --json -j 3 | values | diff expected - || fail "threads"
gzip -k log.dsjson
"$eenet" evaluate log.dsjson.gz -p eenet,linucb,uniform --json | values | diff expected - || fail "gzip"
"$eenet" evaluate - -p uniform,arm:1,first --json -e ips,snips <log.dsjson | values >piped
"$eenet" evaluate log.dsjson -p uniform,arm:sport,first --json -e ips,snips | values | sed 's/arm:sport/arm:1/' |
    diff piped - || fail "standard input"

# Modes.
begins 'log.dsjson: 200 events, after 400 used for learning' evaluate log.dsjson -p linucb -m split=400 -e snips
begins 'log.dsjson: 450 events, after 150 used for learning' evaluate log.dsjson -p linucb -m split=0.25 -e snips
"$eenet" evaluate log.dsjson -p linucb -m cross=3 -e dr --model ridge | grep -Eq "^  linucb +dr +(0\.9|1\.0)" || fail "cross"
begins 'log.dsjson: 300 events' evaluate log.dsjson --from 2026-05-11 -p uniform -e ips

# Lines that are no events are counted and passed over; with --strict they are refused.
(head -n 100 log.dsjson; echo '{"broken":'; echo '{"RewardValue":1}'; tail -n 500 log.dsjson) >broken.dsjson
begins "broken.dsjson: 600 events, 2 lines skipped ('eenet log' lists them)" evaluate broken.dsjson -p uniform -e ips
ends_with 1 "$eenet" evaluate broken.dsjson --strict -p uniform -e ips
like stderr 'line 101'

# -o: the same command again plays nothing, and says the same.
"$eenet" evaluate log.dsjson -p linucb,uniform -o kept >first
test "$(wc -l <kept/evaluations.jsonl)" = 2 || fail "lines in the folder"
cp kept/evaluations.jsonl before
"$eenet" evaluate log.dsjson -p linucb,uniform -o kept >again
diff first again || fail "again: another table"
cmp kept/evaluations.jsonl before || fail "again: the folder has changed"
tail -n 1 first | grep -qx "The evaluations are in kept. For an HTML report: eenet report kept" || fail "$(tail -n 1 first)"
"$eenet" evaluate log.dsjson -p linucb,uniform,first -o kept >again
test "$(wc -l <kept/evaluations.jsonl)" = 3 || fail "one more candidate"
"$eenet" evaluate log.dsjson -p linucb --set linucb.alpha=0.5 -o kept >again
test "$(wc -l <kept/evaluations.jsonl)" = 4 || fail "another option"

# --warm leaves the winner, or the one named, trained.
"$eenet" evaluate log.dsjson -p linucb,uniform -e snips --warm best.ee >table
tail -n 1 table | grep -qx 'Saved linucb, trained on the whole log, to best.ee.' || fail "--warm: $(tail -n 1 table)"
"$eenet" evaluate log.dsjson -p model:best.ee,uniform -e snips | grep -Eq '^\* model:best.ee +snips +1\.0000 ' || fail "the warm model"
"$eenet" evaluate log.dsjson -p linucb,greedy -e snips --warm greedy=named.ee | tail -n 1 |
    grep -qx 'Saved greedy, trained on the whole log, to named.ee.' || fail "--warm greedy"

# On a terminal a line shows the progress, also of the training, and is cleared.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    script -qec "'$eenet' evaluate log.dsjson -p greedy --warm seen.ee >table" /dev/null </dev/null >screen
    like screen '[0-9]+ events, [0-9]+% of the log' 'training: [0-9]+ events, [0-9]+% of the log'
    tail -c 4 screen | grep -q '\[K' || fail "the progress is not cleared"
fi

# CSV by standard input: nothing of it is lost before it is read.
awk 'BEGIN { print "action,probability,reward"; for (i = 0; i < 30000; i++) printf "%d,0.5,%d\n", i % 2, i % 3 == 0 }' |
    begins 'csv:-,actions=2: 30000 events' evaluate csv:-,actions=2 -p uniform --model ridge

# The summary says which lines were skipped, that a log has no exploration, and how its columns are used.
awk 'BEGIN { print "action,probability,reward,plan"; for (i = 0; i < 200; i++) printf "%d,1,%s,p\n", i % 2, i % 10 ? 0 : "" }' >plain.csv
"$eenet" evaluate plain.csv -p uniform -e ips >table
sentences=$(tr -s ' \n' ' ' <table)
for sentence in "! Every propensity is 1: this log has no exploration and cannot evaluate another policy." \
    "! 10% of the lines were skipped; first: line 2: expected a number for the reward, got ''; if empty means no reward, write 0." \
    "Columns: action (2 names), probability, reward; context: plan. Change with context=COLUMN+COLUMN or ignore=COLUMN."; do
    echo "$sentences" | grep -qF -e "$sentence" || fail "no '$sentence': $(cat table)"
done
like table '^This log cannot show what uniform would have earned.$'

refuse 2 "expected a log: a file, '-', csv:FILE,..., vw:FILE,... or open-bandit:DIR" evaluate -p uniform
refuse 2 "expected one log, got 'more' too" evaluate log.dsjson more -p uniform
refuse 2 'expected candidates: -p CANDIDATE[,CANDIDATE...]' evaluate log.dsjson
refuse 2 "unknown candidate 'uniforn'; did you mean 'uniform'?" evaluate log.dsjson -p uniforn
refuse 2 "unknown candidate 'sofa'; to always choose the action 'sofa', write arm:sofa" evaluate log.dsjson -p sofa
refuse 1 "file: could not open log.csv,action=a: No such file or directory; did you mean csv:log.csv,action=a?" evaluate log.csv,action=a -p first
refuse 2 "'first' is given twice" evaluate log.dsjson -p first,first
refuse 2 "unknown estimator 'drr'; 'eenet help evaluate' lists them" evaluate log.dsjson -p first -e dr,drr
refuse 2 "--estimator: 'dr' is given twice" evaluate log.dsjson -p first -e dr,ips,dr
refuse 1 "arm:shep: no event has an action 'shep'; 'eenet log' lists them" evaluate log.dsjson -p arm:shep -e ips
refuse 1 "arm:3: no event has an action '3'; 'eenet log' lists them" evaluate log.dsjson -p arm:3 -e ips
refuse 2 "--warm linubc=x.ee: 'linubc' is not among the candidates of -p" evaluate log.dsjson -p linucb --warm linubc=x.ee
refuse 2 "training the winner reads the log again, but this log can be read only once; write it to a file first" evaluate - -p linucb --warm x.ee
refuse 1 "file: could not create missing/x.ee: No such file or directory" evaluate log.dsjson -p linucb --warm missing/x.ee
refuse 2 "unknown interval 'sc'; 'eenet help evaluate' lists them" evaluate log.dsjson -p first -i sc
refuse 2 "--mode: expected progressive, split[=SHARE or EVENTS] or cross[=FOLDS, 2 to 100], got 'cross=1'" evaluate log.dsjson -p first -m cross=1
refuse 2 "--rewards: expected LOW:HIGH, such as 0:1, got '1:0'" evaluate log.dsjson -p first --rewards 1:0
refuse 2 "options: features has no option 'product'; did you mean 'products'?" evaluate log.dsjson -p first --features product=none
refuse 2 "--model: expected f1 or ridge, got 'f2'" evaluate log.dsjson -p first --model f2
refuse 2 "--set eenet.f1.width=5: 'eenet' is not among the candidates of -p" evaluate log.dsjson -p first --set eenet.f1.width=5
refuse 1 'line 15: reward 1 is outside [0, 0.5]; set the possible range with --rewards LOW:HIGH' evaluate log.dsjson -p first -e ips --rewards 0:0.5
refuse 2 '--judge-from needs --mode progressive' evaluate log.dsjson -p first --judge-from 2020-01-01 --mode split
refuse 2 "--judge-from: expected a time such as 2021-05-18 or 2021-05-18T13:28:29Z, got 'soon'" evaluate log.dsjson -p first --judge-from soon
refuse 1 'line 1: probability 0.1 is below --least-probability 0.2' evaluate log.dsjson -p first -e ips --least-probability 0.2
refuse 2 'cross-fitting reads the log twice, but this log can be read only once; write it to a file first' evaluate - -p linucb -m cross
refuse 1 'file:few.csv: file: could not open few.csv: No such file or directory' evaluate log.dsjson -p file:few.csv -e ips
printf '0.5,0.5,0\n' >few.csv
refuse 1 "file:few.csv: few.csv has no column names, but the log's actions do (such as 'news'); write CSV with a header of action names" evaluate log.dsjson -p file:few.csv -e ips
printf 'shop,news,sport\n0.5,0.5,0\n' >few.csv
refuse 1 'file:few.csv: few.csv, row 2: missing; the log has more events than the file has rows' evaluate log.dsjson -p file:few.csv -e ips
printf 'shop,news,spotr\n0.5,0.5,0\n' >few.csv
refuse 1 "file:few.csv: few.csv has no column for action 'sport' (line 1 of the log); its columns include 'news'" evaluate log.dsjson -p file:few.csv -e ips

# Columns in another order than the log's actions: the same numbers as arm:shop.
{ echo shop,news,sport; yes 1,0,0 | head -n 600; } >shop.csv
"$eenet" evaluate log.dsjson -p file:shop.csv,arm:shop -e ips,snips --json | sed 's/.*"estimators":\(\[[^]]*]\).*/\1/' >both
[ "$(wc -l <both)" = 2 ] && [ "$(uniq both | wc -l)" = 1 ] || fail "columns by name: $(cat both)"
printf '{"RewardValue":1}\n' >foreign.dsjson
refuse 1 'the log has no events to evaluate: line 1: a reward without its decision' evaluate foreign.dsjson -p uniform -e ips
printf '%s' '{"_label_cost":-1,"_outcomes":[{"_a":[1,0],"_p":[0.5,0.5]},{"_a":[0],"_p":[1]}],' \
    '"c":{"_multi":[{"f":1,"_slot_id":0},{"f":2,"_slot_id":0},{"f":3,"_slot_id":1}]}}' >slate.dsjson
refuse 1 'the log has no events to evaluate: line 1: a slate (one reward for all slots); evaluate its first slot: uniform, first, arm:NAME or file:FILE with ips or snips' evaluate slate.dsjson -p linucb
refuse 1 'the log has no events to evaluate: all of them are used for learning' evaluate log.dsjson -p uniform -e ips -m split=1000
refuse 1 'the log has no events to evaluate: all are outside the requested time' evaluate log.dsjson -p uniform -e ips --from 2027-01-01
refuse 1 'the log has no events to evaluate' evaluate /dev/null -p uniform -e ips

# Slots: each by itself and all together; first looks at the first alone.
awk 'BEGIN { for (t = 0; t < 40; t++) {
    a = t % 3; b = (t + 1 + t % 2) % 3; c = 3 - a - b
    printf "{\"EventId\":\"s%d\",\"_outcomes\":[{\"_label_cost\":%d,\"_id\":\"top\",\"_a\":[%d,%d,%d],\"_p\":[%s]},", \
        t, -(a == 1), a, b, c, "0.3333333333333333,0.3333333333333333,0.3333333333333333"
    printf "{\"_label_cost\":%d,\"_id\":\"side\",\"_a\":[%d,%d],\"_p\":[0.5,0.5]}],", -(b == 2), b, c
    print "\"c\":{\"_multi\":[{\"f\":1},{\"f\":2},{\"f\":3}],\"_slots\":[{\"at\":\"top\"},{\"at\":\"side\"}]}}" } }' >slots.dsjson
"$eenet" evaluate slots.dsjson -p uniform,linucb -e ips >table
head -n 1 table | grep -qx 'slots.dsjson: 40 events with 80 slots' || fail "slots: $(head -n 1 table)"
like table '^    slot 1, top   *ips  *0.3250 ' '^    slot 2, side  *ips  *0.32'
for how in cascade whole own; do
    "$eenet" evaluate slots.dsjson -p linucb -e ips --slots $how --json | grep -q '"slots":\[{"id":"top","events":40,' || fail "--slots $how"
done
begins 'slots.dsjson: 40 events' evaluate slots.dsjson -p linucb -e ips --slots first
"$eenet" evaluate slots.dsjson -p uniform,first -e ips -o paged >/dev/null
"$eenet" report paged >/dev/null
like paged/report.html '40 events with 80 slots; the logging policy earned 0.3'
[ "$(grep -c '<tr[^>]*><th scope="row">slot [12], [a-z]*</th><td>' paged/report.html)" = 4 ] || fail "a row a slot on the page"
refuse 2 "--slots: expected cascade, whole, own or first, got 'all'" evaluate slots.dsjson -p uniform --slots all

# The Pareto front: refunds come with the first item only, and nobody pays for the others.
sed 's/"_label_Action":1,/&"_metrics":{"refund":1},/; t; s/"_label_Action"/"_metrics":{"refund":0},&/' log.dsjson >metrics.dsjson
fronts="linucb {\"front\":true}
arm:news {\"front\":false,\"beaten_by\":\"linucb\",\"separated\":true}"
"$eenet" evaluate metrics.dsjson -p linucb,arm:news -e snips -i normal --metrics -refund --json >lines
sed 's/.*"candidate":"\([^"]*\)".*"pareto":\({[^}]*}\).*/\1 \2/' lines >stdout
[ "$(cat stdout)" = "$fronts" ] || fail "--json: the Pareto front: $(cat stdout)"
"$eenet" evaluate metrics.dsjson -p linucb,arm:news -e snips -i normal --metrics -refund -o fronts >table
grep -Eq '^  linucb .* yes$' table && grep -Eq '^  arm:news .* linucb is better$' table || fail "the Pareto front: $(cat table)"
grep -q pareto fronts/evaluations.jsonl && fail "the front of this call is stored"
"$eenet" report fronts >/dev/null
like fronts/report.html '<td>linucb is better</td>'

# Ctrl-C: what is missing is named.
mkfifo pipe
awk 'BEGIN { for (t = 0;; t++) printf "{\"_label_cost\":0,\"EventId\":\"e%d\",\"a\":[1,2],\"p\":[0.5,0.5],\"c\":{}}\n", t }' >pipe 2>/dev/null &
start evaluate - -p uniform,first -e ips -o busy <pipe >stdout 2>stderr
await "the folder" test -e busy/evaluations.jsonl
await_handler "$pid"
interrupt
has_line stderr 'eenet evaluate: interrupted; missing: uniform, first; the same command resumes it'
test ! -s stdout || fail "a table of nothing"
