/* Reads and checks the arrays of a folder of prepared rounds, and its rounds.json (rounds_file.h). */
#ifndef EENET_ROUNDS_ARRAYS_H
#define EENET_ROUNDS_ARRAYS_H

#include "data/files/npy.h"
#include "data/kind/survey.h"
#include "rounds_file.h"

/* Starts as zeros. */
typedef struct rounds_arrays {
    rounds_file said;
    bool sparse;
    npy_array files[ROUNDS_ARRAYS]; /* empty if the file is absent */
    uint64_t fingerprint;           /* of all of them */

    /* Set by rounds_arrays_check. */
    size_t rounds, arms, dim;
    const npy_array *expected; /* one of the files: the rewards if there is no expected.npy */
    size_t widest;             /* sparse: the largest number of values in a round */
} rounds_arrays;

/* Release the arrays, on failure too. Warns about names that look misspelt. */
ee_status rounds_arrays_read(const char *folder, survey *seen, rounds_arrays *out, ee_error *error);
void rounds_arrays_release(rounds_arrays *arrays);

/* EE_BAD_INPUT, with the place, if the arrays are not valid rounds or do not match rounds.json. Warns about likely
 * mistakes. */
ee_status rounds_arrays_check(rounds_arrays *arrays, survey *seen, ee_error *error);

#endif
