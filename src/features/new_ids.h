/* Ids of actions that have not come again yet. A name is kept for ever, so an id gets one only when it comes in a
 * second round: ids that never recur, as those of sessions, take no place in the dictionary. The rounds of the slots of
 * one request follow each other and have the same ids: rounds that are fewer apart than a round has actions, or fewer
 * than 8, count as one.
 *
 * This is a table of hashes, in groups of 8 with the newest first. It grows to 16,384 of them; then the oldest of a
 * group gives way. */
#ifndef EENET_NEW_IDS_H
#define EENET_NEW_IDS_H

#include "base/archive.h"
#include "base/memory.h"

typedef struct new_id {
    uint64_t hash; /* 0: free */
    uint64_t round;
} new_id;

typedef struct new_ids {
    new_id *entries; /* (capacity) */
    size_t count, capacity;
} new_ids;

/* Room for so many more, or for all that are kept. */
ee_status new_ids_reserve(new_ids *self, memory *owner, size_t more, ee_error *error);

/* An id came in a round of so many actions: whether it came in an earlier one too. Then it is forgotten here. Else it
 * is kept, for which there is room. */
bool new_ids_came_again(new_ids *self, uint64_t hash, uint64_t round, size_t actions);

void new_ids_archive(new_ids *self, memory *owner, uint64_t rounds, archive *a);

#endif
