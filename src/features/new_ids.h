/* Ids of actions that have not recurred yet.
 *
 * Names are never removed, so an id gets one only when it comes in a second round: ids that never recur, such as those
 * of sessions, take no place in the dictionary. The rounds of the slots of one request follow each other and have the
 * same ids: rounds that are fewer apart than a round has actions, or fewer than 8, count as one.
 *
 * This is a table of hashes, in groups of 8 with the newest first. It grows to 16,384 hashes; then the oldest of a
 * group is replaced. */
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

/* Reserves memory for this many more, or for the most that are stored. */
ee_status new_ids_reserve(new_ids *self, memory *owner, size_t more, ee_error *error);

/* Notes an id in a round of this many actions. Returns true, and removes the id, if it came in an earlier round.
 * Otherwise stores it, for which memory must be reserved. */
bool new_ids_came_again(new_ids *self, uint64_t hash, uint64_t round, size_t actions);

void new_ids_archive(new_ids *self, memory *owner, uint64_t rounds, archive *a);

#endif
