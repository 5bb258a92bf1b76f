/* The rules that join a decision with its rewards into one event to learn from, for a group of entries. Pure: they see
 * what the store fetched for the group and produce the changes that the store applies. They know no database, so all
 * stores share them.
 *
 * - A reward counts if it arrives within the wait after its decision: time of the reward <= time of the decision
 *   + wait. Later ones are REWARD_LATE.
 * - With `first` the first reward settles the decision at once. With the other aggregations, or if the bandit has
 *   metrics, the end of the wait does.
 * - A decision that has no reward at the end of its wait is settled with the default reward, or with nothing.
 * - Metrics come with rewards, at the same times. Each is aggregated by its own rule; those that the bandit does not
 *   have are only logged. If some of them count, or the reward does, the outcome is REWARD_JOINED: with `first` a
 * second reward does not count, but its metrics do. If neither counts it is REWARD_REPEATED.
 * - A bandit with metrics settles with the objective (metric_objective) of the reward and the totals of the metrics.
 *   Without a reward it is that of the default reward, and without that of 0 if a metric came. The totals are the body
 *   of the SETTLED event.
 * - A reward for an id that no decision has is REWARD_UNKNOWN. When that decision comes, the reward counts from then
 *   on: a second REWARD event, REWARD_CLAIMED, follows the decision.
 * - The rules that count are those in force when the reward comes, and when the decision is settled. What a decision is
 *   worth so far stays, so after a change of the aggregation the next reward is added to it by the new one.
 * - A decision is settled once. A reward that comes when it is settled already counts no more, even if a longer wait
 *   is in force by then: it is REWARD_REPEATED if others counted, else REWARD_LATE.
 * - A deferred decision is settled by its rewards once it is active: by an activation within the wait, with `first` at
 *   once if a reward came before it. Rewards are joined meanwhile. One that is not active at the end of its wait is
 *   settled as SETTLED_INACTIVE, whatever rewards it has.
 * - An activation for an id that no decision has is REWARD_UNKNOWN, and claimed as rewards are. One of a decision that
 *   is active is not logged, and the verdict is ENTRY_REPEATED. After the wait it is REWARD_LATE.
 * - The slots of a round are separate decisions. The round's id means all of them in an activation, and the first in a
 *   reward. Another request with this id is a conflict, whatever slots it has.
 * - A SETTLED entry settles a pending decision with nothing, before its wait is over: for erasing it.
 * - A reward id that came before for this decision, with the same value and metrics, is not logged again; the verdict
 *   is ENTRY_REPEATED, and the outcome what it was then. With others it is a conflict.
 *
 * Use, for each group: joining_collect; fetch what it lists; joining_collect_slots; fetch those; joining_run; apply the
 * changes; joining_end. */
#ifndef EENET_JOINING_H
#define EENET_JOINING_H

#include "store.h"

/* Finds items of an array by a hash of their key. */
typedef struct join_index {
    uint32_t *slots; /* (capacity, a power of two) item + 1; 0: free */
    size_t capacity, count;
} join_index;

typedef struct join_bandit {
    bandit_state now, before; /* before: when the group began; only if it is touched */
    bool touched, is_new;
    bool named;         /* it is in `named` */
    bool changed;       /* archived, settled_to or settings have to be written */
    bool has_decisions; /* the group adds some */
    json_text name;     /* of a new one */
    json_text settings; /* to write; empty: unchanged */
    uint64_t checksums; /* sum over its new events, for the implementation of the store */
} join_bandit;

/* A decision, once per event number however many ids lead to it. */
typedef struct join_decision {
    uint32_t bandit;
    stored_decision row;
    bool is_new, changed;
} join_decision;

/* An id that the group refers to: of a decision or of a round. */
typedef struct join_id {
    uint64_t hash;
    uint32_t bandit;
    json_text id;
    bool fetch, fetch_unclaimed; /* whether the store may know it */
    bool is_new;                 /* to be written */
    uint32_t decision;           /* place in `decisions` + 1; 0: none has it */
    uint32_t first_unclaimed;    /* place in `unclaimed` + 1; 0: none */
    uint32_t last_unclaimed;
} join_id;

typedef struct join_reward_id {
    uint64_t hash;
    uint32_t bandit;
    json_text id, reward_id;
    bool known, is_new; /* is_new: to be written */
    double value;       /* reward_id_value */
    event_outcome outcome;
} join_reward_id;

/* Metrics of the group, and their bytes for an event. */
typedef struct join_metrics {
    metric_values values;
    uint8_t bytes[METRIC_VALUES_SIZE];
} join_metrics;

/* A reward or an activation whose decision is not known. */
typedef struct join_unclaimed {
    uint32_t bandit;
    json_text id;
    uint64_t number; /* of its event */
    event_kind kind;
    double value;
    const void *body; /* (size) of a reward with metrics */
    size_t size;
    bool is_new, taken; /* one of both: to be added, to be removed */
    uint32_t next;      /* of the same id, place + 1 */
} join_unclaimed;

typedef struct join_event {
    uint32_t bandit;
    event event;
    int64_t checksum; /* for the implementation of the store */
} join_event;

/* The name of a bandit to create. */
typedef struct join_name {
    json_text name;
    bool exists;
} join_name;

typedef struct join_slot {
    uint32_t bandit;
    uint64_t number;
} join_slot;

/* Pending decisions of a bandit: those with numbers above `after` and times before `before`. */
typedef struct join_due {
    uint32_t bandit;
    uint64_t after;
    int64_t wait, before;
    bool fetched;
    uint64_t upto;       /* all decisions up to this number were examined */
    int64_t next;        /* time of the first that was not; INT64_MAX: there is none */
    size_t first, count; /* in due_decisions */
} join_due;

typedef struct joining {
    memory memory;
    join_bandit *bandits; /* (bandit_count) bandit 1 is the first; numbers have no gaps */
    size_t bandit_count, bandit_capacity, committed_count;
    bool leads;        /* this process creates bandits */
    uint32_t *touched; /* (touched_count) numbers of the bandits that the group touched */
    size_t touched_count, touched_capacity;
    uint32_t *named; /* (named_count) numbers of the bandits that the group is about, those of others too */
    size_t named_count, named_capacity;
    bool changes_clock; /* the group does */

    /* Of the group: what it refers to and what it changes. */
    int64_t now;
    store_counts counts;
    join_id *ids;
    size_t id_count, id_capacity;
    join_decision *decisions;
    size_t decision_count, decision_capacity;
    join_reward_id *reward_ids;
    size_t reward_id_count, reward_id_capacity;
    join_unclaimed *unclaimed;
    size_t unclaimed_count, unclaimed_capacity;
    join_event *events;
    size_t event_count, event_capacity;
    join_name *names;
    size_t name_count, name_capacity;
    join_slot *slots;
    size_t slot_count, slot_capacity;
    join_due *due;
    size_t due_count, due_capacity;
    uint32_t *due_decisions; /* places in `decisions` */
    size_t due_decision_count, due_decision_capacity;
    join_index by_id, by_number, by_reward_id;
    join_metrics **metrics; /* (metrics_used of metrics_made) they stay where they are, and are used again */
    size_t metrics_used, metrics_made, metrics_capacity;
} joining;

ee_status joining_create(joining **out, ee_error *error);
void joining_free(joining *self);

/* When the store is opened: the bandits in the order of their numbers. */
ee_status joining_add_bandit(joining *self, const bandit_state *state, ee_error *error);

/* Bandits up to this number exist; those that are not known yet are another's. */
ee_status joining_know(joining *self, uint32_t number, ee_error *error);
/* This process owns the bandit from now on, and knows those before it. */
ee_status joining_own(joining *self, const bandit_state *state, ee_error *error);
void joining_disown(joining *self, uint32_t number);
/* A bandit of another process was removed for good: its entries are refused. */
ee_status joining_note_purged(joining *self, uint32_t number, ee_error *error);

/* NULL: there is none of this number. */
join_bandit *joining_bandit(const joining *self, uint32_t number);

/* Starts a group: lists what its entries refer to. */
ee_status joining_collect(joining *self, const store_group *group, ee_error *error);

/* The metrics of a decision's row, for stored_decision.metrics: they stay until the group ends. NULL if there are no
 * bytes, and if they are damaged: then the metrics that come from now on count, and store_check reports it. */
ee_status joining_keep_metrics(joining *self, const void *bytes, size_t size, metric_values **out, ee_error *error);

/* What the store found: the decision of an id; an unclaimed event of an id, in the order of their numbers. */
ee_status joining_found_decision(joining *self, size_t id, const stored_decision *row, ee_error *error);
ee_status joining_found_unclaimed(joining *self, size_t id, const event *found, ee_error *error);

/* With the decisions known: lists the slots of rounds to activate, and decisions to settle. */
ee_status joining_collect_slots(joining *self, const store_group *group, ee_error *error);
ee_status joining_found_slot(joining *self, uint32_t bandit, const stored_decision *row, ee_error *error);

/* Decisions to settle: due[which], once upto and next are set. */
ee_status joining_found_due(joining *self, size_t which, const stored_decision *rows, size_t count, ee_error *error);

/* Sets the verdicts of the entries, settles what is due, and lists the changes. */
ee_status joining_run(joining *self, store_group *group, ee_error *error);

/* Ends the group: what it changed stays, or is as before. */
void joining_end(joining *self, bool committed);

#endif
