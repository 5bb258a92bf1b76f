#!/bin/sh
# record.sh check|write PROGRAM RECORDS COMPILER: plays record.c's runs and compares their lines with those in the folder
# RECORDS, or writes them anew. Rounding depends on the processor, the compiler and the kernels, so each has a file of
# its own. Exit status 77 where there is none for this machine.
set -eu
task=$1 program=$2 records=$3 compiler=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" >"$work/lines"
kernels=$(sed -n 's/^kernels //p' "$work/lines")
record=$records/$(uname -m)-$compiler-$kernels.txt
if [ "$task" = write ]; then
    cp "$work/lines" "$record"
    echo "record: wrote $record"
    exit
fi
if [ ! -f "$record" ]; then
    echo "record: none for this machine and compiler, $record: 'make record' writes one"
    exit 77
fi
if diff -u "$record" "$work/lines"; then
    echo "record: all $(wc -l <"$record") lines as they were"
    exit
fi
echo "record: these runs are not what they were; where that is meant, 'make record' makes this the record"
exit 1
