#!/bin/sh
# output.sh PROGRAM: output that cannot be written is told, and ends with status 1.
. "$(dirname "$0")/cli.inc"

# With a full disk for stdout: told once.
while read -r words; do
    code=0
    "$eenet" $words >/dev/full 2>stderr || code=$?
    test "$code" = 1 || fail "eenet $words, full disk: exit status $code"
    like stderr '^eenet.*: could not write to standard output: No space left on device$'
    test "$(wc -l <stderr)" = 1 || fail "eenet $words, full disk: told twice"
done <<'END'
help
--version
policies
datasets
describe eenet
run -d synthetic:inner -p uniform -T 5 -s 0
run -d synthetic:inner -p uniform -T 5 -s 0-9 --json
END
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
has_line stderr 'eenet run: could not write to standard output: Broken pipe'

# A request that is refused leaves no folder behind, and neither does --plan.
while read -r status words; do
    ends_with "$status" "$eenet" $words -T 5 -s 0 -o made/here
    test ! -e made && test -s stderr || fail "eenet $words: left a folder: $(cat stderr)"
done <<'END'
2 run -d synthetic:inner,colour=red -p uniform
1 run -d table:missing.csv -p uniform
2 run -d synthetic:inner -p uniform --set uniform.colour=red
2 run -d synthetic:inner -p eenet --set eenet.f1.width=-3
2 grid -d synthetic:inner -p linucb --set linucb.alpha=0.1,wide
2 grid -d synthetic:inner -p linucb --tune 0-2
END
"$eenet" run -d synthetic:inner -p uniform -T 5 -s 0 --plan -o made/here >stdout
test ! -e made || fail "--plan left a folder"
"$eenet" run -d synthetic:inner -p uniform -T 5 -s 0 -o made/here >stdout
test -s made/here/results.jsonl || fail "no folder"
ends_with 1 "$eenet" run -d synthetic:inner -p uniform -T 5 -s 0 -o made/here/results.jsonl
has stderr made/here/results.jsonl
