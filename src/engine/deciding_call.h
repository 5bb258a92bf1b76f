/* A call that makes several decisions, all on what the bandit knows when it begins. They are written down one after the
 * other and remembered together at the end, so that a call that fails has changed nothing. */
#ifndef EENET_DECIDING_CALL_H
#define EENET_DECIDING_CALL_H

#include "bandit.h"

typedef struct deciding_call {
    ee_bandit *bandit;
    size_t count;             /* decisions that it is to make */
    size_t made;              /* written down so far */
    double length;            /* that arms are divided by */
    size_t words, most_words; /* of all decisions so far, and of the largest */
    decision_streams before;
} deciding_call;

ee_status deciding_call_begin(deciding_call *self, ee_bandit *bandit, size_t count, ee_error *error);

/* Writes down the next decision: for arm number `at` of the scored ones, with this score, in a round of so many. Right
 * after they were scored. */
ee_status deciding_call_keep(deciding_call *self, const scored_arms *scored, size_t at, size_t round_arms,
                             ee_score score, ee_error *error);

/* The id of the decision that was written down last. */
uint64_t deciding_call_id(const deciding_call *self);

/* Remembers the decisions; where something failed (status), takes all back. Returns status, or why it fails now. */
ee_status deciding_call_end(deciding_call *self, ee_status status, ee_error *error);

#endif
