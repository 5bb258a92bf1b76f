#!/bin/sh
# remarks.sh PROGRAM: what is likely a mistake in ratings and prepared rounds is said before the runs, also of what comes
# from the cache.
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
