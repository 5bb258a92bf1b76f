#!/bin/sh
# evaluate.sh PROGRAM [ROUNDS [MODEL]]: measures an evaluation of five candidates by DR on a log of vectors (default:
# 1,000,000 rounds, ridge as reward model). It prints what each part takes, the least time that the parts allow, and the
# wall-clock time with one thread and with one per core. The log is made in $TMPDIR (0.5 kB per round).
set -eu
eenet=$1
rounds=${2:-1000000}
model=${3:-ridge}
cores=$(nproc)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
log=$folder/log.eelog
"$eenet" run -d synthetic:clicks,arms=5,rate=0.1 -p linucb --set linucb.propensity=softmax -T "$rounds" -s 0 \
    --log "$log" -q >/dev/null

# processor ARGUMENT...: prints the processor seconds of an evaluation with one thread.
processor() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    sh -c '"$@" >/dev/null; times' evaluate "$eenet" evaluate "$log" --model "$model" -j 1 "$@" |
        awk 'NR == 2 { split($1 "m" $2, part, "m"); print 60 * part[1] + part[2] + 60 * part[3] + part[4] }'
}
# wall THREADS: prints the seconds of all candidates by DR.
wall() {
    from=$(date +%s.%N)
    "$eenet" evaluate "$log" -p "$all" -e dr --model "$model" -j "$1" >/dev/null
    awk -v from="$from" -v to="$(date +%s.%N)" 'BEGIN { print to - from }'
}
all=uniform,first,arm:1,logged,linucb
read=$(processor -p first -e ips)
linucb=$(processor -p linucb -e ips)
with_model=$(processor -p first -e dr)
total=$(processor -p "$all" -e dr)
one=$(wall 1)
many=$(wall "$cores")
awk -v rounds="$rounds" -v model="$model" -v cores="$cores" -v read="$read" -v linucb="$linucb" \
    -v with_model="$with_model" -v total="$total" -v one="$one" -v many="$many" 'BEGIN {
    learner = linucb - read
    predictor = with_model - read
    bound = total / cores
    if (read > bound) bound = read
    if (learner > bound) bound = learner
    if (predictor > bound) bound = predictor
    microseconds = 1e6 / rounds
    printf "%d rounds, %s, %d cores\n", rounds, model, cores
    printf "read, play and add up one candidate: %.2f us a round\n", read * microseconds
    printf "reward model: %.2f us; linucb: %.2f us; all candidates: %.2f us\n", predictor * microseconds,
        learner * microseconds, total * microseconds
    printf "-j 1: %.2f s; -j %d: %.2f s; at least %.2f s: %.2f times that\n", one, cores, many, bound, many / bound
}'
