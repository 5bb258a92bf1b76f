/* Models of the reward for DM, DR and their like: what an action of an event would earn. */
#ifndef EENET_REWARD_MODEL_H
#define EENET_REWARD_MODEL_H

#include "candidate.h"
#include "evaluation.h"

typedef struct reward_model reward_model;

/* Of the setup, text and options are not looked at. */
ee_status reward_model_create(reward_model_kind kind, const candidate_setup *setup, reward_model **out,
                              ee_error *error);
void reward_model_free(reward_model *self);

/* q (event->count) becomes the predictions by what the model knows, unless q is NULL; then it learns the event with
 * this weight, unless that is 0. f1 knows no other weights than 1. Called once for each event. Predictions are cut to
 * the range of the rewards that were learned before. */
ee_status reward_model_play(reward_model *self, const candidate_round *round, double weight, double *q,
                            ee_error *error);

/* From now on it learns nothing. */
ee_status reward_model_freeze(reward_model *self, ee_error *error);

#endif
