/* What a data set is, as 'eenet inspect' tells it. */
#ifndef EENET_INSPECTION_H
#define EENET_INSPECTION_H

#include "data/environment.h"
#include "data/row_encoding.h"
#include "data/survey.h"

typedef struct inspection {
    const dataset *data;
    const survey *seen;
    const row_encoding *encoding; /* NULL: features have no names */
    uint64_t seed;
    environment_round round; /* the first of the seed */
} inspection;

/* Whether all arms are one context, each in a block of its own: then the context is told, and not the arms. */
bool inspection_has_context(const inspection *of);

/* One entry of an arm that is not zero. */
typedef struct arm_entry {
    size_t index; /* within the block where there is a context, else of the arm */
    float value;
} arm_entry;

/* Goes through the entries of an arm: *at starts at 0. False past the last. */
bool inspection_next_entry(const inspection *of, size_t arm, size_t *at, arm_entry *entry);

/* The name of a feature of the context, or its number from 0. */
void inspection_feature_name(const inspection *of, size_t index, char *name, size_t capacity);

void inspection_print(const inspection *of);

/* A line of JSON; texts that are not UTF-8 have question marks in place of what is not ASCII. */
ee_status inspection_print_json(const inspection *of, ee_error *error);

#endif
