#!/bin/sh
# remarks.sh PROGRAM: what is likely a mistake in ratings and prepared rounds is said before the runs, also of what comes
# from the cache; and that rows come again, which are not played unless they are asked for.
. "$(dirname "$0")/cli.inc"

# said EXPECTED VERB ARGUMENT...: what stderr has.
said() {
    expected=$1
    shift
    ends_with 0 "$eenet" "$@"
    drop_progress
    test "$(cat stderr)" = "$expected" || fail "$*: $(cat stderr)"
}

# A matrix with a row for each user: the first three columns are no user, item and rating.
awk 'BEGIN { for (u = 0; u < 90; u++) for (i = 0; i <= 100; i++)
    printf "%d%s", i ? (u * 31 + i * 17) % 5 + 1 : u % 9, i < 100 ? " " : "\n" }' >matrix.txt
words='a row has 101 fields, and the first three were read as user, item and rating; a matrix of users and items must become one row per rating'
for seed in 0 1; do
    said "eenet run: ratings:matrix,features=2: $words" \
        run -d ratings:matrix.txt,features=2 -p uniform -T 20 -s $seed -o runs
    test "$(ls runs/cache | wc -l)" = 1 || fail "in the cache: $(ls runs/cache)"
done
refuse 1 "matrix.txt: $words" run -p uniform -T 5 -s 0 -d ratings:matrix.txt

{ seq -s ' ' -f 'i%g' 0 100; cat matrix.txt; } >titled.txt
refuse 1 "titled.txt, line 1: found no column for the user; name columns with user=, item= and rating=; a matrix of users and items must become one row per rating" run -p uniform -T 5 -s 0 -d ratings:titled.txt

# Columns by their names and numbers; which end of the scale has the reward.
awk 'BEGIN { print "when,who,stars,what"; for (u = 0; u < 12; u++) for (i = 0; i < 12; i++)
    printf "now,u%d,%d,i%d\n", u, (u * 31 + i * 17 + u * i * 7) % 11 % 5 + 1, i }' >shop.csv
tail -n +2 shop.csv | awk -F, '{ print $2 "," $4 "," $3 }' >plain.csv
numbers() { grep -oE '"(regret|reward|optimal)":[^,}]*' stdout; }
for want in good bad; do
    said '' run -d ratings:plain.csv,want=$want -p linucb -T 200 -s 3 --json
    numbers >plain.$want
    test "$(wc -l <plain.$want)" = 3 || fail "$(cat stdout)"
    for columns in user=who,item=what,rating=stars user=2,item=4,rating=3 user=who,item=4,rating=Stars; do
        said '' run -d ratings:shop.csv,want=$want,$columns -p linucb -T 200 -s 3 --json
        numbers | diff plain.$want - || fail "$columns: other numbers"
    done
done
! cmp -s plain.good plain.bad || fail "want makes no difference"
refuse 2 "ratings: shop.csv has no column 'whom' (option user=); it has 4 columns: when, who, stars, what" run -p uniform -T 5 -s 0 -d ratings:shop.csv,user=whom

# A member of rounds.json that is misspelled; blocks that are none.
"$eenet" rounds -d synthetic:inner,dim=4,arms=2 -T 20 -o rounds >stdout
sed 's/"blocks"/"block"/' rounds/rounds.json >changed
cp changed rounds/rounds.json
said "eenet run: rounds:rounds: rounds.json: the unknown key 'block' is ignored; did you mean 'blocks'?" \
    run -d rounds:rounds -p uniform -s 0
sed 's/"block": 1/"blocks": 2/' changed >rounds/rounds.json
refuse 1 "rounds: rounds.json says 2 blocks, but arm 0 of round 0 has features in several: an arm must be the context in one block and zero elsewhere" run -p uniform -T 5 -s 0 -d rounds:rounds

# ---- rows that come again ----

awk 'BEGIN { for (i = 0; i < 60; i++) printf "%d,%.2f,%s\n", i % 7, (i * 37 % 11) / 4, substr("abc", i % 3 + 1, 1) }' >few.csv
sed 's/^/1.5,/' few.csv >wide.csv
few=table:few.csv,header=no

# A table's rows, unless -T is given: nothing to be said.
"$eenet" run -d $few -d synthetic:inner -p uniform -s 0 -o repeated >table 2>stderr
drop_progress
test ! -s stderr || fail "$(cat stderr)"
has_line table 'table:few,header=no: 3 arms of 9 features, 60 rounds, seed 0'
has_line table 'synthetic:inner: 10 arms of 20 features, 10000 rounds, seed 0'
"$eenet" rounds -d $few -o prepared >said
test "$(cat said)" = "prepared: 60 rounds of table:few,header=no, seed 0" || fail "$(cat said)"

said 'eenet run: table:few,header=no: 600 rounds from 60 rows: each row appears ten times' \
    run -d $few -d synthetic:inner -p uniform -T 600 -s 0-1 -o repeated
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
grep -c '"rows":60,' repeated/results.jsonl >count || true
test "$(cat count)" = 3 || fail "$(cat count) lines have rows"
sed 's/"rows":60,//' repeated/results.jsonl >older
cp older repeated/results.jsonl
said 'eenet run: table:few,header=no: 600 rounds from 60 rows: each row appears ten times' \
    run -d $few -p uniform -T 600 -s 0-1 -o repeated
cmp older repeated/results.jsonl || fail "played again"

line='<p class="facts">600 rounds from 60 rows: each row appears ten times</p>'
"$eenet" report repeated >/dev/null
if grep -q 'each row appears' repeated/report.html; then fail "says what it cannot know"; fi
"$eenet" run -d $few -p uniform -T 600 -s 2 -o repeated >stdout 2>stderr
"$eenet" report repeated >/dev/null
test "$(grep -c 'each row appears' repeated/report.html)" = 1 || fail "once, with the one data set that it is true of"
has_line repeated/report.html "$line"
