/* Decisions that wait for their reward: a window over the last `limit` decisions. A decision leaves it when its reward
 * comes, when it is forgotten, or expires when `limit` more were made. All room is reserved at the start for rounds of
 * the size that the options name; a larger decision has room of its own while it waits. */
#ifndef EENET_PENDING_H
#define EENET_PENDING_H

#include "base/slots.h"
#include "kept_decision.h"

typedef enum pending_state { PENDING_EMPTY, PENDING_WAITING, PENDING_REWARDED, PENDING_FORGOTTEN } pending_state;

typedef struct pending_entry {
    uint64_t id;
    kept_decision decision; /* its words lie in the slot */
    size_t slot;
    pending_state state;
    bool awaited;        /* the policy was told of it, and */
    float expected;      /* this is what it said */
    uint64_t awaited_at; /* the policy's round then */
} pending_entry;

typedef struct pending {
    const policy *policy;
    size_t dim, limit;
    pending_entry *entries; /* (limit), a decision's is number id % limit */
    uint64_t untold;        /* the policy was told of all decisions below this id that wait */

    /* Slots are handed out last in, first out: where rewards come at once, one slot stays warm in the cache. */
    slots slots;        /* (limit) */
    size_t used_slots;  /* how many were ever handed out */
    size_t *free_slots; /* (limit), the first free_count of them are free again */
    size_t free_count;
} pending;

ee_status pending_create(pending *self, memory *owner, const policy *decider, const common_options *options, size_t dim,
                         ee_error *error);

/* Makes room for `count` decisions of at most so many words, no more than the limit: after this, pending_add of them in
 * turn cannot fail. */
ee_status pending_reserve(pending *self, size_t count, size_t words, ee_error *error);

/* Adds the decision; the one that was made `limit` decisions before expires. Returns where its words go. */
uint32_t *pending_add(pending *self, uint64_t id, const kept_decision *decision);

/* The decision, if it waits for its reward. made is how many decisions there were; verb is for messages, as "learn". */
ee_status pending_find(pending *self, uint64_t id, uint64_t made, const char *verb, pending_entry **out,
                       ee_error *error);
observation pending_observation(const pending *self, const pending_entry *entry);
void pending_remove(pending *self, pending_entry *entry, pending_state why);

/* The first decision that waits and that the policy was not told of, or NULL. Where rewards come at once, this looks at
 * one entry for each decision. */
pending_entry *pending_untold(pending *self, uint64_t made);

/* Decisions that wait. */
size_t pending_count(const pending *self);

void pending_archive(pending *self, uint64_t made, archive *a);

#endif
