#!/bin/sh
# test_study.sh PROGRAM BENCH: runs the study of docs/experiments.md on two small tables and a data set in Yelp's place that
# is missing, and computes the numbers of its tables in another way.
set -eu
EENET=$1
bench=$2
export EENET JOBS=2
fail() { echo "test_study.sh: $*" >&2; exit 1; }
mkdir -p data/uci data/tables
awk 'BEGIN { print "a\tb\ttarget"; for (i = 0; i < 80; i++) printf "%d\t%d\t%s\n", i * 7 % 5, i % 3, substr("gh", (i % 3 > 0) + 1, 1) }' >data/uci/magic.tsv.gz
awk 'BEGIN { print "a\tb\ttarget"; for (i = 0; i < 60; i++) printf "%d\t%d\t%d\n", i * 7 % 5, i % 4, i % 4 }' >data/tables/vowel.tsv.gz

# What is missing is reported, and a name that the study does not have is refused.
"$bench/study.sh" data results eenet,linucb,uniform 0-7 vowel magic Yelp >out 2>err || fail "$(cat err)"
grep -q '^study.sh: Yelp is skipped: no data/yelp$' err && ! grep -q 'MNIST' err || fail "missing data: $(cat err)"
code=0
"$bench/study.sh" data other uniform 0 vovel >out 2>err || code=$?
[ "$code" = 2 ] && grep -q 'unknown data set vovel; expected one of MNIST Yelp' err || fail "an unknown name: $code, $(cat err)"
[ "$(grep -c '"rounds":80,' results/results.jsonl)" = 24 ] && [ "$(grep -c '"rounds":60,' results/results.jsonl)" = 24 ] || fail "rounds"

"$EENET" report results >out
python3 -B "$bench/study_tables.py" results >tables || fail "no tables"

# "POLICY RATIO RANK WORST(NAME) LOW HIGH", from the regrets alone.
sed 's/.*"source":"table:[^"]*\/\([a-z]*\)\.tsv.*"policy":"\([^"]*\)".*"regret":\([^,]*\),.*/\1 \2 \3/' results/results.jsonl |
    awk '{ sum[$1, $2] += $3; if ($3 > most[$1, $2]) most[$1, $2] = $3 }
    END { n = split("magic vowel", names); m = split("eenet linucb uniform", policies)
        for (p = 1; p <= m; p++) {
            logs = ranks = worst = 0
            for (d = 1; d <= n; d++) {
                own = sum[names[d], policies[p]]
                logs += log(own / sum[names[d], "eenet"]) / n
                ranks += 1 / n
                for (o = 1; o <= m; o++) ranks += (sum[names[d], policies[o]] < own) / n
                share = most[names[d], policies[p]] * 8 / own
                if (share > worst) { worst = share; where = names[d] }
            }
            printf "%s %.3f %.1f %.2f (%s)\n", policies[p], exp(logs), ranks, worst, where
        } }' | sed 's/^eenet 1.000/eenet 1/' | sort >expected
sed -n '1,/^$/s/^| \([a-z]*\) | \([0-9.]*\)[^|]*| \([0-9.]*\) | \([^|]*\) |.*/\1 \2 \3 \4/p' tables | sort >got
[ "$(wc -l <got)" = 3 ] && cmp -s expected got || fail "expected
$(cat expected)
got
$(cat got)"

# The interval contains the ratio, and uniform is significantly worse on both: 2^8 flips, two comparisons.
sed -n 's/^| uniform | \([0-9.]*\) (\([0-9.]*\) to \([0-9.]*\)) .*/\1 \2 \3/p' tables >interval
awk '{ exit !($2 < $1 && $1 < $3 && $2 > 1) }' interval || fail "interval: $(cat interval)"
grep -q '^| uniform | .* |  | 2 |$' tables || fail "uniform is not worse on both: $(cat tables)"
mean=$(sed -n 's/^table:vowel,.*,main,uniform,uniform,8,\([0-9.]*\),\([0-9.]*\),.*/\1 \2/p' results/summary.csv | awk '{ printf "%.0f ± %.0f", $1, $2 }')
sed -n '/^| policy | .*vowel/,/^$/p' tables | grep '^| uniform ' | grep -q "| $mean |" || fail "uniform has $mean on vowel: $(cat tables)"
