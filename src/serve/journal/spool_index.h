/* Finds decisions of the spool by a hash of bandit and id. Private to spool.c. */
#ifndef EENET_SPOOL_INDEX_H
#define EENET_SPOOL_INDEX_H

#include "base/json.h"
#include "base/memory.h"

typedef struct spool_slot {
    uint64_t hash, place; /* place 0: free */
} spool_slot;

/* {.owner = ...} is empty. */
typedef struct spool_index {
    memory *owner;
    spool_slot *slots; /* (capacity, a power of two) */
    size_t capacity, count;
} spool_index;

uint64_t spool_index_hash(uint32_t bandit, json_text id);

/* Makes room for this many more. */
ee_status spool_index_reserve(spool_index *self, size_t more, ee_error *error);
void spool_index_add(spool_index *self, uint64_t hash, uint64_t place);
/* Removes all from this place on; it looks at all of them. */
void spool_index_remove(spool_index *self, uint64_t from);

/* The place of an item with this hash; 0: there is none. *at: starts at 0, and continues. */
uint64_t spool_index_next(const spool_index *self, uint64_t hash, size_t *at);

#endif
