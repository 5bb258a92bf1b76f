/* Decisions that were counted as tried while pending, and then expired or were forgotten. Their reward may still arrive
 * with a record: it must then correct what was counted, not count it again. A decision is identified by a hash of
 * everything that is stored with it; equal decisions need not be distinguished. The table holds about as many as the
 * option `pending`, at most 65,536. A later one replaces the oldest of its bucket: a replaced decision that is learned
 * after all counts as another try. */
#ifndef EENET_COUNTED_DECISIONS_H
#define EENET_COUNTED_DECISIONS_H

#include "kept_decision.h"

typedef struct counted_decision {
    uint64_t key; /* 0: free */
    uint64_t awaited_at;
    float expected;
} counted_decision;

typedef struct counted_decisions {
    counted_decision *entries; /* (buckets, 4) */
    size_t buckets;
    size_t count; /* taken entries */
} counted_decisions;

ee_status counted_decisions_create(counted_decisions *self, memory *owner, size_t pending, ee_error *error);

/* Adds a decision that was counted as tried and is no longer pending. */
void counted_decisions_add(counted_decisions *self, const observation *seen);

/* A decision arrives as a record: if it is in the table, restores what await() returned. */
void counted_decisions_find(const counted_decisions *self, observation *seen);

/* Removes a decision that was learned. */
void counted_decisions_remove(counted_decisions *self, const observation *seen);

/* most_round is the current parameters.round. */
void counted_decisions_archive(counted_decisions *self, uint64_t most_round, archive *a);

#endif
