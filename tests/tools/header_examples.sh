#!/bin/sh
# header_examples.sh HEADER COMPILER: compiles the examples in the header's comments. An example is a block of lines
# that begin with " *     " after an empty line of the comment. The examples of one comment become one function.
set -eu
header=$1
compiler=$2

compile() {
    "$compiler" -std=c11 -Wall -Wextra -Werror -Wno-unused -Wno-unused-but-set-variable -Wno-uninitialized \
        -I "$(dirname "$header")" -fsyntax-only "$1"
}

cat >examples.c <<'PRELUDE'
#include <eenet.h>
#include <string.h>

void fail(const ee_error *error);
extern float features[200];
extern double reward;
extern uint64_t seed;

/* What the first example declares, and the later ones go on with. */
#define GO_ON                                                                                                          \
    ee_settings settings = {0};                                                                                        \
    ee_bandit *bandit = 0;                                                                                             \
    ee_decision decision;                                                                                              \
    ee_arms arms;                                                                                                      \
    ee_error error;                                                                                                    \
    ee_status status;                                                                                                  \
    ee_round *round = 0;                                                                                               \
    ee_snapshot *snapshot = 0;                                                                                         \
    ee_scratch *scratch = 0;                                                                                           \
    const void *record = 0;                                                                                            \
    size_t size = 0;
PRELUDE
awk '
    /^\/\*/ { comment++ }
    /^ \*$/ { after_blank = 1; next }
    /^ \*     / && (after_blank || inside) {
        if (!open) printf "void example_%d(void);\nvoid example_%d(void)\n{\n%s", comment, comment, found ? "GO_ON\n" : ""
        sub(/^ \*/, "")
        print
        open = 1; inside = 1; after_blank = 0; found++
        next
    }
    { after_blank = 0; inside = 0 }
    /\*\// { if (open) print "}"; open = 0 }
    END { if (found < 15) { print "too few examples were found" > "/dev/stderr"; exit 1 } }
' "$header" >>examples.c
compile examples.c

# Check that an example with a missing argument is rejected.
sed 's/ee_snapshot_update(snapshot, bandit, &error)/ee_snapshot_update(snapshot, bandit)/' examples.c >wrong.c
if cmp -s examples.c wrong.c || compile wrong.c 2>/dev/null; then
    echo "an example that lacks an argument is not found" >&2
    exit 1
fi
