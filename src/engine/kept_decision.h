/* What is stored of a decision until its reward arrives, in the table of a bandit or in a record: everything as it was
 * at the decision. The struct is followed by its words: the values of the chosen arm, its indices if it is sparse, and
 * the floats that the policy stores. */
#ifndef EENET_KEPT_DECISION_H
#define EENET_KEPT_DECISION_H

#include "policy/policy.h"

typedef struct kept_decision {
    uint64_t round; /* of the parameters that decided */
    size_t arms;
    ee_score score;   /* of the played arm */
    arm_id id;        /* of the played arm */
    uint32_t entries; /* of its vector */
    uint32_t sparse;
} kept_decision;

/* Describes a decision for number `arm` of the arms, in a round of this many arms. */
kept_decision kept_decision_make(uint64_t round, size_t round_arms, const ee_arms *arms, size_t arm, ee_score score);

/* The words of a decision by this policy. */
size_t kept_decision_words(const kept_decision *self, const policy *owner);

/* The words to reserve for a decision on a sparse arm with this many non-zeros, among this many arms. */
size_t kept_decision_usual_words(const policy *owner, size_t dim, size_t nonzeros, size_t arms);

/* Call it right after score() on these parameters and arms: fills the words of a decision for this arm. */
void kept_decision_fill(const kept_decision *self, const parameters *learned, const ee_arms *arms, size_t arm,
                        const scratch *room, uint32_t *words);

observation kept_decision_observation(const kept_decision *self, const policy *owner, const uint32_t *words);

/* Visits the struct; the reader must check arms, entries and sparse. */
void kept_decision_archive(kept_decision *self, archive *a);

#endif
