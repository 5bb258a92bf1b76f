#!/bin/sh
# log.sh PROGRAM: what a log holds, in words and as JSON; logs in other forms; runs that write one.
. "$(dirname "$0")/cli.inc"

event() { # event ID DAY COST ACTION PROBABILITIES: actions in the order 2, 1
    printf '{"_label_cost":%s,"_labelIndex":%s,"EventId":"%s","Timestamp":"2021-05-%sT00:00:00Z","a":[2,1],"p":[%s],' \
        "$3" "$4" "$1" "$2" "$5"
    printf '"c":{"User":{"age":3},"_multi":[{"_tag":"Mocha"},{"_tag":"Latte"}]}}\n'
}
{
    event a 01 -1 1 0.75,0.25
    event b 02 -0.0 0 0.75,0.25
    echo '[CHECKPOINT INFO LINE]'
    event c 02 -0.5 1 0.5,0.5
    event a 03 -1 1 0.75,0.25
    event d 09 -1 1 0,1
    event e 09 -1 1 1,0
    echo '{"EventId":"f","RewardValue":1}'
    printf '{"_label_cost":-1,"a":[1'
} >log.dsjson

# The summary, exactly.
"$eenet" log log.dsjson >said 2>stderr || fail "$(cat stderr)"
test ! -s stderr || fail "words on stderr, which is no terminal: $(cat stderr)"
diff - said <<'END' || fail "another summary"
log.dsjson: 9 lines, 4 events, 1 repeated, 2 foreign, 1 invalid, 1 broken
  line 3: a checkpoint
  line 5: duplicate event id a
  line 6: the probability of the chosen action must be above 0 and at most 1, got 0
  line 8: a reward without its decision
  line 9: the log ends inside this line

  times          2021-05-01 00:00:00 to 2021-05-09 00:00:00
  longest gaps   7.0 days after 2021-05-02 00:00:00
                 24.0 hours after 2021-05-01 00:00:00
  rewards        mean 0.625, 0 to 1, 75.0% are not 0
  probabilities  of the chosen action: mean 0.625, minimum 0.25, 10th percentile 0.25, median 0.5
  support        every action was possible in 75.0% of the events; minimum probability 0
  actions        2 per event

  action    chosen   share     reward  probability
  Latte          3   75.0%     0.8333         0.75
  Mocha          1   25.0%          0         0.25
END

# As JSON; from standard input; packed.
"$eenet" log --json - <log.dsjson >json
grep -q '^{"log":"-","lines":9,"events":4,"skipped":0,"outside":0,"repeated":1,"foreign":2,"invalid":1,"broken":1,' json ||
    fail "$(cat json)"
like json '"first":"2021-05-01T00:00:00.0000000Z","last":"2021-05-09T00:00:00.0000000Z"'
gzip -k log.dsjson
"$eenet" log --json - <log.dsjson.gz | cmp - json

# A time, and a share that is the same each time.
begins 'log.dsjson: 9 lines, 2 events, 3 outside the time range, 2 foreign, 1 invalid, 1 broken' \
    log log.dsjson --from 2021-05-02 --until 2021-05-03T00:00:00Z
awk 'BEGIN { for (i = 0; i < 2000; i++) printf "{\"_label_cost\":-%d,\"EventId\":\"%d\",\"a\":[1,2],\"p\":[0.5,0.5]}\n", i % 2, i }' >many.dsjson
"$eenet" log many.dsjson --sample 0.25 -o some.csv 2>stderr
"$eenet" log many.dsjson --sample 0.25 -o again.csv 2>again
cmp some.csv again.csv
kept=$(($(wc -l <some.csv) - 1))
case $kept in 4[3-9]? | 5[0-6]?) ;; *) fail "a quarter of 2000 is $kept" ;; esac
test "$(cat stderr)" = "eenet log: some.csv: $kept events of 2000 lines" || fail "$(cat stderr)"
"$eenet" log many.dsjson --sample 0.25 -s 1 -o again.csv 2>again
! cmp -s some.csv again.csv || fail "another seed, the same sample"

# Names of letters beyond ASCII stand in their columns; what would move the cursor does not; a cut id stays UTF-8.
long=$(printf '\303\251%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
for id in "x$long" "x$long"; do
    printf '{"_label_cost":0,"EventId":"%s\\n","a":[1,2],"p":[1,0],"c":{"_multi":[{"_tag":"caf\303\251 \\u001b[1m"},{}]}}\n' "$id"
done >names.dsjson
"$eenet" log names.dsjson >said
tail -n 1 said | grep -q '^  café ?\[1m         1  100.0%          0            1$' || fail "$(cat said)"
sed -n 2p said | grep -q '^  line 2: duplicate event id x.*?$' || fail "$(cat said)"
iconv -f UTF-8 -t UTF-8 said >/dev/null || fail "no UTF-8: $(cat said)"

# There and back: the second dsjson is the first, to the last byte.
"$eenet" log log.dsjson -o one.dsjson 2>stderr
"$eenet" log one.dsjson -o two.eelog.zst 2>stderr
"$eenet" log two.eelog.zst -o three.json.gz 2>stderr
"$eenet" log three.json.gz -o - 2>stderr | cmp - one.dsjson
test "$(cat stderr)" = "eenet log: -: 4 events of 4 lines" || fail "$(cat stderr)"
"$eenet" log two.eelog.zst -o four.csv 2>stderr
"$eenet" log csv:four.csv | sed -n '/rewards/,/^$/p' >said
like said '  rewards        mean 0.625, 0 to 1, 75.0% are not 0'

# Observations.
echo '{"_label_cost":-9,"o":[{"v":1},{"v":3},{"v":2}],"a":[1],"p":[1]}' >observed.dsjson
for way in label:9 first:1 last:2 sum:6 mean:2 max:3; do
    "$eenet" log observed.dsjson --reward "${way%:*}" | grep -q "rewards *mean ${way#*:}, " || fail "--reward $way"
done

refuse 2 "expected a log: a file, '-', csv:FILE,..., vw:FILE,... or open-bandit:DIR" log
refuse 2 "expected one log, got 'b' too" log a b
refuse 1 "file: could not open nowhere: No such file or directory" log nowhere
refuse 1 "log: expected a file name after 'csv:'" log csv:,action=a
refuse 1 "log: expected a folder after 'open-bandit:'" log open-bandit:
refuse 1 "log: expected a file name" log ''
printf 'action\000,reward\n' >zero.csv
refuse 1 "zero.csv, line 1: expected UTF-8 text (export a spreadsheet as CSV first), got a zero byte in field 1" log zero.csv
refuse 1 "log.dsjson, line 3: a checkpoint" log --strict log.dsjson
refuse 1 "log.dsjson, line 3: a checkpoint" log --strict log.dsjson -o new.dsjson
refuse 2 "log: the file name must end in .dsjson, .json, .eelog or .csv (optional: .gz or .zst after it), got 'new.txt'" \
    log log.dsjson -o new.txt
refuse 2 "--from: expected a time such as 2021-05-18 or 2021-05-18T13:28:29Z, got 'May'" log log.dsjson --from May
refuse 2 "--sample: expected a number from 0 to 1, got '2'" log log.dsjson --sample 2
refuse 2 "--seed needs --sample" log log.dsjson -s 1
refuse 2 "--reward: expected label, first, last, sum, mean or max, got 'avg'" log log.dsjson --reward avg
refuse 2 "--default-reward needs --reward first, last, sum, mean or max" log log.dsjson --default-reward 1
refuse 2 "--json prints the summary; leave out -o" log log.dsjson --json -o new.csv
refuse 2 "standard input: a stream cannot be read twice; add actions=NUMBER or actions=NAME+...; the columns are: action, p, reward" log csv:- <<X
action,p,reward
0,1,1
X
printf 'action,p,reward\n0,1,1\n' | begins 'csv:-,actions=2: 2 lines, 1 events' log csv:-,actions=2
refuse 2 "some.csv: there is no column 'odds' (option probability=); the columns are: id, time, count, action, name, probability, reward, copies, skipped" \
    log csv:some.csv,probability=odds

# What a run did. Its rewards are those that the run counts, its arms those that it met, and nothing else changes.
run() { "$eenet" run -d synthetic:cosine -T 300 -s 4 --json "$@" | grep -o '"regret":[^,]*,"reward":[^,]*'; }
run -p linucb --set linucb.propensity=softmax >plain
run -p linucb --set linucb.propensity=softmax --log run.eelog >logged
cmp plain logged
reward=$(sed 's/.*"reward"://' plain)
"$eenet" log --json run.eelog >json
like json '"lines":300,"events":300,.*"known":300,.*"wrong_sums":0,'
mean=$(sed 's/.*"rewards":{"count":300,"mean":\([^,]*\),.*/\1/' json)
awk -v mean="$mean" -v reward="$reward" 'BEGIN { d = mean * 300 - reward; exit !(d < 1e-6 && d > -1e-6) }' ||
    fail "a mean reward of $mean, where the run has $reward in all"
run -p linucb --set linucb.propensity=softmax --log run.dsjson.gz >logged
"$eenet" log run.eelog -o run.dsjson 2>stderr
gzip -dc run.dsjson.gz | cmp - run.dsjson
like run.dsjson '"EventId":"4-300"'
refuse 2 "--log records one run: expected one data set, one policy and one seed (-s 0), got 2 runs" \
    run -d synthetic:cosine -p uniform -s 0-1 -T 5 --log new.csv
refuse 2 "give --log or -o, not both" \
    run -d synthetic:cosine -p uniform -s 0 -T 5 --log new.csv -o kept
refuse 1 "synthetic:cosine, lints, seed 0: log: lints has no exact probabilities; set its option 'probability_draws' to estimate them" \
    run -d synthetic:cosine -p lints -s 0 -T 5 --log new.csv

# Ctrl-C leaves nothing.
start run -d synthetic:inner,dim=1,arms=2 -p uniform -s 0 -T 1000000000 --log cut.dsjson >stdout 2>stderr
plays() { [ -n "$(find . -name 'cut.dsjson.*' -size +0)" ]; }
await "lines of the log" plays
await_handler "$pid"
interrupt
test -z "$(ls cut* 2>/dev/null)" || fail "Ctrl-C leaves $(ls cut*)"
