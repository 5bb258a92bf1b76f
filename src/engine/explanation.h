/* Explains a decision: what each feature contributes to the expected reward of an arm. */
#ifndef EENET_EXPLANATION_H
#define EENET_EXPLANATION_H

#include "deciding.h"

/* An entry of an arm or, for a round of named features, a feature or product of two: what it is and what it
 * contributes. */
typedef struct explained_entry {
    uint32_t left, right; /* see feature_term (features/round.h); for a vector, the place and NO_FEATURE */
    float value;          /* its value in the arm: for a number, (number - mean) / deviation */
    float contribution;   /* to score.exploitation, in rewards */
} explained_entry;

typedef struct explained_arm {
    ee_score score;
    double probability; /* of choosing it; NaN if unknown */
    float recalled;     /* part of score.score from arm memory */
    float base;         /* part of score.exploitation that no feature contributes, such as the mean reward */
    size_t first, count;
} explained_arm;

/* One per thread; its memory belongs to the scratch. */
typedef struct explanation {
    explained_arm *arms; /* (arm_count) */
    size_t arm_count;
    explained_entry *entries; /* of all arms; those of an arm start at number first */
    size_t entry_count;
    uint64_t version; /* of the state that it explains, see snapshot_update */
    float *gradient;  /* of one arm */
    size_t arm_capacity, entry_capacity, gradient_capacity;
} explanation;

enum { EXPLAIN_ALL = -1 };

/* Explains the arms of a round with the state published last: given as arms, or as a round of named features; the other
 * is NULL. only: fills entries only for this arm, or EXPLAIN_ALL. The arms are those that ee_snapshot_decide and
 * ee_snapshot_decide_round would see. *out is valid until the next call with this scratch, and its names as long as the
 * round. */
ee_status snapshot_explain(const ee_snapshot *snapshot, ee_scratch *scratch, const ee_arms *arms, ee_round *round,
                           uint64_t seed, int64_t only, explanation **out, ee_error *error);

/* Sorts the entries of each arm by the size of their contributions, largest first. */
void explanation_rank(explanation *self);

#endif
