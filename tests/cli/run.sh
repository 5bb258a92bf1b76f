#!/bin/sh
# run.sh PROGRAM: the table of finished runs.
. "$(dirname "$0")/cli.inc"

# Numbers as N, blanks as one: what is left is the table's shape.
shape() { sed -E 's/[0-9]+\.[0-9]+/N/g; s/  +/ /g'; }

"$eenet" run -d synthetic:inner,dim=3,arms=4 -p greedy,uniform -T 400 -s 0-2,5 >table 2>stderr
drop_progress
test ! -s stderr || fail "words on stderr, which is no terminal"
cat >expected <<'END'
synthetic:inner,dim=3,arms=4: 4 arms of 3 features, 400 rounds, seeds 0-2, 5

 policy regret optimal seconds
* greedy N ± N N% N
 uniform N ± N N% N
END
shape <table | diff expected -

# The columns stand under each other: every line of the table is as long as the next, the sign's second byte aside.
sed -n '3,$p' table | LC_ALL=C awk '{ gsub("\302\261", "+"); print length }' | sort -u >lengths
test "$(wc -l <lengths)" = 1 || fail "ragged table: $(cat table)"

# One seed has no deviation, one policy no best.
"$eenet" run --dataset=synthetic:cosine --policies uniform -T20 --seeds 18446744073709551615 >table
cat >expected <<'END'
synthetic:cosine: 10 arms of 20 features, 20 rounds, seed 18446744073709551615

 policy regret optimal seconds
 uniform N N% N
END
shape <table | diff expected -

# Clicks, of items with features and of a shop.
"$eenet" run -d synthetic:clicks -d synthetic:clicks,blocks=on,arms=12,dim=6 -p uniform -T 50 -s 0 >table
cat >expected <<'END'
synthetic:clicks: 20 arms of 20 features, 50 rounds, seed 0

 policy regret optimal seconds
 uniform N N% N

synthetic:clicks,blocks=on,arms=12,dim=6: 12 arms of 72 features, 50 rounds, seed 0

 policy regret optimal seconds
 uniform N N% N
END
shape <table | diff expected -

# The same seeds, the same numbers, the time aside; whoever else plays.
regrets() { awk '/^[* ] uniform/ { sub("^[*]", ""); print $2, $3, $4, $5 }'; }
"$eenet" run -d synthetic:cosine -p uniform -T 100 -s 0-4 | regrets >alone
"$eenet" run -d synthetic:cosine -p eenet,uniform -T 100 -s 4,0-3 | regrets >beside
test -s alone || fail "no numbers"
cmp alone beside

# Rewards that come late: the table says so, in one form. Nothing is learned before the first reward is there, so the
# regret of so many rounds is that of any longer delay; a delay of 0 is no delay.
"$eenet" run -d synthetic:cosine -p greedy -T 60 -s 0-1 --delay clicks:2.50,030 >table
test "$(head -n 1 table)" = 'synthetic:cosine: 10 arms of 20 features, 60 rounds, delay clicks:2.5,30, seeds 0-1' ||
    fail "$(cat table)"
greedy() { "$eenet" run -d synthetic:cosine -p greedy -s 0-4 --json "$@" | sed -E 's/.*("regret":[^,]*),.*/\1/'; }
greedy -T 50 --delay 50 >late
greedy -T 50 --delay 1000 | cmp - late
! greedy -T 50 --delay 10 | cmp -s - late || fail "a delay of 10 learns no sooner than one of 1000"
greedy -T 50 --delay 0 >none
greedy -T 50 | cmp - none

# A table for each data set; whatever -j is, the same numbers.
"$eenet" run -d synthetic:cosine,dim=4 -d synthetic:inner -p uniform,greedy -T 50 -s 0,1 -j 3 >table
cat >expected <<'END'
synthetic:cosine,dim=4: 10 arms of 4 features, 50 rounds, seeds 0-1

 policy regret optimal seconds
 uniform N ± N N% N
* greedy N ± N N% N

synthetic:inner: 10 arms of 20 features, 50 rounds, seeds 0-1

 policy regret optimal seconds
 uniform N ± N N% N
* greedy N ± N N% N
END
shape <table | diff expected -
"$eenet" run -d synthetic:inner -p uniform,greedy -T 50 -s 0,1 -j 1 | regrets >alone
sed '1,/^$/d' table | sed -n '/^synthetic:inner/,$p' | regrets | cmp - alone

# With -o the table is followed by the place of the results, once.
"$eenet" run -d synthetic:inner -p uniform -T 20 -s 0 -o kept >table 2>stderr
drop_progress
test ! -s stderr || fail "words on stderr, which is no terminal"
test "$(tail -n 1 table)" = "The results are in kept. For an HTML report: eenet report kept" || fail "$(cat table)"
# The command is one that a shell takes, whatever the folder is called.
for folder in "my results" "it's" -kept; do
    "$eenet" run -d synthetic:inner -p uniform -T 20 -s 0 -o "$folder" >table
    tail -n 1 table | grep -q "^The results are in $folder. For an HTML report: eenet report " || fail "$(cat table)"
    eval "set -- $(sed -n 's/.*: eenet report //p' table)"
    test "$1" != -- || shift
    test "$#" = 1 && test "$1" = "$folder" || fail "a shell takes '$*' from $(cat table)"
done
# -q: the table, and no word more.
"$eenet" run -d synthetic:inner -p uniform -T 20 -s 0 -o kept -q >table 2>stderr
test ! -s stderr && tail -n 1 table | grep -q '^  uniform' || fail "not quiet: $(cat table stderr)"
"$eenet" run -d synthetic:inner -p uniform -T 20 -s 0 -o kept --json >line
test "$(wc -l <line)" = 1 || fail "more than the line: $(cat line)"

# Files that are not there are a run that failed, not wrong usage.
ends_with 1 "$eenet" run -d yelp:no-such-folder -p uniform
test ! -s stdout || fail "a table without data"
grep -q '^eenet run: file: could not open no-such-folder/yelp_.*\.npy: No such file or directory$' stderr ||
    fail "the missing file is not named: $(cat stderr)"

# Numbers as people write them, blanks after commas in one word or in several, and all policies but presets.
"$eenet" run -d synthetic:inner -p uniform,greedy -T 1000 -s 0,2-3 --set greedy.pending=200 --delay clicks:20,100 \
    -j 1 --json | sed -E 's/"seconds":[^,]*//' >expected
"$eenet" run -d synthetic:inner -p 'uniform, greedy' -T 1e3 -s '0, 2-3e0' --set greedy.pending=2e2 \
    --delay 'clicks:20, 1e2' -j 1 --json | sed -E 's/"seconds":[^,]*//' | cmp - expected
"$eenet" run -d synthetic:inner -p uniform, greedy -T 1.0e3 --seeds=0, 2-3 --set=greedy.pending=200 \
    --delay clicks:20, 100 -j 1 --json | sed -E 's/"seconds":[^,]*//' | cmp - expected
"$eenet" policies | cut -d ' ' -f 1 | grep -v : >expected
"$eenet" run -d synthetic:inner,dim=3,arms=2 -p all -T 5 -s 0 --json | sed -E 's/.*"policy":"([^"]*)".*/\1/' |
    diff expected -
"$eenet" run -d synthetic:inner,dim=3,arms=2 -p all,eenet:fast -T 5 -s 0 --json | tail -n 1 | grep -q eenet:fast ||
    fail "no preset beside all"

# Two data sets of one name are told apart, on both streams.
mkdir -p one two
printf 'a,b,label\n1,2,x\n3,1,y\n2,5,x\n0,1,y\n' >one/same.csv
printf 'a,b,label\n1,7,x\n3,1,y\n2,5,y\n0,9,x\n' >two/same.csv
"$eenet" run -d table:one/same.csv -d table:two/same.csv -p uniform -T 8 -s 0 >table 2>stderr
for place in one two; do
    grep -q "^table:$place/same.csv: 2 arms" table || fail "not told apart: $(cat table)"
    grep -q "^eenet run: table:$place/same.csv: 8 rounds from 4 rows" stderr || fail "not told apart: $(cat stderr)"
done
"$eenet" run -d table:one/same.csv -d synthetic:inner -p uniform -T 4 -s 0 2>&1 | grep -q '^table:same: ' ||
    fail "one of a name has its path"
