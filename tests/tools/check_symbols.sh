#!/bin/sh
# check_symbols.sh NM LIBRARY: fails on a symbol of the shared library that is not ee_*, and where there is none at all.
set -eu
"$1" -D --defined-only "$2" | awk '
    $3 ~ /^ee_/ { count++; next }
    { print "not a public name: " $3; failed = 1 }
    END { print count + 0 " public names"; exit failed || !count }'
