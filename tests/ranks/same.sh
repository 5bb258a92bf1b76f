#!/bin/sh
# same.sh PROGRAM: what ranks play is what one machine plays, to the last digit, whatever the verb.
. "$(dirname "$0")/mpirun.inc"

# A table says the same but for the seconds, and names its folder.
table() { sed -E "s/ +[0-9.]+\$//; s/ +[0-9.]+ +([0-9]+\/[0-9]+)\$/ \1/; s/$name-[a-z0-9]+/DIR/g" "$1"; }

# compare NAME WORKERS VERB WORD...: this number of workers per rank.
compare() {
    name=$1 workers=$2
    shift 2
    "$eenet" "$@" -j 1 -o "$name-one" >"$name-one.table"
    together 4 "$@" -j "$workers" -o "$name-ranks" >"$name-ranks.table" || fail "$name: exit status $?"
    same "$name-ranks" "$name-one"
    table "$name-one.table" >expected
    table "$name-ranks.table" | diff expected - || fail "$name: another table"
}
compare run 2 run -d synthetic:cosine,dim=5 -d synthetic:inner -p eenet:fast,linucb,uniform -T 300 -s 0-3
# The same command again: nothing is played.
cp run-ranks/results.jsonl before
together 4 run -d synthetic:cosine,dim=5 -d synthetic:inner -p eenet:fast,linucb,uniform -T 300 -s 0-3 -o run-ranks >again
cmp run-ranks/results.jsonl before || fail "the same command again has played something"
cmp again run-ranks.table || fail "the same command again prints another table"

compare late 1 run -d synthetic:inner -p greedy,neural-ucb -T 200 -s 0-2 --delay geometric:20 --slots 3
# mpirun takes a word "--tune" for one of its own.
compare halving 2 grid -d synthetic:cosine,dim=5 -d synthetic:inner -p greedy,linucb --set greedy.f1.width=4,8,16 \
    --set linucb.alpha=0.1,1,10 --halving --tune=10-11 -T 270 -s 0-2
compare paper 1 paper -d synthetic:inner,dim=4,arms=3 -d synthetic:cosine,dim=4,arms=3 -p eenet,linucb,uniform \
    --set eenet.f1.rate=0.01,0.001 --set eenet.f1.width=20 --tune=100-101 -T 100 -s 0-2 -q
test -s paper-ranks/report.html || fail "paper: no report"

# A data set from a file, which each rank opens; and one that takes long to prepare, which rank 0 alone keeps.
awk 'BEGIN { OFS = ","; print "a,b,c,label"; for (i = 0; i < 200; i++) print i % 7, i % 5, i % 3, i % 4 }' >table.csv
compare file 1 run -d table:table.csv,label=label -p linucb -T 150 -s 0-4
awk 'BEGIN { for (i = 0; i < 3000; i++) print i % 60 + 1 "::" i * 7 % 50 + 1 "::" i % 5 + 1 "::" 1000 + i }' >ratings.dat
compare ratings 1 run -d ratings:ratings.dat -p linucb -T 150 -s 0-4
test "$(find ratings-ranks/cache -name '*.prepared' | wc -l)" = 1 || fail "the cache has $(ls ratings-ranks/cache)"

# A curve of more bytes than MPI sends without asking first, and fewer runs than workers.
compare long 2 run -d synthetic:inner,arms=2,dim=2 -p uniform -T 30000 -s 0-2

# Without a folder: lines of JSON in the order of the jobs.
json() { sed -E 's/"seconds":[^,]*//'; }
"$eenet" run -d synthetic:inner -p uniform,greedy -T 100 -s 0-9 --json | json >expected
together 4 run -d synthetic:inner -p uniform,greedy -T 100 -s 0-9 --json -q | json | cmp expected - || fail "--json"

# The bandit that is saved is the very same.
"$eenet" run -d synthetic:inner -p greedy,linucb -T 100 -s 0-1 --save one.model >/dev/null
together 3 run -d synthetic:inner -p greedy,linucb -T 100 -s 0-1 --save ranks.model >/dev/null
cmp one.model ranks.model || fail "--save"

# Any other verb is done by rank 0, once.
together 3 policies >said
"$eenet" policies | cmp - said || fail "policies"
