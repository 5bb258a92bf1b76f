#!/bin/sh
# check_symbols.sh NM LIBRARY: fails if the library (shared or static) exports a symbol other than ee_*, or no symbol at
# all.
set -eu
case $2 in
*.a) kind=-g ;;
*) kind=-D ;;
esac
"$1" "$kind" --defined-only "$2" | awk '
    NF < 3 { next } # the name of an object in an archive
    $3 ~ /^ee_/ { count++; next }
    { print "not a public name: " $3; failed = 1 }
    END { print count + 0 " public names"; exit failed || !count }'
