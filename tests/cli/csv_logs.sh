#!/bin/sh
# csv_logs.sh PROGRAM: the numbers of a CSV log do not depend on how its actions are called, on rows that are left out,
# on the order of its columns, or on whether its context is named.
. "$(dirname "$0")/cli.inc"

# values LOG CANDIDATES: every number of an evaluation, without what names the log and the candidates.
values() {
    rm -rf out
    "$eenet" evaluate "$1" -p "$2" -e dr,snips,ips --model ridge -o out >table 2>stderr || fail "$1: $(cat stderr)"
    grep -o '"estimators":.*\]' out/evaluations.jsonl | sed 's/,"facts".*//'
}

# actions FILE NAME NAME NAME NAME NAME: 5,000 events of a uniform policy, whose action k earns 0.1 to 0.5.
actions() {
    file=$1
    shift
    awk -v names="$*" 'BEGIN { split(names, name, " "); print "item_id,p,click"
        for (i = 0; i < 5000; i++) { k = i % 5 + 1; printf "%s,0.2,%d\n", name[k], int(i / 5) % 10 < k } }' >"$file"
}
actions letters.csv a b c d e
actions ids.csv 1 2 3 4 5
actions large.csv 1001 1002 1003 1004 1005
actions mixed.csv 1 2 10 11 100
actions floats.csv 1.0 2.0 3.0 4.0 5.0
{
    cat letters.csv
    printf '%s\n' x,0,1 y,1.5,1 z,-0.2,1 v,0.2,yes w,0.2,
} >bad.csv
values letters.csv uniform,first >expected
for log in ids large mixed floats bad; do
    values $log.csv uniform,first >got
    cmp -s expected got || fail "$log.csv: $(diff expected got)"
done

# Uniform earns what the uniform log earned, 0.3, and the first action earns 0.1.
"$eenet" evaluate ids.csv -p uniform,arm:1,arm:5 -e ips >table
for line in '  uniform +ips +0\.3000 .* \+0\.0%' '  arm:1 +ips +0\.1000 ' '\* arm:5 +ips +0\.5000 '; do
    like table "^$line"
done
"$eenet" evaluate bad.csv -p uniform -e ips >table
like table '^  uniform +ips +0\.3000 .* \+0\.0%'
"$eenet" log bad.csv >said
head -n 1 said | grep -qx 'bad.csv: 5006 lines, 5000 events, 5 invalid' || fail "$(cat said)"
like said "^  line 5002: the probability of the chosen action must be above 0 and at most 1, got 0\$"
grep -qx '  Columns: action=item_id (5 names), probability=p, reward=click; context: none.' said || fail "$(cat said)"
values large.csv arm:1001 >expected
values letters.csv arm:a >got
cmp -s expected got || fail "arm:1001: $(diff expected got)"

# Numbers only if they are asked for.
"$eenet" evaluate csv:ids.csv,actions=6 -p uniform -e snips,ips >table
like table '^ +ips +0\.2500 .* -16\.7%'

refuse 1 "arm:0: no event has an action '0'; 'eenet log' lists them" evaluate ids.csv -p arm:0 -e ips
refuse 2 "standard input: a stream cannot be read twice; add actions=NUMBER or actions=NAME+...; the columns are: item_id, p, click" \
    log csv:- <ids.csv

# 2,000 events in which age and plan decide what people like; the other columns are no context.
awk 'function dice() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
BEGIN {
    seed = 35; split("desk lamp sofa", item, " "); split("free pro team", plans, " ")
    print "session,time,user_age,plan,action,price,probability,reward,revenue,created"
    for (i = 0; i < 2000; i++) {
        age = 18 + int(60 * dice()); plan = 1 + int(3 * dice()); k = 1 + int(3 * dice())
        best = age < 35 ? 1 : plan == 1 ? 2 : 3
        reward = dice() < (k == best ? 0.8 : 0.25)
        printf "s%x,%d,%d,%s,%s,%d,0.3333333333333333,%d,%.2f,2025-%02d-01\n", i * 7919 % 65521, 1700000000 + 60 * i, age,
            plans[plan], item[k], 10 * k, reward, reward ? 5 + 40 * dice() : 0, 1 + i % 12
    }
}' >shop.csv
values shop.csv linucb,uniform >expected
cp table found
values csv:shop.csv,context=user_age+plan linucb,uniform >got
cmp -s expected got || fail "context=auto: $(diff expected got)"
sed -n 2,5p found | tr -s ' \n' ' ' >said
has said 'Columns: time, action (3 names), probability, reward; context: user_age, plan; left out: session (almost unique), price (follows from the action), revenue (predicts the reward almost perfectly), created (a time). Change with context=COLUMN+COLUMN or ignore=COLUMN.'
grep -q '"columns":"Columns: time, action (3 names), ' out/evaluations.jsonl || fail "columns are not stored"
"$eenet" evaluate csv:shop.csv -p linucb -e dr --model ridge | grep -q '^linucb would have earned [0-9]*% more' || fail "no personalisation"
"$eenet" evaluate csv:shop.csv,context=all -p linucb -e dr --model ridge | tr -s ' \n' ' ' |
    grep -qF -e "- Context column 'revenue' predicts the reward almost perfectly. Was it known when the decision was made?" ||
    fail "no warning of revenue"
"$eenet" log --json shop.csv | grep -qF '{"name":"session","context":false,"note":"almost unique"},{"name":"time","role":"time","context":false},{"name":"user_age","context":true}' ||
    fail "columns in JSON"

# Another order of the columns, and other names in the same order: the same digits.
awk -F, -v OFS=, '{ print $9, $4, $8, $6, $10, $3, $5, $2, $7, $1 }' shop.csv >moved.csv
awk -F, -v OFS=, 'NR > 1 { $5 = $5 == "desk" ? 7 : $5 == "lamp" ? 30 : 200 } { print }' shop.csv >renamed.csv
for log in moved renamed; do
    values $log.csv linucb,uniform >got
    cmp -s expected got || fail "$log.csv: $(diff expected got)"
done

# Standard input: the options say what a scan would find.
refuse 2 "standard input: a stream cannot be read twice; add context=COLUMN+..., context=all or context=none; the columns are: session, time, user_age, plan, action, price, probability, reward, revenue, created" \
    evaluate csv:-,actions=desk+lamp+sofa -p linucb <shop.csv
"$eenet" evaluate csv:-,actions=desk+lamp+sofa,context=user_age+plan -p uniform -e snips <shop.csv >table
"$eenet" evaluate csv:shop.csv,actions=desk+lamp+sofa,context=user_age+plan -p uniform -e snips >again
test "$(tail -n +2 table)" = "$(tail -n +2 again)" || fail "standard input: $(cat table again)"

# Names in a file, one per line: those that an option cannot list too. What is in the file is part of the log.
printf 'sofa\r\n\ndesk\nlamp\n' >names
"$eenet" evaluate csv:shop.csv,actions=@names,context=user_age+plan -p uniform -e snips >table
test "$(tail -n +2 table)" = "$(tail -n +2 again)" || fail "names in a file: $(cat table again)"
rm -rf out
"$eenet" evaluate csv:shop.csv,actions=@names -p uniform -e snips -o out >table
printf 'sofa\ndesk\nlamp\na+b, c\n' >names
"$eenet" evaluate csv:shop.csv,actions=@names -p uniform -e snips -o out >table
grep -q 'action (4 names)' table || fail "the names changed: $(cat table)"
: >empty
refuse 2 "shop.csv: expected names of actions (option actions=), got none; the columns are: session, time, user_age, plan, action, price, probability, reward, revenue, created" \
    log csv:shop.csv,actions=@empty
printf 'desk\0lamp\n' >names
refuse 2 "shop.csv: the names of the actions in names contain a NUL byte; the columns are: session, time, user_age, plan, action, price, probability, reward, revenue, created" \
    log csv:shop.csv,actions=@names
"$eenet" log csv:shop.csv,actions=@missing 2>stderr && fail "a file of names that is missing"
grep -q missing stderr || fail "$(cat stderr)"

# What eenet writes comes back.
"$eenet" log shop.csv -o own.csv 2>stderr
grep -q 'Columns: time, action (3 names)' stderr || fail "$(cat stderr)"
"$eenet" log own.csv -o again.csv 2>stderr
cut -d, -f5 --complement own.csv >one
cut -d, -f5 --complement again.csv >other
cmp one other || fail "own.csv"
"$eenet" log own.csv | sed -n '/rewards/,/^ *actions/p' >one
"$eenet" log shop.csv | sed -n '/rewards/,/^ *actions/p' >other
diff one other || fail "own.csv: another summary"

# Limits of time cannot leave out events without a time: no headline.
"$eenet" evaluate letters.csv -p arm:e -e snips --from 2030-01-01 >table
like table '^  ! 100% of the events have no readable time'
"$eenet" evaluate letters.csv -p arm:e -e snips --judge-from 2030-01-01 >table
like table '^This log cannot show what arm:e would have earned'

# Replay decides only on a uniform log.
"$eenet" evaluate letters.csv -p arm:e -e replay >table
like table '^arm:e would have earned 67% more'
awk 'BEGIN { print "action,p,reward"; for (i = 0; i < 3000; i++) { b = i % 3 == 0
    printf "%s,%s,%d\n", b ? "b" : "a", b ? 0.3333 : 0.6667, i % 2 } }' >uneven.csv
"$eenet" evaluate uneven.csv -p arm:a -e replay >table
like table "^  ! Only replay was requested"
"$eenet" evaluate uneven.csv -p arm:a -e replay,snips >table
! grep -q "Only replay" table || fail "replay and snips: $(cat table)"

# Rewards that people write.
for reward in yes False '"1,234.5"'; do
    printf 'action,p,reward\n1,0.5,%s\n' "$reward" >written.csv
    "$eenet" evaluate written.csv -p uniform -e ips 2>stderr && fail "$reward"
    like stderr "got '(yes|False)'; write 1 or 0$|got '1,234.5'; write it with a decimal point and no thousands"
done

# A perfect reward model estimates the truth, which the logging policy missed by chance: no contradiction.
awk 'BEGIN { s = 8; print "action,probability,reward"; for (i = 0; i < 4000; i++) { s = (s * 16807) % 2147483647
    a = int(5 * s / 2147483647); printf "x%d,0.2,%g\n", a, a / 4 } }' >exact.csv
"$eenet" evaluate exact.csv -p uniform --model ridge >table
like table '^Inconclusive: uniform'
