#!/bin/sh
# vw.sh PROGRAM: logs in Vowpal Wabbit's text format give the numbers of the same log as dsjson.
. "$(dirname "$0")/cli.inc"

# The same 600 events in both formats: make vw, make dsjson.
make() {
    awk -v form="$1" 'BEGIN {
        split("free paid trial", users); split("news sport shop", items)
        for (t = 0; t < 600; t++) {
            u = t % 3 + 1; k = int(t / 3) % 10; a = k < 8 ? 1 : k - 6; p = a == 1 ? 0.8 : 0.1; cost = a == u ? -1 : 0
            if (form == "vw") {
                printf "shared |User plan=%s age:%d.5\n", users[u], 20 + t % 7
                for (i = 1; i <= 3; i++) {
                    if (i == a) printf "0:%d:%g ", cost, p
                    printf "%c%s|Item id=%s\n", 39, items[i], items[i]
                }
                print ""
                continue
            }
            printf "{\"_label_cost\":%d,\"_label_probability\":%g,\"_label_Action\":%d,\"_labelIndex\":%d,", cost, p, a, a - 1
            printf "\"a\":[%d,%d,%d],\"c\":{", a, a % 3 + 1, (a + 1) % 3 + 1
            printf "\"User\":{\"plan=%s\":true,\"age\":%d.5},\"_multi\":[", users[u], 20 + t % 7
            for (i = 1; i <= 3; i++)
                printf "%s{\"_tag\":\"%s\",\"Item\":{\"id=%s\":true}}", (i > 1 ? "," : ""), items[i], items[i]
            print "]}}"
        }
    }'
}
make vw >log.vw
make dsjson >log.dsjson

# Without the name of the log and what is said of its format.
numbers() {
    "$eenet" evaluate "$1" -p uniform,arm:shop,${2:-linucb} -e ips,snips,dr --model ridge | sed -e 1d -e '/Vowpal Wabbit/d'
}
numbers log.dsjson eenet >expected
numbers log.vw eenet | diff expected - || fail 'other numbers of a network'
numbers log.dsjson >expected
like expected '^. linucb +ips +0\.[5-9]'
for log in log.vw vw:log.vw vw:log.vw,format=cb_adf,reward=-cost; do
    numbers "$log" >got
    diff expected got || fail "$log gives other numbers"
done
gzip -c log.vw >log.gz
numbers log.gz | diff expected - || fail 'compressed'
numbers - <log.dsjson >piped # which is read once, and not first to learn its features
numbers - <log.vw | diff piped - || fail 'standard input'
tr '\n' '#' <log.vw | sed 's/#/\r#/g' | tr '#' '\n' >dos.txt
numbers dos.txt | diff expected - || fail 'line ends of Windows'

# Converted.
for name in copy.dsjson copy.eelog copy.dsjson.gz; do
    "$eenet" log log.vw -o $name 2>stderr
    like stderr "^eenet log: $name: 600 events of 3000 lines\$"
    numbers $name | diff expected - || fail "$name gives other numbers"
done
"$eenet" log log.vw -o copy.csv 2>stderr
test "$(wc -l <copy.csv)" = 601 || fail 'CSV'
"$eenet" evaluate log.vw -p first,arm:shop -e ips | grep -E '^. (first|arm)' >expected
"$eenet" evaluate copy.csv -p first,arm:2 -e ips | grep -E '^. (first|arm)' | sed 's/arm:2   /arm:shop/' | diff expected - ||
    fail 'numbers of the CSV'

# The summary says how it is read, once.
"$eenet" log log.vw >summary
test "$(grep -c 'the reward is the negative cost' summary)" = 1 || fail "$(cat summary)"
"$eenet" log vw:log.vw,reward=cost | grep -q 'rewards  *mean -0.3333, -1 to 0' || fail 'reward=cost'

# cb: one line for an event; a pipe needs the number of actions.
printf '1:2:0.4 | a c\n3:0.5:0.2 | b d\n4:1.2:0.5 | a b c\n2:1:0.3 | b c\n3:1.5:0.7 | a d\n' >cb.txt
"$eenet" log cb.txt | grep -q '4 actions, 1 to the largest in the file' || fail 'the actions of cb'
"$eenet" log - <cb.txt 2>stderr && fail 'a pipe without actions'
has stderr 'a stream cannot be read twice; add actions=NUMBER'
"$eenet" log vw:-,actions=4 <cb.txt | grep -q '5 lines, 5 events' || fail 'a pipe'
"$eenet" log --strict vw:cb.txt,actions=3 2>stderr && fail 'an action too many'
has stderr 'cb.txt, line 3: action 4 is not one of the 3 actions'
"$eenet" log cb.txt,format=cb 2>stderr && fail 'no vw:'
has stderr 'did you mean vw:cb.txt,format=cb?'

# Slots, with the probability of the chosen action alone: the same numbers after a conversion.
awk 'function draw(n) { x = x * 16807 % 2147483647; return x % n }
BEGIN {
    x = 1
    for (t = 0; t < 300; t++) {
        a = draw(4); b = (a + 1 + draw(3)) % 4; u = draw(2)
        printf "ccb shared |u g=%d\n", u
        for (i = 0; i < 4; i++) printf "ccb action |i n=%d\n", i
        printf "ccb slot %d:%d:0.25 |s top\nccb slot %d:%d:0.333333 |s low\n\n", a, a == u ? -1 : 0, b, b == 2 ? -1 : 0
    }
}' >ccb.txt
"$eenet" evaluate ccb.txt -p uniform,linucb -e ips,dr --model ridge | sed -e 1d -e '/Vowpal Wabbit/d' >expected
like expected '^. linucb +ips +0\.9' 'only the probability of the logged action'
for name in slots.dsjson slots.eelog; do
    "$eenet" log ccb.txt -o $name 2>stderr
    "$eenet" evaluate $name -p uniform,linucb -e ips,dr --model ridge | sed 1d | diff expected - || fail "$name gives other numbers"
done

# The reason why nothing can be evaluated is that of the events, not of a line that was left out before them.
awk 'BEGIN {
    for (t = 0; t < 2; t++) {
        printf "slates shared %s|\nslates action 0 | a\nslates action 1 | b\n", t ? "1 " : ""
        for (i = 0; i < 2; i++) printf "slates slot %s|\n", t ? "0:1 " : ""
        print ""
    }
}' >slates.txt
"$eenet" evaluate slates.txt -p linucb 2>stderr && fail 'a slate with features'
has stderr 'no events to evaluate: line 7: a slate (one reward for all slots)'

# A feature without a number, and the actions that were not chosen with probability 0, as in VW.
printf '1:7:0 2:1:0.5 |u age:nan\n1:0:0.5 2:3:0 |u age:4\n' >zero.txt
"$eenet" log --strict zero.txt | grep -q 'rewards  *mean -0.5, -1 to 0' || fail 'a probability of 0'
"$eenet" log zero.txt -o zero.dsjson 2>stderr
has zero.dsjson '"u":{"age":0}'
