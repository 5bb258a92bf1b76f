/* A linear reward model: weighted ridge regression with an intercept that is not penalised, exactly, from sums that can
 * be merged. Cross-fitting: one model takes the rows of each fold; the model of a fold merges the others and is solved.
 *
 * How rows are weighted decides what the model is best for. PLAIN 1: to predict the log. IMPORTANCE pi / p: to predict
 * under the evaluated policy; DM and DR of the same rows are then equal. MRDR pi^2 (1 - p) / p^2: the least variance
 * of DR (Farajtabar, Chow, Ghavamzadeh, "More robust doubly robust off-policy evaluation", 2018). Open Bandit Pipeline
 * has pi instead of pi^2, which is equal only for a deterministic policy. */
#ifndef EENET_RIDGE_MODEL_H
#define EENET_RIDGE_MODEL_H

#include "base/memory.h"
#include "math/vector.h"

/* Sums take 8 dim^2 bytes, and solving n^3 / 3 operations, n the features that occurred. */
enum { RIDGE_MODEL_DIM = 4096 };

typedef struct ridge_model {
    size_t dim;
    double alpha;
    double *gram;   /* (dim + 1, dim + 1), the lower triangle: the sum of weight x x^T, x with a 1 at its end */
    double *moment; /* (dim + 1), the sum of weight y x */
    double *theta;  /* (dim + 1), the coefficients and the intercept, 0 before ridge_model_solve */
} ridge_model;

/* EE_BAD_INPUT if dim is above RIDGE_MODEL_DIM; alpha must be above 0. */
ee_status ridge_model_create(ridge_model *self, memory *owner, size_t dim, double alpha, ee_error *error);

void ridge_model_add(ridge_model *self, vector row, double target, double weight);

/* Adds the rows of another of the same dimension. */
void ridge_model_merge(ridge_model *self, const ridge_model *other);

/* Fits the rows so far; more may follow. Without rows of positive weight, all predictions are 0. */
ee_status ridge_model_solve(ridge_model *self, ee_error *error);

/* q (arms->count) */
void ridge_model_predict(const ridge_model *self, const ee_arms *arms, double *q);

typedef enum ridge_weighting { RIDGE_PLAIN, RIDGE_IMPORTANCE, RIDGE_MRDR } ridge_weighting;

/* The weight of a row: pi and p are the probabilities of the logged action by the candidate and by the logging policy.
 */
double ridge_model_weight(ridge_weighting by, double pi, double p);

#endif
