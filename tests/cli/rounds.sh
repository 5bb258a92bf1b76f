#!/bin/sh
# rounds.sh PROGRAM: rounds written and played again give the same numbers; what is cut short leaves nothing to play.
. "$(dirname "$0")/cli.inc"

# numbers DATASET...: what three policies get.
numbers() {
    "$eenet" run -p eenet,uniform,linucb -s 3 -T "$rounds" --json -d "$1" |
        grep -oE '"(policy|seed|rounds|regret|reward|optimal)":[^,}]*'
}

# same DATASET FOLDER: to the last digit, for dense and sparse arms.
same() {
    said=$("$eenet" rounds -d "$1" -s 3 -T "$rounds" -o "$2" 2>stderr) || fail "$1: $(cat stderr)"
    test "$said" = "$2: $rounds rounds of $3, seed 3" || fail "said '$said'"
    test ! -s stderr || fail "words on stderr, which is no terminal: $(cat stderr)"
    numbers "$1" >direct
    numbers "rounds:$2" >prepared
    test "$(wc -l <direct)" = 18 || fail "$1: $(cat direct)"
    diff direct prepared || fail "$1: other numbers"
}
rounds=500
same synthetic:cosine dense synthetic:cosine
same synthetic:clicks clicks synthetic:clicks
same synthetic:clicks,blocks=on,arms=5 shop synthetic:clicks,blocks=on,arms=5
awk 'BEGIN { for (i = 0; i < 60; i++) printf "%d,%.2f,%s\n", i % 7, (i * 37 % 11) / 4, substr("abc", i % 3 + 1, 1) }' >few.csv
rounds=60
same table:few.csv,header=no sparse table:few,header=no
for file in contexts.npy rewards.npy expected.npy rounds.json; do test -s dense/$file || fail "no $file"; done
for file in values.npy indices.npy starts.npy; do test -s sparse/$file || fail "no $file"; done
if [ -d /usr/share/datasets/fashion-mnist ]; then
    rounds=200
    same fashion-mnist images fashion-mnist
fi

# All of a data set that ends, unless told otherwise; the same arrays again.
"$eenet" rounds -d rounds:dense -o again >said
test "$(cat said)" = "again: 500 rounds of rounds:dense, seed 0" || fail "$(cat said)"
cmp dense/contexts.npy again/contexts.npy

refuse 2 "expected a data set: -d DATASET" rounds -o new
refuse 2 "expected a folder to write to: -o DIR" rounds -d synthetic:inner
refuse 2 "--seed is given twice" rounds -d synthetic:inner -o new -s 1 -s 2
refuse 2 "--rounds: expected a whole number from 1 to 9223372036854775807, got '0'" rounds -d synthetic:inner -o new -T 0
refuse 2 "--seed: expected a whole number from 0 to 9223372036854775807, got '0-4'" rounds -d synthetic:inner -o new -s 0-4
refuse 2 "unexpected argument 'new'" rounds -d synthetic:inner new
refuse 2 "synthetic: unknown form 'iner'; did you mean 'inner'?" rounds -d synthetic:iner -o new
refuse 1 "rounds: rounds:dense has 500 rounds, cannot write 501" rounds -d rounds:dense -T 501 -o new
refuse 1 "rounds: dense already holds other rounds (synthetic:cosine, seed 3, 500 rounds); choose another folder" rounds \
    -d synthetic:cosine -s 4 -T 500 -o dense
refuse 1 "rounds: nowhere: No such file or directory" rounds -d rounds:nowhere -o new

# One byte that changes is noticed.
cp -r dense changed
printf 'x' | dd of=changed/contexts.npy bs=1 seek=1000 conv=notrunc 2>dd
ends_with 1 "$eenet" run -d rounds:changed -p uniform -T 5
like stderr '^eenet run: rounds: changed/contexts.npy does not match rounds.json: '

# What would never end gets a signal when it is writing.
write_without_end() {
    start rounds -d synthetic:inner,dim=1,arms=2 -T 1000000000 -o cut >stdout 2>stderr
    await "the arrays" test -e cut/rewards.npy.unfinished
    await_handler "$pid"
}
write_without_end
interrupt
test "$(cat stderr)" = "eenet rounds: interrupted; nothing was written" || fail "Ctrl-C: $(cat stderr)"
test ! -e cut || fail "Ctrl-C leaves $(ls cut)"

write_without_end
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
test "$(ls cut | grep -cv '\.unfinished$')" = 0 || fail "a kill leaves $(ls cut)"
! "$eenet" run -d rounds:cut -p uniform -T 1 >stdout 2>stderr || fail "what was cut is played"
"$eenet" rounds -d synthetic:inner -T 10 -o cut >stdout
"$eenet" run -d rounds:cut -p uniform -T 10 -s 0 >stdout
test "$(ls cut | tr '\n' ' ')" = "contexts.npy expected.npy rewards.npy rounds.json " || fail "left: $(ls cut)"
