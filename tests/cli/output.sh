#!/bin/sh
# output.sh PROGRAM: output that cannot be written is told, and ends with status 1.
set -eu
eenet=$1
fail() { echo "output.sh: $*" >&2; exit 1; }

# expect_full ARGUMENT...: with a full disk for stdout.
expect_full() {
    code=0
    "$eenet" "$@" >/dev/full 2>stderr || code=$?
    test "$code" = 1 || fail "eenet $*, full disk: exit status $code"
    grep -q '^eenet.*: could not write to standard output: No space left on device$' stderr ||
        fail "eenet $*, full disk: $(cat stderr)"
    test "$(wc -l <stderr)" = 1 || fail "eenet $*, full disk: told twice"
}
expect_full help
expect_full --version
expect_full policies
expect_full datasets
expect_full describe eenet
expect_full run -d synthetic:inner -p uniform -T 5 -s 0
expect_full run -d synthetic:inner -p uniform -T 5 -s 0 --json
expect_full run -d synthetic:inner -p uniform -T 5 -s 0-9 --json

code=0
"$eenet" policies >&- 2>stderr || code=$?
test "$code" = 1 || fail "closed stdout: exit status $code"

# A reader that leaves after one line: the runs that nobody will read are not played.
{
    code=0
    "$eenet" run -d synthetic:inner -p uniform -T 1000 -s 0-99999 --json 2>stderr || code=$?
    echo "$code" >code
} | head -n 1 >first
test "$(cat code)" = 1 || fail "closed pipe: exit status $(cat code)"
test "$(wc -l <first)" = 1 || fail "closed pipe: no first line"
grep -q '^eenet run: could not write to standard output: Broken pipe$' stderr || fail "closed pipe: $(cat stderr)"
