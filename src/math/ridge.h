/* Exact online ridge regression: A = lambda I + sum x x^T, theta = A^-1 sum y x.
 *
 * The inverse gets rank-one updates (Sherman and Morrison) and is recomputed by Cholesky factorisation now and then, so
 * that it does not drift. A consists of blocks of features that were seen together, and updates and factorisations stay
 * within a block: a sparse x costs only what it touches. Zeros of a dense x do not count as features.
 *
 * Predictions read `state`, flat memory of the caller: the inverse (dim, dim), theta (dim), 1 / lambda, and the block
 * of each feature (dim). A feature that was never seen has a row of zeros in the inverse, which stands for 1 / lambda
 * on its diagonal, so that zeroed memory stays untouched until it is needed.
 *
 * If few of many features occur, the state holds only those: one column each, in the order of their first use. The
 * indices of a sparse x are then columns, in the order of the features; for predictions, dim + feature is a feature
 * without a column. All results are as if all features were stored. */
#ifndef EENET_RIDGE_H
#define EENET_RIDGE_H

#include "base/archive.h"
#include "base/memory.h"
#include "vector.h"

typedef struct ridge ridge;

/* Doubles of a state; more than can be allocated if the square of dim overflows. */
size_t ridge_state_count(size_t dim);
/* The first of them, which have to be saved: ridge_archive recomputes the blocks. */
size_t ridge_saved_count(size_t dim);

/* refresh is the number of updates of a block between its factorisations. Reserves (dim, dim) doubles twice; memory
 * that no block needs is never touched. */
ee_status ridge_create(memory *owner, size_t dim, double lambda, size_t refresh, ridge **out, ee_error *error);

/* Call it before ridge_start: features are then columns, none so far, of this many places. */
ee_status ridge_store_columns(ridge *self, memory *owner, size_t places, ee_error *error);

/* Gives the next column to a place. */
void ridge_add_column(ridge *self, double *state, size_t place);

/* Visits the saved part of a state whose features are columns. */
void ridge_archive_columns(const ridge *self, double *state, archive *a);

/* Initialises a zeroed state to no samples. */
void ridge_start(const ridge *self, double *state);

/* Adds a sample. Cannot fail and does not allocate. time, which never decreases, is for ridge_copy. */
void ridge_observe(ridge *self, double *state, vector x, double y, uint64_t time);

/* Changes the y of an earlier sample by difference. */
void ridge_correct(ridge *self, double *state, vector x, double difference, uint64_t time);

/* Changes the y of all samples by amount. sum, (dim), is the sum of their x. */
void ridge_shift(ridge *self, double *state, const double *sum, double amount, uint64_t time);

/* Copies to `to` what the samples of this time and later changed in a state; since = 0: everything that is not zero.
 * Returns the number of doubles. */
size_t ridge_copy(ridge *self, const double *state, uint64_t since, double *to);

/* theta . x */
double ridge_mean(const double *state, size_t dim, vector x);

/* gradient (x.count) = the factors of the entries of x in ridge_mean. */
void ridge_gradient(const double *state, size_t dim, vector x, float *gradient);

/* a^T A^-1 b; with a = b, the variance of the mean of a, in units of the noise variance. */
double ridge_covariance(const double *state, size_t dim, vector a, vector b);

/* The deviations of the scores of the arms from their means under one theta drawn from N(its estimate, A^-1). They are
 * drawn jointly, so equal arms have equal deviations. deviations is (arms->count); room has ridge_draw_room doubles.
 *
 * Arms that share no block of A are independent, so they are drawn in groups. A group is drawn over its features or its
 * arms, whichever are fewer, at the cost of their cube. */
size_t ridge_draw_room(size_t dim, size_t arms); /* dim: columns plus places, if features are columns */
void ridge_draw(const double *state, size_t dim, const ee_arms *arms, random_stream *random, double *room,
                double *deviations);

/* Visits what is not in the state, and sets the blocks of the state from it when reading. */
void ridge_archive(ridge *self, double *state, archive *a);

#endif
