/* What f1 has lately been wrong by: a regression of the gain on f1's gradient by its last weights, as it is now, over
 * the last thousand rewards or so.
 *
 * Where what is true changes, f1, which learns from all of its history, comes late: what the regression predicts makes
 * up for it. Where nothing changes that would be noise. So how much it is worth is learned: the weight is the slope of
 * what the rest of f2 left over what this predicted, before the reward was known (math/slope.h).
 *
 * theta: the weight, then the regression's (gain_regression.h), in units of the rewards' spread. */
#ifndef EENET_RECENT_GAINS_H
#define EENET_RECENT_GAINS_H

#include "gain_regression.h"
#include "math/slope.h"
#include "net/network.h"

typedef struct recent_gains {
    const network *f1;
    size_t units;  /* of f1's last hidden layer, those that are seen; 0: it predicts nothing */
    size_t hidden; /* where they lie in f1's activations */
    gain_regression gains;
    slope worth;
    float *activations; /* (f1's) of a sample */
    float *phi;         /* (units) of a sample */
} recent_gains;

/* f1 must have a layer before the last. units: at most so many are seen. */
ee_status recent_gains_create(recent_gains *self, memory *owner, const network *f1, size_t units, ee_error *error);

/* theta of no samples is all zeros. */
size_t recent_gains_theta_count(const recent_gains *self);

/* The gain of an arm that has passed through f1, in units of the rewards' spread. */
float recent_gains_expect(const recent_gains *self, const float *theta, vector x, const float *activations);

/* A sample: the gain r - f1, what f2 predicted of it without this, and the rewards' spread. awaited: it was told of. */
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

/* Computes all of theta from what recent_gains_archive has read. */
void recent_gains_restore(recent_gains *self, double spread, float *theta);

void recent_gains_archive(recent_gains *self, archive *a);

#endif
