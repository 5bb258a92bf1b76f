/* The arms of a decision as the model sees them: its actions without those that were excluded. The server that decides,
 * the follower and the replay make them here alone, so that they agree.
 *
 *     decision_body body = {.count = 3, .dim = 2, .values = values, .excluded = excluded};
 *     decision_arms room = {0};                       // one for each thread
 *     ee_arms arms;                                   // of named features: the round is filled instead
 *     status = decision_arms_make(&room, &body, round, &arms, error);
 *     status = served_bandit_decide(bandit, place, body.dim ? &arms : NULL, body.seed, error);
 *     decision_answer(&body, mode, place->choice, place->probabilities, probabilities); // (count)
 *     memory_release(&room.memory);                   // at the thread's end */
#ifndef EENET_DECISION_ARMS_H
#define EENET_DECISION_ARMS_H

#include "serve/settings/bandit_settings.h"
#include "serve/store/event.h"

typedef struct decision_arms {
    memory memory;
    float *values;
    uint64_t *ids;
    float *boosts;
    uint32_t *groups;
    ee_limits limits;
    size_t capacity, id_capacity, boost_capacity, group_capacity;
    json_room json;
} decision_arms;

/* Makes the arms of body, whose ids are those of the actions, with the limits of its guardrails: vectors become *arms,
 * which borrow from the body and the room until the next; named features fill round, which is cleared first, and *arms
 * is not touched. EE_BAD_INPUT if no action is left, or if the context has another number of actions than the body. */
ee_status decision_arms_make(decision_arms *room, const decision_body *body, ee_round *round, ee_arms *arms,
                             ee_error *error);

/* How many actions were not excluded; and the action that is arm number `arm` among them. */
size_t decision_arms_count(const decision_body *body);
size_t decision_arms_action(const decision_body *body, size_t arm);

/* Fills in the response, given the model's choice among the arms and their probabilities: choice, baseline (given for a
 * slot and for a fixed action), action (given if it repeats another decision's), and probabilities, which become
 * (count) of the actions. */
void decision_answer(decision_body *body, learning_mode mode, size_t choice, const double *of_arms,
                     double *probabilities);

#endif
