/* A ridge regression of f1's gain on phi: the linear function that fits the gains best,
 *
 *   theta = argmin sum w (gain - prior - theta . phi)^2 + lambda |theta|^2
 *
 * over all samples that ever came, exactly, after each of them. prior + theta . phi is what it predicts: along a
 * direction of phi that no sample had, theta is 0, and an arm that is like none before gets just the prior.
 *
 * The weights w are 1; or, where it forgets, a sample loses one part in `window` with each that comes after it. Instead
 * of making all old ones lighter, each new one is made heavier, and now and then a head is brought back to scale.
 *
 * The variance of a prediction is phi^T A^-1 phi, A = lambda I + sum w phi phi^T = U^T U. That costs the square of
 * phi's length. A sketch is cheaper: with e a vector of random signs and g = U^-1 e, (g . phi)^2 is the variance on
 * average. With the option `sketched`, each solution computes g from new signs, a function of the seed and the number
 * of samples. |g . phi| is thus a random width: an arm whose width is underestimated once is not underestimated for
 * ever.
 *
 * With heads there are as many such regressions, each over the samples of its own head. What predictions read is the
 * caller's: of each head theta, then g if it is sketched, (heads, 1 or 2, dim). */
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
    double fading;       /* -log of what is left of a sample's weight when another came; 0: it does not forget */
    uint64_t time;       /* samples that came */
    double *factors;     /* (heads, triangle of dim) U, math/triangle.h */
    double *moments;     /* (heads, dim) sum w gain phi */
    double *seen;        /* (heads, dim) sum w phi */
    uint64_t *scaled_at; /* (heads) the time at which a new sample's weight was 1 */
    uint8_t *stale;      /* (heads) whether samples came since theta was computed */
    double *work;        /* (dim) */
    double *sketch;      /* (dim) likewise, of the sketch; NULL where there is none */
} gain_regression;

ee_status gain_regression_create(gain_regression *self, memory *owner, const gain_regression_setup *setup,
                                 ee_error *error);

/* Floats of what predictions read, of all heads and of one. */
size_t gain_regression_theta_count(const gain_regression *self);
size_t gain_regression_head_count(const gain_regression *self);

/* Initialises a zeroed theta to the no-data solution. */
void gain_regression_start(const gain_regression *self, float *theta);

/* Takes in a sample whose gain is 0 so far. phi is (dim). */
void gain_regression_add(gain_regression *self, size_t head, const float *phi);

/* Changes the gain of a sample that was taken in before: difference is the new one less the old one. */
void gain_regression_correct(gain_regression *self, size_t head, const float *phi, float difference);

/* Computes theta for the heads that got samples since; the others must be as this left them. unit is that of the gains,
 * in which theta and prior are. */
void gain_regression_solve(gain_regression *self, double prior, double unit, float *theta);
/* The same for every head, whatever theta is. */
void gain_regression_restore(gain_regression *self, double prior, double unit, float *theta);

void gain_regression_archive(gain_regression *self, archive *a);

#endif
