#!/bin/sh
# kernels.sh PROGRAM: EENET_KERNELS says which kernels are used.
. "$(dirname "$0")/cli.inc"

EENET_KERNELS=reference "$eenet" --version | grep -q 'kernels reference' || fail "not the kernels that were asked for"
EENET_KERNELS= "$eenet" --version >plain
"$eenet" --version | diff plain - || fail "an empty name is no name"

code=0
EENET_KERNELS=abacus "$eenet" --version >out 2>words || code=$?
test $code = 2 || fail "exit $code for kernels that there are not"
test ! -s out || fail "$(cat out)"
grep -q "^eenet: EENET_KERNELS: expected one of reference, " words || fail "$(cat words)"

# They play: the results name them.
EENET_KERNELS=reference "$eenet" run -d synthetic:cosine -p eenet -T 200 -s 0 --json >reference.json
grep -q '"kernels":"reference"' reference.json || fail "$(cat reference.json)"
