/* The recent errors of f1: a regression of the gain on f1's gradient with respect to its last weights, over about the
 * last thousand rewards. If the world changes, f1, which learns from all of its history, lags behind, and the
 * regression makes up for it. If nothing changes, that would be noise. So its weight is learned: the slope of what the
 * rest of f2 left on what this predicted before the reward was known (math/slope.h).
 *
 * theta: the weight, then that of the regression (gain_regression.h), in units of the rewards' spread. */
#ifndef EENET_RECENT_GAINS_H
#define EENET_RECENT_GAINS_H

#include "gain_regression.h"
#include "math/slope.h"
#include "net/network.h"

typedef struct recent_gains {
    const network *f1;
    size_t units;  /* units of the last hidden layer of f1 that are used; 0: it predicts nothing */
    size_t hidden; /* their offset in the activations of f1 */
    gain_regression gains;
    slope worth;
    float *activations; /* (activations of f1) of a sample */
    float *phi;         /* (units) of a sample */
} recent_gains;

/* f1 must have a hidden layer. At most `units` of its units are used. */
ee_status recent_gains_create(recent_gains *self, memory *owner, const network *f1, size_t units, ee_error *error);

/* theta without samples is all zeros. */
size_t recent_gains_theta_count(const recent_gains *self);

/* The gain of an arm after its pass through f1, in units of the rewards' spread. */
float recent_gains_expect(const recent_gains *self, const float *theta, vector x, const float *activations);

/* A sample: the gain r - f1, what f2 predicted without this part, and the spread of the rewards. awaited: it was
 * counted as pending before. */
typedef struct recent_gain {
    vector x;
    float gain, predicted;
    double spread;
    bool awaited;
} recent_gain;

void recent_gains_await(recent_gains *self, vector x, const float *theta1);
void recent_gains_observe(recent_gains *self, const recent_gain *sample, const float *theta1, float *theta);

/* Computes theta. spread is that of the rewards. */
void recent_gains_solve(recent_gains *self, double spread, float *theta);

/* Recomputes all of theta after recent_gains_archive has read. */
void recent_gains_restore(recent_gains *self, double spread, float *theta);

void recent_gains_archive(recent_gains *self, archive *a);

#endif
