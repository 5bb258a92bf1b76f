#!/bin/sh
# repeats.sh PROGRAM: rows that come again are said, and are not played unless they are asked for.
. "$(dirname "$0")/cli.inc"

awk 'BEGIN { for (i = 0; i < 60; i++) printf "%d,%.2f,%s\n", i % 7, (i * 37 % 11) / 4, substr("abc", i % 3 + 1, 1) }' >few.csv
sed 's/^/1.5,/' few.csv >wide.csv
few=table:few.csv,header=no

# A table's rows, unless -T is given: nothing to be said.
"$eenet" run -d $few -d synthetic:inner -p uniform -s 0 -o runs >table 2>stderr
drop_progress
test ! -s stderr || fail "$(cat stderr)"
has_line table 'table:few,header=no: 3 arms of 9 features, 60 rounds, seed 0'
has_line table 'synthetic:inner: 10 arms of 20 features, 10000 rounds, seed 0'
"$eenet" rounds -d $few -o rounds >said
test "$(cat said)" = "rounds: 60 rounds of table:few,header=no, seed 0" || fail "$(cat said)"

# said EXPECTED VERB ARGUMENT...: what stderr has before the runs.
said() {
    expected=$1
    shift
    ends_with 0 "$eenet" "$@"
    drop_progress
    test "$(cat stderr)" = "$expected" || fail "$*: $(cat stderr)"
}
said 'eenet run: table:few,header=no: 600 rounds from 60 rows: each row appears ten times' \
    run -d $few -d synthetic:inner -p uniform -T 600 -s 0-1 -o runs
said 'eenet run: table:few,header=no: 150 rounds from 60 rows: each row appears 2.5 times on average
eenet run: table:wide,header=no: 150 rounds from 60 rows: each row appears 2.5 times on average' \
    run -d $few -d table:wide.csv,header=no -p uniform -T 150 -s 0 --json
said 'eenet run: table:few,header=no: 61 rounds from 60 rows: 1 row appears twice' run -d $few -p uniform -T 61 -s 0
said 'eenet grid: table:few,header=no: 120 rounds from 60 rows: each row appears twice' \
    grid -d $few -p linucb --set linucb.alpha=0.1,1 -T 120 -s 0 --tune 5
said '' grid -d $few -p linucb --set linucb.alpha=0.1,1 -s 0 --tune 5
like stdout ' 60 rounds, '

# The file's order: the same rounds for every seed.
for seed in 0 1; do
    "$eenet" rounds -d $few -s $seed -o random-$seed >stdout
    "$eenet" rounds -d $few,order=file -s $seed -o file-$seed >stdout
done
cmp file-0/rewards.npy file-1/rewards.npy || fail "the file has several orders"
cmp file-0/values.npy file-1/values.npy || fail "the file has several orders"
if cmp -s random-0/rewards.npy random-1/rewards.npy; then fail "random rows are the same for all seeds"; fi

# Results that do not tell how many rows there are, as older ones, are played on, and the others tell.
grep -c '"rows":60,' runs/results.jsonl >count || true
test "$(cat count)" = 3 || fail "$(cat count) lines have rows"
sed 's/"rows":60,//' runs/results.jsonl >older
cp older runs/results.jsonl
said 'eenet run: table:few,header=no: 600 rounds from 60 rows: each row appears ten times' \
    run -d $few -p uniform -T 600 -s 0-1 -o runs
cmp older runs/results.jsonl || fail "played again"

line='<p class="facts">600 rounds from 60 rows: each row appears ten times</p>'
"$eenet" report runs >/dev/null
if grep -q 'each row appears' runs/report.html; then fail "says what it cannot know"; fi
"$eenet" run -d $few -p uniform -T 600 -s 2 -o runs >stdout 2>stderr
"$eenet" report runs >/dev/null
test "$(grep -c 'each row appears' runs/report.html)" = 1 || fail "once, with the one data set that it is true of"
has_line runs/report.html "$line"
