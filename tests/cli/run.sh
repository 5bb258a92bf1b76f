#!/bin/sh
# run.sh PROGRAM: the table of finished runs, their lines of JSON, and which policies an option of --set reaches.
. "$(dirname "$0")/cli.inc"

# table WORD...: the shape of a run's table is stdin: numbers as N, blanks as one.
table() {
    quiet "$eenet" run "$@"
    cp stdout table
    sed -E 's/[0-9]+\.[0-9]+/N/g; s/  +/ /g' table >shape
    diff - shape || fail "run $*"
}
table -d synthetic:inner,dim=3,arms=4 -p greedy,uniform -T 400 -s 0-2,5 <<'END'
synthetic:inner,dim=3,arms=4: 4 arms of 3 features, 400 rounds, seeds 0-2, 5

 policy regret optimal seconds
* greedy N ± N N% N
 uniform N ± N N% N
END
# The columns stand under each other: every line of the table is as long as the next, the sign's second byte aside.
sed -n '3,$p' table | LC_ALL=C awk '{ gsub("\302\261", "+"); print length }' | sort -u >lengths
test "$(wc -l <lengths)" = 1 || fail "ragged table: $(cat table)"

# One seed has no deviation, one policy no best. Clicks are of items with features and of a shop.
table --dataset=synthetic:cosine --policies uniform -T20 --seeds 18446744073709551615 <<'END'
synthetic:cosine: 10 arms of 20 features, 20 rounds, seed 18446744073709551615

 policy regret optimal seconds
 uniform N N% N
END
table -d synthetic:clicks -d synthetic:clicks,blocks=on,arms=12,dim=6 -p uniform -T 50 -s 0 <<'END'
synthetic:clicks: 20 arms of 20 features, 50 rounds, seed 0

 policy regret optimal seconds
 uniform N N% N

synthetic:clicks,blocks=on,arms=12,dim=6: 12 arms of 72 features, 50 rounds, seed 0

 policy regret optimal seconds
 uniform N N% N
END

# The same seeds, the same numbers, the time aside; whoever else plays, and whatever -j is.
regrets() { awk '/^[* ] uniform/ { sub("^[*]", ""); print $2, $3, $4, $5 }'; }
"$eenet" run -d synthetic:cosine -p uniform -T 100 -s 0-4 | regrets >alone
"$eenet" run -d synthetic:cosine -p eenet,uniform -T 100 -s 4,0-3 -j 3 | regrets >beside
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

# One line of JSON for each finished run, in the order of the runs, whatever -j is.
quiet "$eenet" run -d synthetic:cosine,dim=5 -p uniform,eenet -T 30 -s 3,8 --json
cp stdout lines
number='-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?'
grep -Evx "\{\"dataset\":\"synthetic:cosine,dim=5\",\"fingerprint\":\"0{16}\",\"dim\":5,\"arms\":10,\
\"policy\":\"(uniform|eenet)\",\"options\":\"[a-z0-9_=:|. -]+\",\"seed\":(3|8),\"rounds\":30,\"tuning\":false,\
\"regret\":$number,\"reward\":$number,\"optimal\":$number,\"seconds\":$number,\"bytes\":[0-9]+,\
\"marks\":\[($number,){19}$number\],(\"directions\":\[(\[($number,){9}$number\],?){20}\],)?\
\"machine\":\"[^\"]+\",\"version\":\"[0-9.]+\",\"kernels\":\"[a-z0-9]+\"\}" lines && fail "lines of another form"
test "$(grep -c directions lines)" = 2 || fail "directions of a policy that does not explore, or none of one that does"
sed -E 's/.*"policy":"([a-z]*)".*"seed":([0-9]*),.*/\1 \2/' lines >runs
printf '%s\n' 'uniform 3' 'uniform 8' 'eenet 3' 'eenet 8' | diff - runs
sed -E 's/"seconds":[^,]*//' lines >first
"$eenet" run -d synthetic:cosine,dim=5 -p uniform,eenet -T 30 -s 3,8 -j 1 --json | sed -E 's/"seconds":[^,]*//' | cmp - first

# The room for the decisions that wait is among the options. --set reaches a policy and its presets, and the last counts.
# values OPTION EXPECTED ARGUMENT...: the option's value in each run, as "POLICY=VALUE".
values() {
    option=$1 expected=$2
    shift 2
    got=$("$eenet" run -d synthetic:inner,arms=2 -p eenet,eenet:authors,greedy -T 2 -s 0 --json "$@" |
        sed -E "s/.*\"policy\":\"([^\"]*)\".*[ \"]$option=([0-9]+)[ \"].*/\1=\2/" | xargs)
    test "$got" = "$expected" || fail "$*: got '$got', expected '$expected'"
}
values pending 'eenet=1024 eenet:authors=1024 greedy=1024'
values pending 'eenet=7 eenet:authors=7 greedy=1024' --set eenet.pending=7
values pending 'eenet=1024 eenet:authors=7 greedy=1024' --set eenet:authors.pending=7
values pending 'eenet=7 eenet:authors=8 greedy=9' --set eenet.pending=7 --set eenet:authors.pending=8 --set=greedy.pending=9
values pending 'eenet=9 eenet:authors=9 greedy=8' --set eenet:authors.pending=7 --set greedy.pending=8 --set eenet.pending=9
values pending 'eenet=2001 eenet:authors=2001 greedy=3000' --delay 2000 --set greedy.pending=3000
values 'f1\.steps' 'eenet=3 eenet:authors=3 greedy=4' --set eenet.f1.steps=3 --set greedy.f1.steps=4

# With -o the table is followed by the place of the results, once, by a command that a shell takes, whatever the folder is
# called. With -q it is not.
for folder in kept "my results" "it's" -kept; do
    quiet "$eenet" run -d synthetic:inner -p uniform -T 20 -s 0 -o "$folder"
    tail -n 1 stdout | grep -q "^The results are in $folder. For an HTML report: eenet report " || fail "$(cat stdout)"
    eval "set -- $(sed -n 's/.*: eenet report //p' stdout)"
    test "$1" != -- || shift
    test "$#" = 1 && test "$1" = "$folder" || fail "a shell takes '$*' from $(cat stdout)"
done
quiet "$eenet" run -d synthetic:inner -p uniform -T 20 -s 0 -o kept -q
tail -n 1 stdout | grep -q '^  uniform' || fail "not quiet: $(cat stdout)"
test "$("$eenet" run -d synthetic:inner -p uniform -T 20 -s 0 -o kept --json | wc -l)" = 1 || fail "more than the line"

# Files that are not there are a run that failed, not wrong usage.
refuse_like 1 'file: could not open no-such-folder/yelp_.*\.npy: No such file or directory' run -d yelp:no-such-folder -p uniform

# Numbers as people write them, blanks after commas in one word or in several, and all policies but presets.
numbers() { "$eenet" run -d synthetic:inner "$@" -j 1 --json | sed -E 's/"seconds":[^,]*//'; }
numbers -p uniform,greedy -T 1000 -s 0,2-3 --set greedy.pending=200 --delay clicks:20,100 >expected
numbers -p 'uniform, greedy' -T 1e3 -s '0, 2-3e0' --set greedy.pending=2e2 --delay 'clicks:20, 1e2' | cmp - expected
numbers -p uniform, greedy -T 1.0e3 --seeds=0, 2-3 --set=greedy.pending=200 --delay clicks:20, 100 | cmp - expected
"$eenet" policies | cut -d ' ' -f 1 | grep -v : >expected
"$eenet" run -d synthetic:inner,dim=3,arms=2 -p all,eenet:fast -T 5 -s 0 --json | sed -E 's/.*"policy":"([^"]*)".*/\1/' >played
echo eenet:fast | cat expected - | diff - played

# Two data sets of one name are told apart, on both streams.
mkdir -p one two
printf 'a,b,label\n1,2,x\n3,1,y\n2,5,x\n0,1,y\n' >one/same.csv
printf 'a,b,label\n1,7,x\n3,1,y\n2,5,y\n0,9,x\n' >two/same.csv
ends_with 0 "$eenet" run -d table:one/same.csv -d table:two/same.csv -p uniform -T 8 -s 0
for place in one two; do
    like stdout "^table:$place/same.csv: 2 arms"
    like stderr "^eenet run: table:$place/same.csv: 8 rounds from 4 rows"
done
"$eenet" run -d table:one/same.csv -d synthetic:inner -p uniform -T 4 -s 0 2>&1 | grep -q '^table:same: ' ||
    fail "one of a name has its path"
