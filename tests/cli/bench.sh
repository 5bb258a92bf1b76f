#!/bin/sh
# bench.sh PROGRAM: the benchmark measures what it is asked for and nothing else. What it measures is not looked at.
. "$(dirname "$0")/cli.inc"

"$eenet" bench 'reference: dot' '20/linucb' 'bytes: in one pass' >table
like table "^this machine's best" '^ +median +quarter +3/4 +cpu'
for row in 'reference: dot of 2000' 'rank request, 525 bytes: in one pass' '10 x 100 numbers, [0-9]+ bytes: in one pass' \
    'made dsjson, [0-9]+ bytes: in one pass' 'linucb: decide' 'linucb: learn'; do
    like table "^  $row +[0-9.]+ [num]?s +"
done
test "$(grep -c ' [num]*s .*%' table)" = 6 || fail "measures what nobody asked for"

ends_with 2 "$eenet" bench --nonsense
test ! -s stdout || fail "measures though the flag is wrong"
