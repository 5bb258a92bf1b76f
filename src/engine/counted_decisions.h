/* Decisions that a policy counted as tried while they waited, and that then expired or were forgotten. Their reward may
 * still come, with the record of the decision: it must then correct what was counted, not count once more.
 *
 * A decision is known by a hash of all that is kept of it; equal ones cannot be told apart and need not be. The table
 * holds about as many as the option `pending`, at most 65,536, and a later one displaces the oldest of its bucket: a
 * displaced decision that is learned after all counts as another try. */
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

/* The decision seen, which waited and was awaited, is given up. */
void counted_decisions_add(counted_decisions *self, const observation *seen);

/* The decision seen comes as a record: if it is in the table, it becomes awaited again, as it was. */
void counted_decisions_find(const counted_decisions *self, observation *seen);

/* It was learned. */
void counted_decisions_remove(counted_decisions *self, const observation *seen);

/* most_round: what parameters.round is. */
void counted_decisions_archive(counted_decisions *self, uint64_t most_round, archive *a);

#endif
