/* A decision taken apart: what each feature contributes to the reward that is expected of an arm. */
#ifndef EENET_EXPLANATION_H
#define EENET_EXPLANATION_H

#include "deciding.h"

/* An entry of an arm, or of a round of named features a feature or product of two: which it is, and what it adds. */
typedef struct explained_entry {
    uint32_t left, right; /* as feature_term has them (features/round.h); of a vector the place and NO_FEATURE */
    float value;          /* as it enters the arm: a number less its mean, by its deviation */
    float contribution;   /* to score.exploitation, in rewards */
} explained_entry;

typedef struct explained_arm {
    ee_score score;
    double probability; /* with which it is chosen; not a number where that is unknown */
    float recalled;     /* of score.score: what came of this very arm before */
    float base;         /* of score.exploitation: what no feature contributes, as the mean of the rewards */
    size_t first, count;
} explained_arm;

/* One for each thread; its room is that of the scratch that it is made with. */
typedef struct explanation {
    explained_arm *arms; /* (arm_count) */
    size_t arm_count;
    explained_entry *entries; /* of all arms, one after the other: those of an arm from number first on */
    size_t entry_count;
    uint64_t version; /* of what it was made on, see snapshot_update */
    float *gradient;  /* of one arm */
    size_t arm_capacity, entry_capacity, gradient_capacity;
} explanation;

enum { EXPLAIN_ALL = -1 };

/* Explains the arms of a round by what was published last: of arms, or of a round of named features, the other being
 * NULL. only: the entries of this arm alone are told, and those of the others are none; or EXPLAIN_ALL. The arms are
 * those that ee_snapshot_decide and ee_snapshot_decide_round would see. *out is valid until the next call with this
 * scratch, and its names as long as the round. */
ee_status snapshot_explain(const ee_snapshot *snapshot, ee_scratch *scratch, const ee_arms *arms, ee_round *round,
                           uint64_t seed, int64_t only, explanation **out, ee_error *error);

/* Puts the entries of each arm in the order of their contributions, the largest first, whatever the sign. */
void explanation_rank(explanation *self);

#endif
