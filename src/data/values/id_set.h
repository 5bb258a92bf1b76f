/* The ids of the last million events, as 64-bit hashes, in constant memory. */
#ifndef EENET_ID_SET_H
#define EENET_ID_SET_H

#include <stdbool.h>

#include "base/memory.h"

enum { ID_SET_LEAST = 1 << 20 }; /* at least this many of the last ids are known, at most twice as many */

typedef struct id_table {
    uint64_t *slots; /* (capacity) 0: free */
    size_t capacity, count;
} id_table;

/* {.owner = ...} is an empty one. */
typedef struct id_set {
    memory *owner;
    id_table newer, older;
} id_set;

/* Adds the id; *there: it was present before. Over ten million events the probability of a false match is one in a
 * million. */
ee_status id_set_add(id_set *set, uint64_t hash, bool *there, ee_error *error);

/* Hashes bytes (size); every bit depends on all of them. */
uint64_t id_hash(const char *bytes, size_t size);

#endif
