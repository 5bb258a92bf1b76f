/* Ridge regression, one sample at a time, exactly: A = lambda I + sum x x^T, theta = A^-1 sum y x.
 *
 * The inverse is kept by rank-one updates (Sherman and Morrison) and made anew by Cholesky factorisations now and then,
 * so that it does not drift. A sparse x costs what it touches: A falls into blocks of features that were seen together,
 * and neither the update nor the factorisation leaves the block.
 *
 * What predictions read, `state`, is flat memory that the caller holds: the inverse (dim, dim), then theta (dim). */
#ifndef EENET_RIDGE_H
#define EENET_RIDGE_H

#include "base/archive.h"
#include "vector.h"

typedef struct ridge ridge;

/* Doubles of a state. */
size_t ridge_state_count(size_t dim);

/* refresh: updates between factorisations. */
ee_status ridge_create(size_t dim, double lambda, size_t refresh, ridge **out, ee_error *error);
void ridge_free(ridge *self);

/* state = that of no samples. */
void ridge_start(const ridge *self, double *state);

/* Takes in a sample. Cannot fail and allocates nothing. */
void ridge_observe(ridge *self, double *state, vector x, double y);

/* theta . x */
double ridge_mean(const double *state, size_t dim, vector x);

/* a^T A^-1 b; with a = b the variance of a's mean, in units of the noise's. */
double ridge_covariance(const double *state, size_t dim, vector a, vector b);

size_t ridge_memory(const ridge *self);
void ridge_archive(ridge *self, archive *a);

#endif
