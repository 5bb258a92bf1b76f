/* The one way from arms to decisions: score, draw, store. A call decides one round, several, or slots, with or without
 * exclusions, for a bandit or on a snapshot, always with one state of the parameters. What is stored of each decision
 * is then in the room (deciding_room.made): a bandit adds it to its pending decisions, a scratch makes records of
 * it. */
#ifndef EENET_DECIDING_CALL_H
#define EENET_DECIDING_CALL_H

#include "deciding.h"

typedef struct deciding_call {
    const ee_arms *rounds; /* (count) */
    size_t count;
    const uint8_t *excluded; /* NULL, or one per arm of each round: non-zero if it must not be chosen */
    bool slots; /* the rounds are the same arms as seen by several slots, and each slot takes a different one */
    ee_decision *decisions; /* (count); their ids are 0 */
    ee_score *scores;       /* NULL, or one per arm of each round; 0 for an excluded arm */
    double *probabilities;  /* the same */
} deciding_call;

/* Checks the arguments of the caller; dim is that of the bandit. */
ee_status deciding_call_check(const deciding_call *self, size_t dim, ee_error *error);

/* Makes the decisions of a checked call. Writes only to the room. On failure, numbers drawn from its streams stay
 * drawn. */
ee_status deciding_call_make(const deciding_call *self, const decision_rules *rules, const parameters *learned,
                             deciding_room *room, ee_error *error);

#endif
