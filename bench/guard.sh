#!/bin/sh
# guard.sh check|record PROGRAM COUNTS COMPILER: counts the instructions of fixed small runs with callgrind, function by
# function. `record` stores the counts in the folder COUNTS; `check` compares with them. A run that takes over 3% more
# instructions than recorded fails, and the functions that grew are printed.
#
# The counts depend on the architecture, the compiler and the kernels, so each combination has its own file, with lines
# of POLICY ARMS ROUNDS FUNCTION COUNT. Exits with 77 (skipped) without such a file or without valgrind. valgrind does
# not support AVX-512; on such machines the runs use the avx2 kernels.
set -eu
task=$1 program=$(readlink -f "$2") counts=$3 compiler=$4
if ! command -v valgrind >/dev/null; then
    echo 'guard: no valgrind, nothing counted'
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints a callgrind file as lines of FUNCTION COUNT, without the cost of called functions; "total" comes first. All
# functions of libraries are one line, and functions below a thousandth are only in the total. Suffixes that valgrind
# ('2) or gcc (.part.0) add to a name are removed, so static functions with the same name share a line.
self_counts() {
    awk -v own="ob=$program" '
        /^ob=/ { ours = $0 == own; next }
        /^fn=/ { name = ours ? substr($0, 4) : "(libraries)"; sub(/[.\047].*/, "", name); next }
        /^calls=/ { getline; next }
        /^[0-9]/ { count[name] += $2; total += $2 }
        END {
            printf "total %.0f\n", total
            for (name in count) if (count[name] >= total / 1000) printf "%s %.0f\n", name, count[name] | "sort"
        }' "$work/callgrind"
}

count() { # POLICY ARMS ROUNDS
    LD_BIND_NOW=1 valgrind --quiet --tool=callgrind --toggle-collect=play_round --compress-strings=no \
        --compress-pos=no --callgrind-out-file="$work/callgrind" "$program" "$@" >"$work/kernels"
    self_counts | sed "s/^/$1 $2 $3 /" >>"$work/counts"
}

for arms in dense sparse; do
    for policy in eenet eenet:fast neural-ucb:paper linucb; do count $policy $arms 300; done
done
# The first training is at round 10.
count eenet:authors dense 40
count eenet:authors sparse 10

record=$counts/$(uname -m)-$compiler-$(cat "$work/kernels").txt
if [ "$task" = record ]; then
    mkdir -p "$counts"
    cp "$work/counts" "$record"
    echo "guard: recorded $record"
    exit
fi
if [ ! -f "$record" ]; then
    echo "guard: no record for this machine and compiler, $record: 'make bench-record' makes one"
    exit 77
fi
exec awk '
    { run = $1 " " $2 " " $3 }
    NR == FNR { before[run, $4] = $5; next }
    !((run, "total") in before) { if ($4 == "total") print "guard: " run ": not in the record"; failed = 1; next }
    $4 == "total" {
        total = before[run, $4]
        over = $5 > 1.03 * total
        growth = $5 - total
        printf "guard: %-28s %12.0f instructions, %+.2f%%%s\n", run, $5, 100 * growth / total, over ? ": TOO MANY" : ""
        if (over) failed = 1
        next
    }
    # Print only functions that caused more than a tenth of the growth.
    over && $5 - before[run, $4] > growth / 10 {
        printf "guard: %s: %s grew from %.0f to %.0f\n", run, $4, before[run, $4], $5
    }
    END {
        if (failed) print "guard: where it is worth it, \047make bench-record\047 makes this the record"
        exit failed
    }' "$record" "$work/counts"
