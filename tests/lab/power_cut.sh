#!/bin/sh
# power_cut.sh PROGRAM LIBRARY LUCK: experiments on a disk that loses what was not synced (serve/leaky_disk.c), with power
# cuts at many moments. A run counts as finished once its line of JSON is printed: from then on it survives, with its
# curve. In the end the folder has the bytes of one that was never interrupted.
set -eu
eenet=$1 library=$2 luck=$3
fail() { echo "power_cut.sh: $*" >&2; exit 1; }
. "$(dirname "$0")/../cli/progress.inc"

runs='-d synthetic:cosine,dim=5 -d synthetic:inner -p eenet:fast,linucb,uniform -T 500 -s 0-3'
# shellcheck disable=SC2086 # words
"$eenet" run $runs -o whole -j 1 -q >table

on_leaky_disk() { LD_PRELOAD=$library LEAKY_DISK=disk LEAKY_DISK_LUCK=$luck "$@"; }
untimed() { sed -E 's/"seconds":[^,]*//' "$1/results.jsonl"; }

# The seconds that each run took, which no second run takes again: of the runs in files.
seconds() { grep -haEo '"seconds":[0-9.e+-]+' "$@" | sort || true; }

# cut_power LINES: soon after this number of runs, or all, have been reported. What was reported, now or before,
# must be on the disk.
cut_power() {
    : >said
    : >stderr
    # shellcheck disable=SC2086
    LD_PRELOAD=$library LEAKY_DISK=disk LEAKY_DISK_LUCK=$luck "$eenet" run $runs -o disk/runs -j 2 --json >said 2>stderr &
    pid=$!
    while test "$(wc -l <said)" -lt "$1" && kill -0 "$pid" 2>/dev/null; do :; done
    turn=0
    while test "$turn" -lt "$((cuts * 1237 % 5000))"; do turn=$((turn + 1)); done
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    drop_progress
    test ! -s stderr || fail "after $cuts power cuts: $(cat stderr)"
    cuts=$((cuts + 1))
    on_leaky_disk true # takes back the names that were not synced
    seconds said | sort -u - reported >all
    mv all reported
    find disk -name results.jsonl -o -name '*.run' >files
    # shellcheck disable=SC2046
    seconds $(cat files) /dev/null >kept
    comm -23 reported kept >lost
    test ! -s lost || fail "power cut $cuts: reported runs are lost: $(cat lost)"
}

mkdir disk
: >reported
cuts=0
for count in 0 1 1 2 3 4 5 5 7 8 10 12 13 15 16 18 20 21 22 23; do cut_power "$count"; done
test "$(wc -l <reported)" -gt 10 || fail "only $(wc -l <reported) runs were reported"
# shellcheck disable=SC2086
on_leaky_disk "$eenet" run $runs -o disk/runs -j 2 --json >said 2>stderr
drop_progress
test ! -s stderr || fail "the last run: $(cat stderr)"
untimed whole >expected
untimed disk/runs | cmp - expected || fail "other lines"
diff -r disk/runs/curves whole/curves || fail "other curves"
