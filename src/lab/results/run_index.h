/* Finds runs by their keys (run_keys). */
#ifndef EENET_RUN_INDEX_H
#define EENET_RUN_INDEX_H

#include "results.h"

typedef struct run_index {
    struct run_index_entry *sorted; /* (count) */
    size_t count;
} run_index;

/* keys is (count). To be released. */
ee_status run_index_create(const uint64_t *keys, size_t count, run_index *out, ee_error *error);
ee_status run_index_of_stored(const stored_runs *runs, run_index *out, ee_error *error);
void run_index_release(run_index *self);

/* Whether there is such a key; *place, unless place is NULL, is the first that has it. */
bool run_index_find(const run_index *self, uint64_t key, size_t *place);

#endif
