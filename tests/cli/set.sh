#!/bin/sh
# set.sh PROGRAM: which policies an option of --set reaches.
. "$(dirname "$0")/cli.inc"

# values OPTION ARGUMENT...: the option's value in each run, as "POLICY=VALUE" in one line.
values() {
    option=$1
    shift
    "$eenet" run -d synthetic:inner,arms=2 -p eenet,eenet:authors,greedy -T 2 -s 0 --json "$@" |
        sed -E "s/.*\"policy\":\"([^\"]*)\".*[ \"]$option=([0-9]+)[ \"].*/\1=\2/" | tr '\n' ' '
}
expect() {
    expected=$1
    shift
    got=$(values "$@")
    test "$got" = "$expected " || fail "$*: got '$got', expected '$expected'"
}

usual=$("$eenet" describe greedy | awk '$1 == "pending" { print $2 }')
expect "eenet=$usual eenet:authors=$usual greedy=$usual" pending
expect "eenet=7 eenet:authors=7 greedy=$usual" pending --set eenet.pending=7
expect "eenet=$usual eenet:authors=7 greedy=$usual" pending --set eenet:authors.pending=7
expect 'eenet=7 eenet:authors=8 greedy=9' pending --set eenet.pending=7 --set eenet:authors.pending=8 \
    --set=greedy.pending=9
expect 'eenet=9 eenet:authors=9 greedy=8' pending --set eenet:authors.pending=7 --set greedy.pending=8 \
    --set eenet.pending=9
expect 'eenet=3 eenet:authors=3 greedy=4' 'f1\.steps' --set eenet.f1.steps=3 --set greedy.f1.steps=4
