/* f2 as a ridge regression: the linear function of phi that fits the gains best,
 *
 *   theta = argmin sum (target - theta . phi)^2 + lambda |theta|^2
 *
 * over all samples that ever came, exactly, after each of them. Along a direction of phi that no sample had, theta is
 * 0. The caller subtracts a prior gain from targets and adds it to predictions, so an arm that is like none before gets
 * just that prior.
 *
 * With heads there are as many such regressions, each over the samples of its own head. */
#ifndef EENET_GAIN_REGRESSION_H
#define EENET_GAIN_REGRESSION_H

#include "base/archive.h"
#include "base/memory.h"

typedef struct gain_regression {
    size_t heads, dim;
    double *factors; /* (heads, triangle of dim) math/triangle.h */
    double *moments; /* (heads, dim) sum target phi */
    uint8_t *stale;  /* (heads) whether samples came since theta was computed */
    double *work;    /* (dim) */
} gain_regression;

ee_status gain_regression_create(gain_regression *self, memory *owner, size_t heads, size_t dim, double lambda,
                                 ee_error *error);

/* Takes in a sample. phi is (dim). */
void gain_regression_add(gain_regression *self, size_t head, const float *phi, float target);

/* Changes the target of a sample that was taken in before: difference is the new one less the old one. */
void gain_regression_correct(gain_regression *self, size_t head, const float *phi, float difference);

/* Computes theta, (heads, dim), for the heads that got samples since; the others must be as this left them. */
void gain_regression_solve(gain_regression *self, float *theta);

void gain_regression_archive(gain_regression *self, archive *a);

#endif
