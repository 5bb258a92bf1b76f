#!/bin/sh
# inspect.sh PROGRAM: what is read of a data set is shown, and what is likely a mistake is said, here and by run.
. "$(dirname "$0")/cli.inc"

cat >iris.csv <<'END'
length,width,color,id,source,kind
5.1,3.5,white,a1,x,setosa
4.9,,white,a2,x,setosa
7.0,3.2,blue,a3,x,versicolor
6.3,3.3,blue,a4,x,virginica
END
COLUMNS=80 "$eenet" inspect table:iris.csv,ignore=id,normalize=standard -s 3 >shown
cat >expected <<'END'
table:iris,ignore=id,normalize=standard
  4 rows, each a round of 3 arms
  6 features per context; an arm is the context in one of 3 blocks, 18 features in total
  at most one arm per round has more than the smallest reward

  column  kind          missing    values  features  range
  length  numeric             0         -         1  4.9 to 7
  width   numeric             1         -         2  3.2 to 3.5
  color   categorical         0         2         2
  id      ignored             0         -         -
  source  constant            0         1         -
  kind    label               0         3         -

  class           rows  share
  setosa             2  50.0%
  versicolor         1  25.0%
  virginica          1  25.0%
END
sed '/^first round/,$d' shown | sed '$d' | diff expected -
has_line shown 'first round of seed 3'
like shown '^  constant +1$' '^  color=(blue|white) +1$'
test "$(grep -Ec '^    [012]  (setosa|versicolor|virginica) +[01] +[01]$' shown)" = 3 || fail "arms without their class"
! grep -q 'likely mistakes' shown || fail "a remark on a good table"

# JSON has the same, and more.
"$eenet" inspect --json table:iris.csv,ignore=id >json
test "$(wc -l <json)" = 1 || fail "JSON in several lines"
for part in '"dataset":"table:iris,ignore=id"' '"rows":4,"rounds":0,"arms":3,"dim":18,"blocks":3,"exclusive":true' \
    '{"name":"width","kind":"numeric","missing":1,"features":2,"low":3.2,"high":3.5}' \
    '{"name":"color","kind":"categorical","missing":0,"features":2,"values":2}' \
    '{"name":"setosa","rows":2}' '"remarks":[]' '"round":{"seed":0,"context":{"constant":0.' '"class":"virginica"'; do
    has json "$part"
done

# Every kind has something to show.
for data in synthetic:cosine synthetic:clicks synthetic:clicks,blocks=on; do
    "$eenet" inspect "$data" >shown || fail "$data"
    has_line shown 'first round of seed 0'
    "$eenet" inspect "$data" --json >json
    grep -q '"arms":\[{"reward":' json || fail "$data: no arms"
done
grep -q '"context":{"0":' json || fail "blocks without a context: $(cat json)"
"$eenet" rounds -d synthetic:inner,dim=3,arms=2 -T 5 -o rounds >/dev/null
"$eenet" inspect rounds:rounds | grep -qx '  5 rounds of 2 arms' || fail "rounds"

# said REMARK DATASET: inspect says it, run too in a line of stderr, and JSON.
said() {
    COLUMNS=120 "$eenet" inspect "$2" >shown || fail "$2"
    sed '1,/^likely mistakes$/d' shown | tr -s '\n ' ' ' >remarks
    has remarks "$1"
    "$eenet" inspect "$2" --json | grep -qF "$1" || fail "$2: not in JSON"
    "$eenet" run -d "$2" -p uniform -s 0 -T 3 >stdout 2>stderr || fail "run: $(cat stderr)"
    name=${2%.*}
    has stderr "eenet run: $name: $1"
}
awk 'BEGIN { print "color,shape,kind"; for (i = 0; i < 30; i++) print (i % 2 ? "red" : "blue") "," (i % 3 ? "round" : "flat") "," (i % 5 ? "a" : "b") }' >texts.csv
said 'the first row (color, shape, kind) was read as values; if it holds the column names, add header=yes' table:texts.csv
awk 'BEGIN { print "a,price"; for (i = 0; i < 300; i++) print i % 7 "," i / 8 + 100 }' >prices.csv
said "the label (column 'price') has 300 different values in 300 rows" table:prices.csv
awk 'BEGIN { print "a;b;kind"; for (i = 0; i < 200; i++) print i ",5;" i % 3 ";" i % 2 }' >commas.csv
said "column 'a' has numbers with a decimal comma, such as '0,5', read as 200 categories; add decimal=comma" \
    table:commas.csv
"$eenet" inspect table:commas.csv,decimal=comma | grep -Eq '^  a +numeric .* 0.5 to 199.5$' || fail "decimal=comma"
awk 'BEGIN { for (i = 0; i < 20; i++) print i % 3 " qid:" int(i / 5) " 1:" i " 2:0.5" }' >ranking.txt
said 'qid: is ignored in 20 lines' table:ranking.txt
for verb in grid paper; do
    "$eenet" $verb -d table:ranking.txt -p linucb --set linucb.alpha=1 -s 0 --tune 5 -T 3 -o $verb >stdout 2>stderr || true
    has stderr "eenet $verb: table:ranking: qid: is ignored in 20 lines"
done
"$eenet" rounds -d table:ranking.txt -o ranked >stdout 2>stderr
has stderr 'eenet rounds: table:ranking: qid: is ignored in 20 lines'

awk 'BEGIN { print "city,seen,n,kind"; for (i = 0; i < 30; i++)
    print (i % 2 ? "Berlin" : "berlin") ",2020-01-" i % 9 + 10 "," i * 7 % 13 "," (i % 3 ? "a" : "b") }' >visits.csv
said "column 'city' has categories that differ only in case, such as 'Berlin' and 'berlin'; each is a feature" \
    table:visits.csv
said "column 'seen' has dates, such as '2020-01-10', read as 9 categories; leave out with ignore=seen" \
    table:visits.csv

# Columns to leave out: one data set without all of them, joined with those that are left out now.
awk 'BEGIN { print "customer_id,signup,full name,age,kind"; for (i = 0; i < 60; i++)
    print 10000 + 5 * i ",2020-01-" i % 9 + 10 ",Person " i "," i * 7 % 13 "," (i % 3 ? "a" : "b") }' >customers.csv
said "column 'customer_id' has a different number in each row, ascending: probably an id; leave out with ignore=customer_id" \
    table:customers.csv
last() { "$eenet" inspect "$1" | tail -n 2 | tr '\n' '|'; }
whole="data set without these columns|  'table:customers.csv,ignore=customer_id+signup+\"full name\"'|"
[ "$(last table:customers.csv)" = "$whole" ] || fail "$(last table:customers.csv)"
whole='data set without these columns|  table:customers.csv,ignore=customer_id+signup+age,header=yes|'
sed '1s/full name/name/; s/Person [0-9]*/x/' customers.csv >again && mv again customers.csv
[ "$(last table:customers.csv,ignore=age,header=yes)" = "$whole" ] || fail "$(last table:customers.csv,ignore=age,header=yes)"
"$eenet" inspect table:customers.csv,ignore=customer_id+signup >shown
! grep -q 'likely mistakes\|without' shown || fail "$(cat shown)"

# Missing values, and columns with blanks and commas in their names.
awk 'BEGIN { print "\"age, in years\",Last Seen,Best Offer,target"; for (i = 0; i < 30; i++)
    print (i % 3 ? i : "N/A") "," (i % 5 ? i * 3 % 7 : "unknown") "," (i % 2 ? "gold" : "free") "," i % 4 }' >offers.csv
for label in '"Best Offer"' 'Best Offer' 3; do
    "$eenet" inspect "table:offers.csv,missing=n/a+unknown,label=$label,categorical=4" >shown || fail "label=$label"
    grep -Eq '^  age, in years +numeric +10 ' shown && grep -Eq '^  Last Seen +numeric +6 ' shown &&
        grep -Eq '^  Best Offer +label ' shown && grep -Eq '^  target +categorical ' shown || fail "$(cat shown)"
done
"$eenet" inspect 'table:offers.csv,label=Best Offer,ignore="age, in years"+last seen' >shown || fail 'names in quotes'
[ "$(grep -Ec '^  (age, in years|Last Seen) +ignored ' shown)" = 2 ] || fail "$(cat shown)"
"$eenet" run -d 'table:offers.csv,label="Best Offer",ignore=Last Seen' -p linucb -T 20 -s 0 -o offers >stdout || fail run
"$eenet" run -d 'table:offers.csv,label="Best Offer",ignore=Last Seen' -p linucb -T 20 -s 0 -o offers >again || fail again
[ "$(wc -l <offers/results.jsonl)" = 1 ] || fail 'the same data set was played twice'

# A name that is no UTF-8, or that would move the cursor.
printf 'a\033[2J,m\374,kind\n1,2,x\n2,3,y\n' >odd.csv
"$eenet" inspect table:odd.csv >shown
! grep -q "$(printf '\033')" shown || fail "an escape reaches the terminal"
"$eenet" inspect table:odd.csv --json | grep -qF '"m?"' || fail "no valid JSON of a name that is not UTF-8"

# refused STATUS MESSAGE ARGUMENT...
refused() {
    expected=$2 status=$1
    shift 2
    ends_with "$status" "$eenet" "$@"
    has stderr "$expected"
    test ! -s stdout || fail "$*: something on stdout"
}
refused 2 'expected a data set' inspect
refused 2 "expected one data set, got 'b' too" inspect a b
refused 2 '--seed is given twice' inspect synthetic:inner -s 1 -s 2
refused 2 "did you mean 'table:iris.csv'?" inspect iris.csv
refused 2 'give the data set without -d: eenet inspect DATASET' inspect -d table:iris.csv
refused 2 'give the data set without --dataset: eenet inspect DATASET' inspect --dataset=table:iris.csv
refused 2 'options: table.ignore is given twice; join columns with +' inspect table:iris.csv,ignore=id,ignore=source
refused 2 'options: table.label is given twice' run -d table:iris.csv,label=kind,label=color -p linucb
refused 2 "expected name=value, got 'source'; did you mean ignore=id+source?" inspect table:iris.csv,ignore=id,source
refused 2 'options: synthetic.dim is given twice' inspect synthetic:inner,dim=3,dim=4
refused 2 'options: csv.context is given twice; join columns with +' evaluate csv:iris.csv,context=a,context=b -p uniform
refused 2 "did you mean 'table:iris.csv,label=kind'?" run -d iris.csv,label=kind -p linucb
refused 2 "did you mean 'rounds:rounds'?" run -d rounds/rewards.npy -p linucb
refused 1 'none.csv' inspect table:none.csv
printf 'a,b,kind\n' >names.csv
refused 1 'names.csv: expected rows after the column names, got none; columns: a, b, kind' inspect table:names.csv
printf 'a,kind\n1,x\n1e300,y\n2,x\n' >beyond.csv
refused 1 "beyond.csv, line 3, column 'a': expected a number of at most 3.4e+38, got '1e300'" inspect table:beyond.csv
