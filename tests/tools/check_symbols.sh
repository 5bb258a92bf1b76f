#!/bin/sh
# check_symbols.sh NM LIBRARY: fails on a symbol that the library, shared or static, shows and that is not ee_*, and
# where there is none at all.
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
