/* Pending decisions: a window over the last `limit` decisions. A decision leaves it when its reward arrives, when it is
 * forgotten, or when it expires (after `limit` more decisions, or after `wait`). Memory for rounds of the size that the
 * options name is reserved at the start, or doubles as decisions arrive (common_options.grows). A larger decision has
 * its own block while it waits. */
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
    PENDING_EXPIRED,  /* expired by time and was forgotten */
    PENDING_DEFAULTED /* expired by time and was learned with the default reward */
} pending_state;

typedef struct pending_entry {
    uint64_t id;
    kept_decision decision; /* its words are in the slot */
    size_t slot;
    pending_state state;
    double time;         /* when it was made */
    bool awaited;        /* await() has counted it, */
    float expected;      /* what await() returned, */
    uint64_t awaited_at; /* and parameters.round then */
} pending_entry;

typedef struct pending {
    const policy *policy;
    size_t dim, limit;
    double wait;            /* 0: no limit */
    double default_reward;  /* reward of an expired decision; NaN: none */
    pending_entry *entries; /* (limit), entry id % limit for a decision */
    uint64_t uncounted;     /* all pending decisions below this id are counted */
    uint64_t oldest;        /* no decision below this id is pending */

    /* Slots are used last in, first out: if rewards arrive at once, one slot stays in the cache. */
    slots slots;        /* (limit + 1): an expiring decision keeps its slot until it is learned */
    size_t used_slots;  /* slots ever used */
    size_t *free_slots; /* (limit + 1), the first free_count are free */
    size_t free_count;
} pending;

ee_status pending_create(pending *self, memory *owner, const policy *decider, const common_options *options, size_t dim,
                         ee_error *error);

/* Reserves room for `count` decisions (at most the limit) of at most `words` words each, so that pending_add of them
 * cannot fail. */
ee_status pending_reserve(pending *self, size_t count, size_t words, ee_error *error);

/* Adds a decision, made at this time, and returns where its words go. *leaving becomes the entry of the decision made
 * `limit` decisions before: if it is still waiting, remove it before adding the next. */
uint32_t *pending_add(pending *self, uint64_t id, const kept_decision *decision, double time, pending_entry *leaving);

/* The oldest pending decision, or NULL. */
pending_entry *pending_oldest(pending *self, uint64_t made);

/* Finds a pending decision. made: decisions so far; verb begins messages, such as "learn". */
ee_status pending_find(pending *self, uint64_t id, uint64_t made, const char *verb, pending_entry **out,
                       ee_error *error);
observation pending_observation(const pending *self, const pending_entry *entry);
void pending_remove(pending *self, pending_entry *entry, pending_state why);

/* The oldest pending decision that await() has not counted yet, or NULL. If rewards arrive at once, this looks at one
 * entry per decision. */
pending_entry *pending_uncounted(pending *self, uint64_t made);

/* Marks a pending decision as counted by the policy's await(), with the values in `seen`. */
void pending_set_awaited(pending *self, uint64_t id, const observation *seen);

/* Number of pending decisions. */
size_t pending_count(const pending *self);

/* now: the current time; no decision is newer. */
void pending_archive(pending *self, uint64_t made, double now, archive *a);

#endif
