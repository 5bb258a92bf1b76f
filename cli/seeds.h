/* Lists of seeds, as "0-4" or "0,3,7-9". */
#ifndef EENET_SEEDS_H
#define EENET_SEEDS_H

#include <stdio.h>

#include "base/status.h"

typedef struct seed_list {
    uint64_t *values; /* (count) ascending, each once; to be freed with memory_free */
    size_t count;
    size_t capacity;
} seed_list;

/* list starts as zeros. On failure, too, its values are to be freed. */
ee_status seeds_parse(const char *text, seed_list *list, ee_error *error);

/* "0, 3, 7-9". values is (count), ascending. */
void seeds_print(FILE *stream, const uint64_t *values, size_t count);

#endif
