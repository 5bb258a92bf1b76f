/* The log of a bandit: its events, in order. Everything else (the model, joined rewards, reports) is computed from the
 * log and can be computed again.
 *
 *   DECISION    a response to decide
 *   REWARD      a reward, whatever its outcome
 *   SETTLED     the final reward of a decision, which the model learns once
 *   STEP        the model has processed all events up to a number, and is a new version
 *   CHECKPOINT  the model of a step was saved
 *   SETTINGS    the bandit was created or changed
 *   MODEL       the model was replaced: reset or uploaded
 *   ACTIVATED   a deferred decision was activated
 *   PROMOTION   a challenger was promoted, and why
 *   ERASED      decisions were erased: what they were is no longer in the log
 *   ALARM       a bound of the guardrails was violated, or something changed
 *
 * A round with slots is one DECISION event per slot, consecutive and in one transaction, in the order of the slots.
 * Each is a decision like any other: it has its own id (slot_decision_id), probabilities conditional on the slots
 * before it, rewards and settlement.
 *
 * Event numbers start at 1 within a bandit and have no gaps. Log times never decrease within a bandit; wall times do
 * when a wrong clock was corrected (system/server_clock.h). */
#ifndef EENET_EVENT_H
#define EENET_EVENT_H

#include "base/json.h"

/* Stored in the database: the numbers never change. */
typedef enum event_kind {
    EVENT_DECISION = 1,
    EVENT_REWARD = 2,
    EVENT_SETTLED = 3,
    EVENT_STEP = 4,
    EVENT_CHECKPOINT = 5,
    EVENT_SETTINGS = 6,
    EVENT_MODEL = 7,
    EVENT_ACTIVATED = 8,
    EVENT_PROMOTION = 9,
    EVENT_ERASED = 10,
    EVENT_ALARM = 11
} event_kind;

/* Outcome of a reward or an activation, or why a decision is settled. */
typedef enum event_outcome {
    OUTCOME_NONE = 0,
    REWARD_JOINED = 1, /* it counts, or its metrics do */
    REWARD_REPEATED =
        2,           /* not the first, if only the first counts; or its reward id came before: then it is not logged */
    REWARD_LATE = 3, /* after the wait time: logged, not learned */
    REWARD_UNKNOWN = 4,   /* no decision has this id yet: kept for one that may still come */
    REWARD_CLAIMED = 5,   /* the decision of an unknown reward arrived: counts from here on, as a second REWARD event */
    SETTLED_REWARDED = 6, /* by its rewards, or by metrics */
    SETTLED_DEFAULT = 7,  /* none came in time: the default reward */
    SETTLED_NOTHING = 8,  /* none came in time, and there is no default: nothing to learn */
    SETTLED_INACTIVE = 9  /* deferred and not activated in time: not learned, whatever its rewards */
} event_outcome;

/* The columns of the log. Fields that do not belong to a kind are zero or empty. */
typedef struct event {
    uint64_t number; /* given by the journal */
    event_kind kind;
    int64_t time;      /* microseconds since 1970, given by the journal: log time when written, wall time when read */
    json_text id;      /* DECISION: its id; REWARD, ACTIVATED: the id of its decision */
    uint64_t decision; /* REWARD, SETTLED, ACTIVATED: number of the decision; 0: not known (yet) */
    double value;      /* REWARD, SETTLED */
    event_outcome outcome; /* REWARD, SETTLED, ACTIVATED: as a reward's */
    json_text reward_id;   /* REWARD: if the caller gave one */
    const void *body;      /* (size) the rest, by kind: see below */
    size_t size;
} event;

/* Whether this was a decision whose content was erased: see erased_event.h. */
static inline bool event_is_erased(const event *of)
{
    return of->kind == EVENT_DECISION && !of->size;
}

/* ---- bodies ---- */

/* Which decisions a person gets: docs/guardrails.md. */
typedef enum decision_group {
    GROUP_NONE,    /* the bandit has no control group and no rollout */
    GROUP_TREATED, /* the bandit decides */
    GROUP_CONTROL, /* the baseline, for good */
    GROUP_WAITING, /* the baseline, until the rollout comes to this person */
    GROUP_FALLBACK /* the baseline, because the bandit is held back */
} decision_group;

enum { MOST_APPLIED_RULES = 32, MOST_PRICES = 8 };

/* The price of a budget in a decision: it explains a part of the boosts. */
typedef struct decision_price {
    uint64_t budget; /* identifies what has the price: budget_state.identity */
    double price;    /* reward per cost */
} decision_price;

/* What guardrails did to a decision: together with the model it determines the draw. All of {0}: nothing. */
typedef struct decision_guard {
    bool present; /* the bandit had guardrails */
    decision_group group;
    double treated_share; /* the share of keys that were treated at this time */
    uint8_t baseline;     /* a guard_baseline: what the groups without the bandit get */
    json_text key;        /* of the person; empty: none was given */
    json_text segment;    /* value of the feature that `segment` names; empty: none */
    json_text repeats;    /* sticky: the id of the decision whose action this one repeats; empty: it was drawn */
    size_t rule_count;
    json_text rules[MOST_APPLIED_RULES]; /* (rule_count) names of those that applied to an action */
    const float *boosts;                 /* (count) added to the scores of the actions; NULL: none */
    size_t price_count;
    decision_price prices[MOST_PRICES]; /* (price_count) of budgets: not 0 */
    size_t share_count;                 /* shares of which an action is part */
    const uint32_t *shares;             /* (count) the share of each action; share_count or above: none */
    const double *low, *high;           /* (share_count) */
} decision_guard;

/* DECISION. Actions are numbered from 0 in the order of the request, those that were excluded among them. */
typedef struct decision_body {
    uint64_t request[2]; /* checksum of the request: the same id with another one is a conflict */
    uint64_t version;    /* of the model that decided: the number of its STEP event; 0: the first, untrained one */
    uint64_t seed;       /* of the draw: made of the bandit's seed and the decision's id */
    size_t count;        /* actions */
    size_t action;       /* the response */
    size_t choice;       /* the model's choice: it differs from the response in the modes `apprentice` and `logging` */
    size_t baseline; /* the response without a bandit: the first action that is not excluded, unless the request names
                        another */
    const double *probabilities; /* (count) of each; 0 if excluded */
    const json_text *names;      /* (count) of the actions; NULL: they have none */
    const uint8_t *excluded;     /* (count) of event_excluded; NULL: none is */
    size_t dim;                  /* vectors: features of an action; 0: named features */
    const float *values;         /* vectors: (count, dim) */
    json_text context;           /* named features: one object in Vowpal Wabbit's form, with the actions in "_multi" */
    const void *record;          /* (record_size) what the library needs to learn from it, of the action `choice` */
    size_t record_size;
    bool deferred;                 /* it counts once it is activated: EVENT_ACTIVATED */
    json_text slot;                /* its id, of a round of slots */
    size_t slot_index, slot_count; /* its place in the round, from 0; slots of the round, 0: it has none */
    decision_guard guard;
} decision_body;

/* Whether a person who is not treated got it: then it follows the baseline. */
static inline bool decision_group_is_baseline(decision_group group)
{
    return group >= GROUP_CONTROL;
}

static inline bool decision_follows_baseline(const decision_body *body)
{
    return decision_group_is_baseline(body->guard.group);
}

/* Whether the model drew the response, so that it may learn from it. */
static inline bool decision_is_drawn(const decision_body *body)
{
    return body->choice == body->action && !decision_follows_baseline(body) && !body->guard.repeats.length;
}

/* Why an action was excluded. */
typedef enum event_excluded {
    EXCLUDED_NOT = 0,
    EXCLUDED_BY_REQUEST = 1,
    EXCLUDED_BY_SLOT = 2, /* a slot before this one took it */
    EXCLUDED_BY_RULE = 3,
    EXCLUDED_BY_CAP = 4,
    EXCLUDED_BY_BUDGET = 5
} event_excluded;

/* STEP. */
typedef struct step_body {
    uint64_t upto;   /* the model has processed all events up to this number */
    uint64_t stride; /* 1: everything was done; above: it was behind, see follower.h */
} step_body;

/* CHECKPOINT. The file is the model as the library saves it; see store/blobs.h. */
typedef struct checkpoint_body {
    uint64_t version;  /* the number of the STEP event whose model it is */
    uint64_t upto;     /* of that step */
    uint64_t checksum; /* of the model's bytes: checkpoint_checksum */
    uint64_t size;
    const void *state; /* (state_size) of the follower */
    size_t state_size;
} checkpoint_body;

/* SETTINGS: the settings as JSON, see bandit_settings.h. MODEL: empty for a reset, else a checkpoint_body with the
 * file's checksum and size; its version is the number of the file, above all those of events. */

/* REWARD: its metrics and whether it has a reward, if it has metrics; SETTLED of a bandit with metrics: the totals of
 * the decision. See metric_values.h. Without metrics neither has a body. */

/* PROMOTION: why, as JSON; see succession.h. ACTIVATED has no body. ERASED: see erased_event.h. ALARM: JSON, see
 * live_alarm.h. */

/* Room for reading bodies, one at a time: {.owner = ...} starts it. */
typedef struct event_room {
    memory *owner;
    json_text *names;
    double *probabilities;
    float *values;
    float *boosts;
    uint32_t *shares;
    double *bounds; /* of shares: low, then high */
    size_t name_capacity, probability_capacity, value_capacity, boost_capacity, share_capacity, bound_capacity;
} event_room;

/* Adds the body to *bytes (*size of *capacity, grown by memory_grow). */
ee_status decision_body_write(const decision_body *body, memory *owner, uint8_t **bytes, size_t *size, size_t *capacity,
                              ee_error *error);
/* The result borrows from bytes and the room, until the next call. EE_BAD_INPUT if it is damaged. */
ee_status decision_body_read(const void *bytes, size_t size, event_room *room, decision_body *out, ee_error *error);

enum { STEP_BODY_SIZE = 16, CHECKPOINT_HEAD_SIZE = 32 };
void step_body_write(const step_body *body, uint8_t bytes[STEP_BODY_SIZE]);
ee_status step_body_read(const void *bytes, size_t size, step_body *out, ee_error *error);
ee_status checkpoint_body_write(const checkpoint_body *body, memory *owner, uint8_t **bytes, size_t *size,
                                ee_error *error);
ee_status checkpoint_body_read(const void *bytes, size_t size, checkpoint_body *out, ee_error *error);

/* Checksum of all bytes of a model except the last eight. Those are an archive_checksum of the others, which makes the
 * checksum of the whole the same for every model. */
uint64_t checkpoint_checksum(const void *bytes, size_t size);

/* The seed of a decision's draw. */
uint64_t event_seed(uint64_t bandit_seed, json_text id);

/* The id of the decision of a slot: the round's id, a byte that no id has, the slot's id. out has room for
 * slot_decision_id_size(id, slot) bytes, and is what the result borrows. */
size_t slot_decision_id_size(json_text id, json_text slot);
json_text slot_decision_id(json_text id, json_text slot, char *out);

/* The id of the round of such an id; of any other, itself. *slot (may be NULL): the slot's id, empty if it has none.
 */
json_text slot_round_id(json_text id, json_text *slot);

#endif
