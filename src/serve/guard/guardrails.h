/* The guardrails of a bandit while it decides: who is treated, which rules apply, and the state of limits.
 *
 *     guardrails *self;                               // one for each bandit; NULL: it has no guardrails
 *     guardrails_room room = {0};                     // one for each thread
 *     status = guardrails_begin(self, &room, &asked, &body, error);   // fills body.guard, excludes actions
 *     ... the model decides ...
 *     guardrails_end(self, &room, &body, decided);    // counts it
 *
 * Between begin and end no other thread decides for a bandit whose limits have a state: so a cap is never exceeded, and
 * probabilities are exact. */
#ifndef EENET_GUARDRAILS_H
#define EENET_GUARDRAILS_H

#include "guard_facts.h"
#include "limits.h"
#include "serve/settings/bandit_settings.h"
#include "serve/store/store.h"

typedef struct guardrails guardrails;

/* *out becomes NULL if the bandit has no guardrails and is not held. Limits begin with what the log has of the time
 * that matters to them: now is a wall time.
 *
 * After a change of settings, `before` is what still decides, else NULL. Limits and stickiness that it has too are not
 * read from the log: call guardrails_take_over. */
ee_status guardrails_create(const bandit_settings *of, const guardrails *before, store_reader *log, uint32_t bandit,
                            int64_t now, guardrails **out, ee_error *error);
void guardrails_free(guardrails *self);

/* Call it between the last decision of `before`, which must be written, and the first one of self: takes what is the
 * same from `before`, which can only be freed then, and counts what the log has got since guardrails_create. NULL is
 * allowed. */
ee_status guardrails_take_over(guardrails *self, guardrails *before, store_reader *log, uint32_t bandit,
                               ee_error *error);

/* Whether every decision follows the baseline, from the next one on. Any thread; NULL is allowed. */
void guardrails_hold(guardrails *self, bool falls_back);

typedef struct guardrails_question {
    json_text id;  /* of the decision */
    json_text key; /* of the person; empty: none was given */
    int64_t now;   /* wall time, microseconds */
} guardrails_question;

typedef struct guardrails_room {
    guard_facts facts;
    memory memory;
    uint8_t *excluded;
    float *boosts;
    uint32_t *shares;
    double low[GUARD_SHARES], high[GUARD_SHARES];
    char *repeated; /* the id of the decision that is repeated */
    size_t repeated_size;
    size_t excluded_capacity, boost_capacity, share_capacity, repeated_capacity;
    limits_round round;
    uint64_t slot;      /* hash of the slot's id */
    size_t kept_action; /* sticky: the action to repeat; SIZE_MAX: none */
    double kept_probability;
} guardrails_room;

/* Before the decision. Fills body->guard, body->excluded and, for a fixed action, body->baseline; all of it borrows
 * from the room and the question. EE_BAD_INPUT if no action is left. After a failure there is nothing to end. */
ee_status guardrails_begin(guardrails *self, guardrails_room *room, const guardrails_question *asked,
                           decision_body *body, ee_error *error);

/* The model has decided, with these probabilities of the actions that are not excluded: a person who keeps an action
 * gets it again, unless the model has changed too much. Sets body->action and body->guard.repeats then. */
void guardrails_repeat(const guardrails *self, const guardrails_room *room, const double *of_arms, decision_body *body);

/* After the decision; counts: it is not a dry run and did not fail. */
ee_status guardrails_end(guardrails *self, guardrails_room *room, const guardrails_question *asked,
                         const decision_body *body, bool counts, ee_error *error);

/* Whether decisions are counted: then those that were not written are taken back. NULL: no. */
bool guardrails_count(const guardrails *self);

/* Takes back a decision that was counted at this time (limits_round.now) but not written. */
void guardrails_undo(guardrails *self, guardrails_room *room, json_text id, int64_t decided, const decision_body *body);
void guardrails_room_release(guardrails_room *room);

/* A decision that a person may keep. */
typedef struct guardrails_draw {
    json_text key, slot, id; /* of the person, the slot and the decision */
} guardrails_draw;

/* Forgets erased decisions: they are not repeated from now on. Limits still count them, as long as this process runs.
 */
void guardrails_forget(guardrails *self, const guardrails_draw *draws, size_t count);

/* Where a person is on the line from 0 to 1 that control, rollout and the rest divide. */
double guardrails_unit(uint64_t seed, json_text key);

/* The state of limits, as members of a JSON object. */
void guardrails_write(guardrails *self, int64_t now, text *into);

#endif
