/* Ridge regression, one sample at a time, exactly: A = lambda I + sum x x^T, theta = A^-1 sum y x.
 *
 * The inverse is updated by rank-one updates (Sherman and Morrison) and now and then computed again by Cholesky
 * factorisations, so that it does not drift. A sparse x costs what it touches: A falls into blocks of features that
 * were seen together, and neither the update nor the factorisation leaves the block. Zeros of a dense x are no features
 * of it.
 *
 * What predictions read, `state`, is flat memory that the caller holds: the inverse (dim, dim), then theta (dim), then
 * 1 / lambda, then the block of each feature (dim). A feature that was never seen has a row of zeros there, which means
 * 1 / lambda on its diagonal: so memory that the system hands out zeroed is not touched before it is needed.
 *
 * Where few of many features are met, the state holds those: a column for each, in the order in which they came. A
 * sparse x then has columns as its indices, in the order of the features, and dim + feature for a feature without a
 * column, which x may have where it is predicted for. All results are as if all features were there. */
#ifndef EENET_RIDGE_H
#define EENET_RIDGE_H

#include "base/archive.h"
#include "base/memory.h"
#include "vector.h"

typedef struct ridge ridge;

/* Doubles of a state; for a dim that no memory could hold the square of, more than there can be. */
size_t ridge_state_count(size_t dim);
/* Those that have to be saved, the first ones: the blocks of a state are made again by ridge_archive. */
size_t ridge_saved_count(size_t dim);

/* refresh: updates of a block between its factorisations. Reserves (dim, dim) doubles twice; what no block needs is
 * never touched. */
ee_status ridge_create(memory *owner, size_t dim, double lambda, size_t refresh, ridge **out, ee_error *error);

/* Before ridge_start: features are columns, none so far, of so many places. */
ee_status ridge_store_columns(ridge *self, memory *owner, size_t places, ee_error *error);

/* The next column is that of this place. */
void ridge_add_column(ridge *self, double *state, size_t place);

/* Visits the part of a state that is saved, where features are columns: what those have. */
void ridge_archive_columns(const ridge *self, double *state, archive *a);

/* Makes state, which must be all zeros, that of no samples. */
void ridge_start(const ridge *self, double *state);

/* Takes in a sample. Cannot fail and allocates nothing. time, which never decreases, is for ridge_copy. */
void ridge_observe(ridge *self, double *state, vector x, double y, uint64_t time);

/* Changes the y of a sample that was taken in before: difference is the new one less the old one. */
void ridge_correct(ridge *self, double *state, vector x, double difference, uint64_t time);

/* Changes the y of all samples by amount. sum, (dim), is the sum of their x. */
void ridge_shift(ridge *self, double *state, const double *sum, double amount, uint64_t time);

/* Copies to `to` what the samples of this time and later ones have changed in a state; since = 0: all but what was zero
 * from the start. Returns how many doubles. */
size_t ridge_copy(ridge *self, const double *state, uint64_t since, double *to);

/* theta . x */
double ridge_mean(const double *state, size_t dim, vector x);

/* What ridge_mean multiplies the entries of x with: gradient is (x.count). */
void ridge_gradient(const double *state, size_t dim, vector x, float *gradient);

/* a^T A^-1 b; with a = b the variance of a's mean, in units of the noise's. */
double ridge_covariance(const double *state, size_t dim, vector a, vector b);

/* How far the arms' scores lie from their means under one theta drawn from N(its estimate, A^-1): drawn jointly, so two
 * equal arms are equally far off. deviations is (arms->count); room has ridge_draw_room doubles.
 *
 * Arms that share no block of A are independent. So the arms fall into groups, which are drawn one after the other. Of
 * a group, the draw is made among its features or among its arms, whichever are fewer: as many normals, at the cost of
 * their cube. */
size_t ridge_draw_room(size_t dim, size_t arms); /* dim: the columns and the places together, where these are apart */
void ridge_draw(const double *state, size_t dim, const ee_arms *arms, random_stream *random, double *room,
                double *deviations);

/* Visits what is not in the state; where that is read, the blocks of the state are set by it. */
void ridge_archive(ridge *self, double *state, archive *a);

#endif
