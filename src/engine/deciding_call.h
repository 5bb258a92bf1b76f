/* The one way from arms to decisions: score, draw, keep. A call decides one round, several, or slots, with or without
 * exclusions, by a bandit or on a snapshot of it; all by the same parameters. What is kept of each decision then lies
 * in the room (deciding_room.made): the bandit remembers it until the reward comes, a scratch makes records of it. */
#ifndef EENET_DECIDING_CALL_H
#define EENET_DECIDING_CALL_H

#include "deciding.h"

typedef struct deciding_call {
    const ee_arms *rounds; /* (count) */
    size_t count;
    const uint8_t *excluded; /* NULL, or one for each arm of each round: not zero if it must not be chosen */
    bool slots;              /* the rounds are the same arms as several slots see them, and each slot takes another */
    ee_decision *decisions;  /* (count) with the id 0 */
    ee_score *scores;        /* NULL, or one for each arm of each round; 0 for an arm that could not be chosen */
    double *probabilities;   /* likewise */
} deciding_call;

/* Checks what the caller gave; dim is the bandit's. */
ee_status deciding_call_check(const deciding_call *self, size_t dim, ee_error *error);

/* Makes the decisions of a call that was checked. Changes nothing but the room. If it fails, it has drawn from the
 * room's streams all the same. */
ee_status deciding_call_make(const deciding_call *self, const decision_rules *rules, const parameters *learned,
                             deciding_room *room, ee_error *error);

#endif
