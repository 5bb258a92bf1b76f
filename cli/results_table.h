/* Finished runs as a table: a row for each policy or setting, with its regret over the seeds. */
#ifndef EENET_RESULTS_TABLE_H
#define EENET_RESULTS_TABLE_H

#include "lab/runs/runner.h"

typedef struct results_series {
    const char *label;
    const run_result *results; /* (seed_count) */
} results_series;

typedef struct results_table {
    const char *name; /* of the data set */
    const dataset *data;
    uint64_t rounds;
    const results_series *series; /* (count) */
    size_t count;
    const uint64_t *seeds; /* (seed_count) */
    size_t seed_count;
    const delay *late; /* of all runs */
    size_t slots;      /* the same; 0 or 1: one */
} results_table;

/* On stdout, under a line that says what was played. */
ee_status results_table_print(const results_table *of, ee_error *error);

#endif
