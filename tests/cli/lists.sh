#!/bin/sh
# lists.sh PROGRAM: policies, describe and datasets.
. "$(dirname "$0")/cli.inc"
stored=$(dirname "$0")/stored

"$eenet" policies >policies
like policies '^eenet  *[^ ]' '^eenet:paper  *[^ ]' '^eenet:authors  *[^ ]' '^greedy  *[^ ]' '^uniform  *[^ ]'
"$eenet" describe features | grep -Eq '^  names +8192 +places' || fail "describe features: no option names"

# What is listed can be described, and has at least the options that all policies share.
cut -d ' ' -f 1 policies >names
while read -r name; do
    COLUMNS=120 "$eenet" describe "$name" >described
    like described "^$name: " '^  option +default +meaning [(]range[)]$' '^  pending +[0-9]+ +[a-z]'
    for columns in 60 120; do
        COLUMNS=$columns "$eenet" describe "$name" |
            awk -v most=$columns 'length > most && !/^ +[^ ]+$/ { print; bad = 1 } END { exit bad }' ||
            fail "describe $name: longer than $columns columns"
    done
done <names
COLUMNS=80 "$eenet" describe linucb | diff "$stored/describe_linucb" -
"$eenet" datasets | diff "$stored/datasets" -

# A preset is a line for each part, and its values are the defaults.
"$eenet" describe eenet:paper >described
like described '^paper: ' '^  keep=all$' '^  f1.training +gd +'
"$eenet" describe eenet >described
! grep -q '^preset:' described || fail "eenet has a preset"

# First change these first, then the parts, then what has no effect.
test "$(grep '^[a-z]' described | sed 1,2d | tr '\n' '|')" = "change these first|f1, the exploitation network|f2, exploration|\
f2 as a regression|f3, the decision maker|training schedule|arms|choosing an arm|reward range|delayed rewards|memory|\
not used by eenet: first set what they need|" || fail "parts: $(cat described)"
sed '/^not used by/,$d' described | grep -q '^  prior_gain ' || fail "prior_gain does not act"
sed '1,/^not used by/d' described | grep -Eq '^  f2.rate +0.003 +needs exploration=network: learning rate' ||
    fail "no word of what f2.rate needs"
test "$(sed -n '/^change these first/,/^$/p' described | grep -c '^  [a-z]')" -le 15 || fail "too many are first"
