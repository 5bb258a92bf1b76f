/* rounds.json, which describes the arrays in its folder.
 *
 *     {
 *       "format": 1,
 *       "dataset": "synthetic:cosine",      name of the data set
 *       "fingerprint": "0000000000000000",  checksum of its files
 *       "seed": 3,
 *       "rounds": 500, "arms": 10, "dim": 20,
 *       "blocks": 1,                        environment.h: dataset_blocks
 *       "exclusive": false,                 environment.h: dataset_exclusive
 *       "form": "dense",                    or "sparse"
 *       "files": {"contexts.npy": "9b2c...", ...},
 *       "version": "0.1.0"                  of eenet
 *     }
 *
 * A checksum is CRC-64 as in xz, in 16 hexadecimal digits. Other programs may leave out keys and add others; the keys
 * above must be correct. */
#ifndef EENET_ROUNDS_FILE_H
#define EENET_ROUNDS_FILE_H

#include <stdbool.h>

#include "base/status.h"
#include "data/kind/survey.h"
#include "data/values/text.h"

/* The arrays; T rounds of n arms with d features. */
typedef enum rounds_array {
    ROUNDS_CONTEXTS, /* dense: (n, T, d) */
    ROUNDS_VALUES,   /* sparse: the features that are not zero, arm i of round t in row t n + i */
    ROUNDS_INDICES,  /* sparse: of the values, ascending within a row */
    ROUNDS_STARTS,   /* sparse: (n T + 1) row r has the values starts[r] to starts[r + 1] */
    ROUNDS_EXPECTED, /* (n, T) */
    ROUNDS_REWARDS,  /* (n, T) */
    ROUNDS_ARRAYS
} rounds_array;

extern const char *const rounds_array_names[ROUNDS_ARRAYS]; /* of the files */

typedef enum rounds_form { ROUNDS_UNSAID, ROUNDS_DENSE, ROUNDS_SPARSE } rounds_form;

enum { ROUNDS_NAME_SIZE = 1024 };

/* Absent keys are zero or empty. */
typedef struct rounds_file {
    char dataset[ROUNDS_NAME_SIZE];
    uint64_t fingerprint, seed;
    uint64_t rounds;
    size_t arms, dim, blocks;
    bool exclusive;
    rounds_form form;
    bool listed[ROUNDS_ARRAYS]; /* the file has a checksum */
    uint64_t checksums[ROUNDS_ARRAYS];
} rounds_file;

/* EE_BAD_INPUT, with name for the file, if it does not have the format above. Warns about keys that look misspelt, if
 * there is a survey. */
ee_status rounds_file_parse(const uint8_t *bytes, size_t size, const char *name, survey *seen, rounds_file *out,
                            ee_error *error);

/* Which of names (count) a misspelt name seems to mean; NULL if it is one of them or similar to none. */
const char *rounds_file_meant(const char *name, const char *const *names, size_t count);

/* EE_BAD_INPUT if the data set's name is not UTF-8 or the seed is 2^63 or more: JSON readers accept neither. */
ee_status rounds_file_check(const rounds_file *from, ee_error *error);

/* Formats rounds.json, which has passed the check. */
void rounds_file_format(const rounds_file *from, text *into);

#endif
