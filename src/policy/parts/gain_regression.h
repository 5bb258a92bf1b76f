/* A ridge regression of f1's gain on phi:
 *
 *   theta = argmin sum w (gain - prior - theta . phi)^2 + lambda |theta|^2
 *
 * over all samples so far, exact after each of them. It predicts prior + theta . phi: theta is 0 along a direction of
 * phi that no sample had, so an arm unlike any before gets just the prior.
 *
 * The weights w are 1; or, if it forgets, a sample loses one part in `window` with each later one. Instead of reducing
 * all old weights, each new weight is larger, and a head is rescaled now and then.
 *
 * The variance of a prediction is phi^T A^-1 phi, A = lambda I + sum w phi phi^T = U^T U. That costs the square of
 * phi's length. A sketch is cheaper: with e a vector of random signs and g = U^-1 e, (g . phi)^2 is the variance on
 * average. With the option `sketched`, each solution computes g from new signs, a function of the seed and the number
 * of samples. |g . phi| is thus a random width: an arm whose width is underestimated once is not underestimated
 * forever.
 *
 * With heads there is a regression for each, on its samples. The caller holds what predictions read: theta of each
 * head, then g if it is sketched, (heads, 1 or 2, dim). */
#ifndef EENET_GAIN_REGRESSION_H
#define EENET_GAIN_REGRESSION_H

#include "base/archive.h"
#include "base/memory.h"
#include "base/random.h"

typedef struct gain_regression_setup {
    size_t heads, dim;
    double lambda;
    double window; /* 0: it does not forget */
    bool sketched;
    uint64_t seed; /* of the signs */
} gain_regression_setup;

typedef struct gain_regression {
    gain_regression_setup setup;
    double fading;       /* -log of the fraction of a weight that the next sample leaves; 0: it does not forget */
    uint64_t time;       /* samples so far */
    double *factors;     /* (heads, triangle of dim) U, math/triangle.h */
    double *moments;     /* (heads, dim) sum w gain phi */
    double *seen;        /* (heads, dim) sum w phi */
    uint64_t *scaled_at; /* (heads) the time at which a new sample had weight 1 */
    uint8_t *stale;      /* (heads) whether theta is older than the latest sample */
    double *work;        /* (dim) */
    double *sketch;      /* (dim) the same for the sketch; NULL without one */
} gain_regression;

ee_status gain_regression_create(gain_regression *self, memory *owner, const gain_regression_setup *setup,
                                 ee_error *error);

/* Floats that predictions read, for all heads and for one. */
size_t gain_regression_theta_count(const gain_regression *self);
size_t gain_regression_head_count(const gain_regression *self);

/* Initialises a zeroed theta to the no-data solution. */
void gain_regression_start(const gain_regression *self, float *theta);

/* Adds a sample with gain 0. phi is (dim). */
void gain_regression_add(gain_regression *self, size_t head, const float *phi);

/* Changes the gain of an earlier sample by difference. */
void gain_regression_correct(gain_regression *self, size_t head, const float *phi, float difference);

/* Computes theta for the heads with new samples; theta of the other heads must be unchanged since the last call. unit
 * is that of the gains, in which theta and prior are. */
void gain_regression_solve(gain_regression *self, double prior, double unit, float *theta);
/* The same for every head, whatever theta contains. */
void gain_regression_restore(gain_regression *self, double prior, double unit, float *theta);

void gain_regression_archive(gain_regression *self, archive *a);

#endif
