/* The output of 'eenet inspect'. */
#ifndef EENET_INSPECTION_H
#define EENET_INSPECTION_H

#include "data/kind/survey.h"
#include "data/sets/environment.h"
#include "data/tables/row_encoding.h"

typedef struct inspection {
    const dataset *data;
    const survey *seen;
    const row_encoding *encoding; /* NULL: features have no names */
    uint64_t seed;
    environment_round round; /* the first of the seed */
} inspection;

/* Whether all arms are the same context in different blocks: then the context is shown instead of the arms. */
bool inspection_has_context(const inspection *of);

/* One nonzero entry of an arm. */
typedef struct arm_entry {
    size_t index; /* within the block if there is a context, else within the arm */
    float value;
} arm_entry;

/* Iterates over the entries of an arm: *at starts at 0. False after the last. */
bool inspection_next_entry(const inspection *of, size_t arm, size_t *at, arm_entry *entry);

/* The name of a feature of the context, or its number from 0. */
void inspection_feature_name(const inspection *of, size_t index, char *name, size_t capacity);

void inspection_print(const inspection *of);

/* Prints one line of JSON. In text that is not UTF-8, bytes outside ASCII become question marks. */
ee_status inspection_print_json(const inspection *of, ee_error *error);

#endif
