#include "run_index.h"

#include <stdlib.h>

#include "base/memory.h"
#include "run_keys.h"

typedef struct run_index_entry {
    uint64_t key;
    size_t place;
} run_index_entry;

static int compare(const void *left_entry, const void *right_entry)
{
    const run_index_entry *left = left_entry, *right = right_entry;
    if (left->key != right->key) return left->key < right->key ? -1 : 1;
    return left->place < right->place ? -1 : left->place > right->place;
}

ee_status run_index_create(const uint64_t *keys, size_t count, run_index *out, ee_error *error)
{
    *out = (run_index){0};
    ee_status status = memory_create(NULL, &out->sorted, count, sizeof *out->sorted, error);
    if (status) return status;
    out->count = count;
    for (size_t i = 0; i < count; i++) out->sorted[i] = (run_index_entry){keys[i], i};
    qsort(out->sorted, count, sizeof *out->sorted, compare);
    return EE_OK;
}

ee_status run_index_of_stored(const stored_runs *runs, run_index *out, ee_error *error)
{
    uint64_t *keys;
    *out = (run_index){0};
    ee_status status = memory_create(NULL, &keys, runs->count, sizeof *keys, error);
    if (status) return status;
    for (size_t i = 0; i < runs->count; i++) keys[i] = run_keys_of_stored(&runs->runs[i]).run;
    status = run_index_create(keys, runs->count, out, error);
    memory_free(keys);
    return status;
}

void run_index_release(run_index *self)
{
    memory_free(self->sorted);
    *self = (run_index){0};
}

bool run_index_find(const run_index *self, uint64_t key, size_t *place)
{
    size_t first = 0, end = self->count; /* the first whose key is not below lies between them */
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (self->sorted[middle].key < key)
            first = middle + 1;
        else
            end = middle;
    }
    if (first == self->count || self->sorted[first].key != key) return false;
    if (place) *place = self->sorted[first].place;
    return true;
}
