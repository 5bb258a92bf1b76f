#!/bin/sh
# output.sh PROGRAM: output that cannot be written is told, and ends with status 1.
. "$(dirname "$0")/cli.inc"

# expect_full ARGUMENT...: with a full disk for stdout.
expect_full() {
    code=0
    "$eenet" "$@" >/dev/full 2>stderr || code=$?
    test "$code" = 1 || fail "eenet $*, full disk: exit status $code"
    like stderr '^eenet.*: could not write to standard output: No space left on device$'
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

# A request that is refused leaves no folder behind, and neither does --plan.
left=
for words in 'run -d synthetic:inner,colour=red -p uniform' 'run -d table:missing.csv -p uniform' \
    'run -d synthetic:inner -p uniform --set uniform.colour=red' 'run -d synthetic:inner -p eenet --set eenet.f1.width=-3' \
    'grid -d synthetic:inner -p linucb --set linucb.alpha=0.1,wide' 'grid -d synthetic:inner -p linucb --tune 0-2'; do
    code=0
    "$eenet" $words -T 5 -s 0 -o made/here >/dev/null 2>stderr || code=$?
    test "$code" != 0 && test -s stderr || fail "eenet $words: exit status $code"
    test ! -e made || left="$left
eenet $words"
    rm -rf made
done
test -z "$left" || fail "these left a folder:$left"
"$eenet" run -d synthetic:inner -p uniform -T 5 -s 0 --plan -o made/here >/dev/null
test ! -e made || fail "--plan left a folder"
"$eenet" run -d synthetic:inner -p uniform -T 5 -s 0 -o made/here >/dev/null
test -s made/here/results.jsonl || fail "no folder"
code=0
"$eenet" run -d synthetic:inner -p uniform -T 5 -s 0 -o made/here/results.jsonl >/dev/null 2>stderr || code=$?
test "$code" = 1 && grep -q 'made/here/results.jsonl' stderr || fail "a file as the folder: $code, $(cat stderr)"
