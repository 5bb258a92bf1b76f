#!/bin/sh
# test_option_rows.sh COMPILER ROOT: a row of an option table compiles only if the type of its field matches.
set -eu
compiler=$1
root=$2
fail() { echo "test_option_rows.sh: $*" >&2; exit 1; }

# builds ROW: succeeds if a table with this row compiles.
builds() {
    cat >row.c <<END
#include "base/options.h"

typedef struct inner {
    double deep;
} inner;

typedef struct made {
    int64_t whole;
    double real;
    float small;
    bool flag;
    option_choice choice;
    option_text text;
    option_path path;
    char short_text[8];
    inner inner;
} made;

static const option rows[] = {$1};
extern const option_table made_option_table;
const option_table made_option_table = OPTION_TABLE(rows);
END
    "$compiler" -std=c11 -I "$root/src" -I "$root/include" -c row.c -o row.o 2>messages
}

row() {
    case $1 in
    INTEGER | REAL) echo "OPTION_ROW_$1(made, $2, \"name\", \"1\", 0, 1, \"meaning\")" ;;
    REAL_OR) echo "OPTION_ROW_REAL_OR(made, $2, \"name\", \"none\", \"none\", 0, 1, \"meaning\")" ;;
    FLAG) echo "OPTION_ROW_FLAG(made, $2, \"name\", \"on\", \"meaning\", .needs = \"other=on\")" ;;
    NUMBERED) echo "OPTION_ROW_NUMBERED(made, $2, \"name\", \"all\", \"all|some:N\", 1, 9, \"meaning\")" ;;
    *) echo "OPTION_ROW_$1(made, $2, \"name\", \"all\", \"all\", \"meaning\")" ;;
    esac
}

for right in INTEGER:whole REAL:real REAL:inner.deep REAL_OR:real FLAG:flag CHOICE:choice NUMBERED:choice TEXT:text PATH:path; do
    type=${right%:*} own=${right#*:}
    builds "$(row "$type" "$own")" || fail "$type over $own does not build: $(cat messages)"
done
for type in INTEGER:whole REAL:real REAL_OR:real FLAG:flag CHOICE:choice NUMBERED:choice TEXT:text PATH:path; do
    for field in whole real small flag choice text path short_text inner.deep; do
        if test "$field" = "${type#*:}" || test "$type:$field" = REAL:real:inner.deep ||
            test "$type:$field" = REAL_OR:real:inner.deep; then continue; fi
        ! builds "$(row "${type%:*}" "$field")" || fail "${type%:*} over $field builds"
    done
done
! builds "$(row REAL nowhere)" || fail "a row over no field builds"
