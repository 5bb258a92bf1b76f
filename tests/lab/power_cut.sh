#!/bin/sh
# power_cut.sh PROGRAM LIBRARY LUCK: experiments on a disk that loses what was not synced (serve/leaky_disk.c), with power
# cuts at many moments. A run counts as finished once its line of JSON is printed: from then on it survives, with its
# curve. In the end the folder has the bytes of one that was never interrupted.
. "$(dirname "$0")/../cli/cli.inc"
library=$2 luck=$3

runs="run -d synthetic:cosine,dim=5 -d synthetic:inner -p eenet:fast,linucb,uniform -s 0-3 -T 1${EENET_TEST_LONG:+0}00"
"$eenet" $runs -o whole -j 1 -q >table

on_leaky_disk() { LD_PRELOAD=$library LEAKY_DISK=disk LEAKY_DISK_LUCK=$luck "$@"; }

# The seconds that each run took, which no second run takes again: of the runs in files.
seconds() { grep -haEo '"seconds":[0-9.e+-]+' "$@" | sort || true; }

# cut_power LINES: as soon as this number of runs, or all, have been reported. What was reported, now or before, must be
# on the disk.
cut_power() {
    kill_after "$1" env LD_PRELOAD="$library" LEAKY_DISK=disk LEAKY_DISK_LUCK="$luck" "$eenet" $runs -o disk/runs -j 2
    drop_progress
    test ! -s stderr || fail "after $cuts power cuts: $(cat stderr)"
    cuts=$((cuts + 1))
    on_leaky_disk true # takes back the names that were not synced
    seconds said | sort -u - reported >all
    mv all reported
    find disk -name results.jsonl -o -name '*.run' >files
    seconds $(cat files) /dev/null >kept
    comm -23 reported kept >lost
    test ! -s lost || fail "power cut $cuts: reported runs are lost: $(cat lost)"
}

mkdir disk
: >reported
cuts=0
for count in 0 1 1 2 3 5 5 8 10 13 16 20 22 23; do cut_power "$count"; done
test "$(wc -l <reported)" -gt 10 || fail "only $(wc -l <reported) runs were reported"
on_leaky_disk "$eenet" $runs -o disk/runs -j 2 --json >said 2>stderr
drop_progress
test ! -s stderr || fail "the last run: $(cat stderr)"
untimed whole >expected
untimed disk/runs | cmp - expected || fail "other lines"
diff -r disk/runs/curves whole/curves || fail "other curves"
