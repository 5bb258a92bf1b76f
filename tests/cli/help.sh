#!/bin/sh
# help.sh PROGRAM: what the program says about itself, also of its kernels.
. "$(dirname "$0")/cli.inc"

# The overview is help, whichever way it is asked for; without a verb it is a complaint.
"$eenet" help >overview
has overview '  eenet COMMAND'
for verb in run grid paper merge report evaluate rounds inspect log policies describe datasets serve keys decide explain backup move check replay bench complete; do
    like overview "^  $verb  *[a-z]"
    "$eenet" help "$verb" >asked
    "$eenet" "$verb" --help | cmp asked -
    head -n 1 asked | grep -q "^Usage: eenet $verb" || fail "no usage in the help of $verb"
    test "$verb" = bench || cat asked >>all
done
for words in --help -h 'help help' 'help --help' 'help -h'; do "$eenet" $words | cmp - overview; done
"$eenet" help run >asked
for words in 'help run --help' 'help --help run' '--help run' '-h run'; do "$eenet" $words | cmp - asked; done
ends_with 2 "$eenet"
cmp stderr overview
test ! -s stdout || fail "a complaint on stdout"

has asked '-d, --dataset DATASET' '-p, --policies POLICY' '-T, --rounds ROUNDS' '-s, --seeds SEEDS' '--delay DELAY' '-j, --jobs JOBS' \
    '-o, --output DIR' '--shard I/N' '--set POLICY.OPTION=VALUE' '--json' '--log FILE' '--save MODEL' '--plan' '-q, --quiet'
"$eenet" --version >version
like version '^eenet [0-9]+\.[0-9]+\.[0-9]+, kernels [a-z0-9]+, (without MPI|[A-Za-z ]+ [0-9.]+)$'

# Everything fits a terminal of 110 columns, and the overview one of 100.
awk 'length > (FILENAME == "all" ? 110 : 100) { print FILENAME ": " $0; bad = 1 } END { exit bad }' overview all

# EENET_KERNELS says which kernels are used, and the results name them.
EENET_KERNELS=reference "$eenet" --version | grep -q 'kernels reference' || fail "not the kernels that were asked for"
EENET_KERNELS= "$eenet" --version | diff version - || fail "an empty name is no name"
ends_with 2 env EENET_KERNELS=abacus "$eenet" --version
like stderr "^eenet: EENET_KERNELS: expected one of reference, "
EENET_KERNELS=reference "$eenet" run -d synthetic:cosine -p linucb -T 20 -s 0 --json | grep -q '"kernels":"reference"' || fail "kernels"
