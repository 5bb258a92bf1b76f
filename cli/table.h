/* Finished runs as a table: a row for each policy or setting, with its regret over the seeds. */
#ifndef EENET_TABLE_H
#define EENET_TABLE_H

#include "lab/runner.h"

typedef struct table_series {
    const char *label;
    const run_result *results; /* (seed_count) */
} table_series;

typedef struct table {
    const dataset *data;
    uint64_t rounds;
    const table_series *series; /* (count) */
    size_t count;
    const uint64_t *seeds; /* (seed_count) */
    size_t seed_count;
} table;

/* On stdout, under a line that says what was played. */
ee_status table_print(const table *of, ee_error *error);

#endif
