/* Decisions that wait for their reward: a window over the last `limit` decisions. A decision leaves it when its reward
 * comes, when it is forgotten, or expires: when `limit` more were made, or `wait` has passed. All room is reserved at
 * the start for rounds of the size that the options name, or it doubles as they come (common_options.grows); a larger
 * decision has room of its own while it waits. */
#ifndef EENET_PENDING_H
#define EENET_PENDING_H

#include "base/slots.h"
#include "kept_decision.h"

/* The numbers are those of the model file. */
typedef enum pending_state {
    PENDING_EMPTY,
    PENDING_WAITING,
    PENDING_REWARDED,
    PENDING_FORGOTTEN,
    PENDING_EXPIRED,  /* by time, and was forgotten */
    PENDING_DEFAULTED /* by time, and was learned with the default reward */
} pending_state;

typedef struct pending_entry {
    uint64_t id;
    kept_decision decision; /* its words lie in the slot */
    size_t slot;
    pending_state state;
    double time;         /* at which it was made */
    bool awaited;        /* the policy was told of it, and */
    float expected;      /* this is what it said */
    uint64_t awaited_at; /* the policy's round then */
} pending_entry;

typedef struct pending {
    const policy *policy;
    size_t dim, limit;
    double wait;            /* 0: without end */
    double default_reward;  /* of a decision that expires; not a number: none */
    pending_entry *entries; /* (limit), a decision's is number id % limit */
    uint64_t untold;        /* the policy was told of all decisions below this id that wait */
    uint64_t oldest;        /* no decision below this id waits */

    /* Slots are handed out last in, first out: where rewards come at once, one slot stays warm in the cache. */
    slots slots;        /* (limit + 1): a decision that is pushed out keeps its own until it was learned */
    size_t used_slots;  /* how many were ever handed out */
    size_t *free_slots; /* (limit + 1), the first free_count of them are free again */
    size_t free_count;
} pending;

ee_status pending_create(pending *self, memory *owner, const policy *decider, const common_options *options, size_t dim,
                         ee_error *error);

/* Makes room for `count` decisions of at most so many words, no more than the limit: after this, pending_add of them in
 * turn cannot fail. */
ee_status pending_reserve(pending *self, size_t count, size_t words, ee_error *error);

/* Adds the decision, made at this time. Returns where its words go. *leaving becomes the entry of the decision that was
 * made `limit` decisions before: where its state says that it waits, it has to be removed before the next is added. */
uint32_t *pending_add(pending *self, uint64_t id, const kept_decision *decision, double time, pending_entry *leaving);

/* The first decision that waits, or NULL. */
pending_entry *pending_oldest(pending *self, uint64_t made);

/* The decision, if it waits for its reward. made is how many decisions there were; verb is for messages, as "learn". */
ee_status pending_find(pending *self, uint64_t id, uint64_t made, const char *verb, pending_entry **out,
                       ee_error *error);
observation pending_observation(const pending *self, const pending_entry *entry);
void pending_remove(pending *self, pending_entry *entry, pending_state why);

/* The first decision that waits and that the policy was not told of, or NULL. Where rewards come at once, this looks at
 * one entry for each decision. */
pending_entry *pending_untold(pending *self, uint64_t made);

/* The decision, which waits, is awaited as seen says: the policy was told of it before. */
void pending_set_awaited(pending *self, uint64_t id, const observation *seen);

/* Decisions that wait. */
size_t pending_count(const pending *self);

/* now: the time, which no decision was made after. */
void pending_archive(pending *self, uint64_t made, double now, archive *a);

#endif
