/* Which action each person got, so that they get it again for a time. The state is a function of the drawn decisions,
 * in their order: after a restart sticky_set with those of the log rebuilds it. Without a clock and without locks, as
 * limits.h.
 *
 * Memory is bounded: if there are too many persons, those whose decision is oldest are forgotten early, and get a new
 * draw. */
#ifndef EENET_STICKY_H
#define EENET_STICKY_H

#include "base/json.h"

typedef struct sticky sticky;

/* A drawn decision. */
typedef struct sticky_decision {
    json_text id;       /* of the decision */
    json_text action;   /* what identifies the action in later requests: its name, or its place as text */
    int64_t time;       /* microseconds, of the log; if it goes back, the latest one counts */
    double probability; /* of the action, then */
} sticky_decision;

/* lasts: microseconds for which a person keeps an action (guard_settings.sticky). most: bytes, 0: STICKY_BYTES. */
ee_status sticky_create(int64_t lasts, size_t most, sticky **out, ee_error *error);
void sticky_free(sticky *self);

/* The decision that a person keeps; key and slot are hashes (slot: 0 without slots). *out borrows until the next call.
 * false: none, or it has ended. A repeat does not prolong it. */
bool sticky_find(sticky *self, int64_t now, uint64_t key, uint64_t slot, sticky_decision *out);

/* From now on the person keeps this one. Call it only for decisions that were drawn, not for repeats. Only fails for
 * lack of memory; the person then keeps nothing. */
ee_status sticky_set(sticky *self, uint64_t key, uint64_t slot, const sticky_decision *drawn, ee_error *error);

/* The person keeps nothing: the decision could not be written, was erased, or ended early. */
void sticky_forget(sticky *self, uint64_t key, uint64_t slot);

/* Persons and slots that are remembered. */
size_t sticky_count(const sticky *self);

extern const size_t STICKY_BYTES; /* 256 MiB */

#endif
