#!/bin/sh
# lists.sh PROGRAM: policies, describe and datasets.
set -eu
eenet=$1
fail() { echo "lists.sh: $*" >&2; exit 1; }

"$eenet" policies >policies
for name in eenet eenet:paper eenet:authors greedy uniform; do
    grep -q "^$name  *[^ ]" policies || fail "no $name among the policies"
done

# What is listed can be described, and has at least the options that all policies share.
cut -d ' ' -f 1 policies >names
while read -r name; do
    "$eenet" describe "$name" >described
    head -n 1 described | grep -q "^$name: " || fail "describe $name: no summary"
    grep -q '^option  *default  *range  *meaning$' described || fail "describe $name: no table"
    grep -Eq '^pending +[0-9]+ +1 to [0-9]+ +[a-z]' described || fail "describe $name: no option pending"
done <names
"$eenet" describe eenet:paper >described
grep -q '^paper: ' described || fail "eenet:paper has no paper"
grep -q '^preset: .*f1.training=gd' described || fail "eenet:paper has no preset"
grep -Eq '^f1.training +gd +gd.sgd ' described || fail "the preset's value is not the default"
"$eenet" describe eenet >described
! grep -q '^preset: ' described || fail "eenet has a preset"

cat >expected <<'END'
synthetic:inner|quadratic|cosine[,OPTION=VALUE...]
    made rounds with a known true reward: x.a, 10(x.a)^2 or cos(3x.a)
    dim     default 20    1 to 65536    features of an arm
    arms    default 10    2 to 65536    arms of a round
    noise   default 0.1   0 to 1000     standard deviation of the rewards' noise
yelp:DIR
    the EE-Net paper's Yelp files: nine well rated entries and a badly rated one to be found
END
"$eenet" datasets | diff expected -
