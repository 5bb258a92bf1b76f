/* Reward models for DM, DR and similar estimators: what an action of an event would earn. */
#ifndef EENET_REWARD_MODEL_H
#define EENET_REWARD_MODEL_H

#include "candidate.h"

typedef enum reward_model_kind {
    REWARD_MODEL_F1,   /* the exploitation network of EE-Net: a bandit of the policy `greedy` */
    REWARD_MODEL_RIDGE /* linear */
} reward_model_kind;

typedef struct reward_model reward_model;

/* Ignores text and options of the setup. */
ee_status reward_model_create(reward_model_kind kind, const candidate_setup *setup, reward_model **out,
                              ee_error *error);
void reward_model_free(reward_model *self);

/* Sets q (event->count) to the predictions, unless q is NULL; then learns the event with this weight, unless it is 0.
 * f1 supports only weight 1. Call it once per event. Predictions are clipped to the range of the rewards learned
 * before. */
ee_status reward_model_play(reward_model *self, const candidate_round *round, double weight, double *q,
                            ee_error *error);

/* Stops learning. */
ee_status reward_model_freeze(reward_model *self, ee_error *error);

#endif
