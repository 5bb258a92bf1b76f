#!/bin/sh
# test_studies.sh STUDIES: the tables of the studies, and wrong usage. tests/unit/bench checks the numbers.
set -eu
studies=$1
fail() { echo "test_studies.sh: $*" >&2; exit 1; }

small="-t 80 -T 200 -n 20 synthetic:clicks,arms=3,rate=0.4"
# shellcheck disable=SC2086 # words
"$studies" coverage -b uniform,floor:0.3 $small >table
# shellcheck disable=SC2086
"$studies" coverage -b uniform,floor:0.3 $small | cmp - table
# shellcheck disable=SC2086
! "$studies" coverage -b uniform,floor:0.3 -s 1 $small | cmp -s - table || fail "another seed, the same table"
grep -Eqx 'synthetic:clicks,arms=3,rate=0.4, logs of floor:0.3 \(value 0.[0-9]*, least probability 0.1\): 20 logs of 200 rounds' table ||
    fail "the head of a table"
[ "$(grep -Ec '^  [a-z-]+ +(ips|snips|dr|sndr|gain) ' table)" = 32 ] || fail "rows of intervals"
[ "$(grep -Ec '^  [a-z-]+( +[0-9.]+){6} +[0-9.]+%$' table)" = 18 ] || fail "rows of estimators"
# The anytime-valid intervals cover, at the end and always.
grep '^  cs ' table | grep -Eqv '( +(9[5-9]|100)\.[0-9]%){4} +0\.' && fail "cs does not cover"

"$studies" warm-starts -t 300 -T 100 -n 2 synthetic:cosine,arms=3 >warm
head -n 1 warm | grep -qx 'Regret of the 100 rounds after a log of 300 events: mean ± standard deviation over 2 seeds.' ||
    fail "the head of warm starts"
[ "$(grep -Ec '^synthetic:cosine,arms=3 +(uniform|floor:0.2)( +[0-9.]+ ± +[0-9.]+){4}$' warm)" = 2 ] || fail "rows of warm starts"

"$studies" limits -n 1 -t 100 >limits
[ "$(grep -Ec '^  (even|first|none)( +[a-z0-9.]+){3}( +[0-9.]+%){6}' limits)" = 12 ] || fail "rows of budgets"
[ "$(grep -Ec '^ +[0-9]+%( +[a-z]+ [a-z]+)( +[0-9.]+%){5}$' limits)" = 8 ] || fail "rows of shares"
[ "$(grep -Ec '^ +[0-9]+( +[0-9]+){2}( +[0-9.]+%){2}$' limits)" = 4 ] || fail "rows of caps"

refuse() { # STATUS SENTENCE ARGUMENTS...
    expected=$1 sentence=$2 status=0
    shift 2
    "$studies" "$@" >out 2>err || status=$?
    [ $status = "$expected" ] && head -n 1 err | grep -q "$sentence" || fail "'$*': status $status, $(cat err)"
}
refuse 2 '^usage: ' coverage
refuse 2 '^usage: ' other synthetic:clicks
refuse 2 '^usage: ' limits synthetic:clicks
refuse 2 '^usage: ' coverage -n 0 synthetic:clicks
refuse 1 "'greedy' never plays some arms" coverage -b uniform,greedy synthetic:clicks
refuse 1 "floor: expected a number above 0 and up to 1, got '2'" coverage -b floor:2 synthetic:clicks
refuse 1 "unknown kind 'syntetic'" warm-starts syntetic:clicks
