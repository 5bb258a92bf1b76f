/* f2 of EE-Net where it is solved and not trained: prior_gain + theta . phi, theta by gain_regression.h, phi by
 * start_features.h.
 *
 * A gain is told by the f1 of its time. Each training has some past gains told anew, by f1 as it is then, so that f2
 * makes up for what f1 lacks now.
 *
 * What came of the very same arm before (recall.h) makes that better. It stands in theta, behind the regressions'. */
#ifndef EENET_SOLVED_EXPLORATION_H
#define EENET_SOLVED_EXPLORATION_H

#include "eenet_options.h"
#include "gain_regression.h"
#include "recall.h"
#include "start_features.h"

typedef struct solved_exploration {
    own_options options;
    const learner *f1;
    start_features features;
    gain_regression gains;
    float *told; /* (told_capacity) what f1 said when the gain of this sample of its history was told last */
    size_t told_capacity;
    float *activations, *first_activations; /* f1's, and those of the features; for training alone */
    float *phi;                             /* (features.count) */
    random_stream refreshing;
} solved_exploration;

ee_status solved_exploration_create(solved_exploration *self, const own_options *options, const learner *f1,
                                    uint64_t seed, ee_error *error);

/* After f1 has drawn theta_0. */
void solved_exploration_start(solved_exploration *self);

/* Floats of theta. */
size_t solved_exploration_count(const solved_exploration *self);

/* After learner_reserve of f1. */
ee_status solved_exploration_reserve(solved_exploration *self, ee_error *error);

/* After f1 has taken in the sample: the reward of x, and what f1 had expected. theta remembers it. */
void solved_exploration_add(solved_exploration *self, vector x, float reward, float expected, float *theta);

/* After f1's training. */
void solved_exploration_train(solved_exploration *self, const float *theta1, float *theta);

/* f2 of an arm whose phi and f1 are known. */
float solved_exploration_gain(const solved_exploration *self, const float *theta, vector x, const float *phi,
                              float exploitation);

void solved_exploration_archive(solved_exploration *self, archive *a);

#endif
