#!/bin/sh
# help.sh PROGRAM: what the program says about itself.
. "$(dirname "$0")/cli.inc"

# The overview is help, whichever way it is asked for; without a verb it is a complaint.
"$eenet" help >overview
grep -q '^  eenet COMMAND' overview || fail "no usage in the overview"
for verb in run grid paper merge report evaluate rounds inspect log policies describe datasets serve keys decide explain backup move check replay bench complete; do
    grep -q "^  $verb  *[a-z]" overview || fail "no $verb in the overview"
    "$eenet" help "$verb" >asked
    "$eenet" "$verb" --help >flagged
    cmp asked flagged
    head -n 1 asked | grep -q "^Usage: eenet $verb" || fail "no usage in the help of $verb"
done
"$eenet" --help | cmp - overview
"$eenet" -h | cmp - overview
"$eenet" help help | cmp - overview
"$eenet" help --help | cmp - overview
"$eenet" help -h | cmp - overview
"$eenet" help run >asked
for words in 'help run --help' 'help --help run' '--help run' '-h run'; do
    "$eenet" $words | cmp - asked
done
ends_with 2 "$eenet"
cmp stderr overview
test ! -s stdout || fail "a complaint on stdout"

# Every flag of run is in its help.
"$eenet" help run >run
for flag in '-d, --dataset DATASET' '-p, --policies POLICY' '-T, --rounds ROUNDS' '-s, --seeds SEEDS' \
    '--delay DELAY' '-j, --jobs JOBS' '-o, --output DIR' '--shard I/N' '--set POLICY.OPTION=VALUE' '--json' '--log FILE' '--save MODEL' '--plan' '-q, --quiet'; do
    grep -q -e "$flag" run || fail "no $flag in the help of run"
done

"$eenet" --version | grep -Eqx 'eenet [0-9]+\.[0-9]+\.[0-9]+, kernels [a-z0-9]+, (without MPI|[A-Za-z ]+ [0-9.]+)' || fail "--version"

# Everything fits a terminal of 110 columns, and the overview one of 100.
for verb in run grid paper merge report evaluate rounds inspect log policies describe datasets serve keys decide explain backup move check replay complete; do "$eenet" help "$verb"; done >all
awk 'length > (FILENAME == "all" ? 110 : 100) { print FILENAME ": " $0; bad = 1 } END { exit bad }' overview all
