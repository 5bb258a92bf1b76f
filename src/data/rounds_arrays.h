/* The arrays of a folder of prepared rounds, and what stands beside them (rounds_file.h): read, and checked. */
#ifndef EENET_ROUNDS_ARRAYS_H
#define EENET_ROUNDS_ARRAYS_H

#include "npy.h"
#include "rounds_file.h"
#include "survey.h"

/* Starts as zeros. */
typedef struct rounds_arrays {
    rounds_file said;
    bool sparse;
    npy_array files[ROUNDS_ARRAYS]; /* those that there are not are empty */
    uint64_t fingerprint;           /* of all of them */

    /* What rounds_arrays_check finds. */
    size_t rounds, arms, dim;
    const npy_array *expected; /* of the files: the rewards where there are no other */
    size_t widest;             /* sparse: values of the round that has most */
} rounds_arrays;

/* On failure the arrays are to be released too. Names that look misspelled are remarked. */
ee_status rounds_arrays_read(const char *folder, survey *seen, rounds_arrays *out, ee_error *error);
void rounds_arrays_release(rounds_arrays *arrays);

/* EE_BAD_INPUT, with the place, where the arrays cannot be rounds or are not what rounds.json says. What looks wrong is
 * remarked. */
ee_status rounds_arrays_check(rounds_arrays *arrays, survey *seen, ee_error *error);

#endif
