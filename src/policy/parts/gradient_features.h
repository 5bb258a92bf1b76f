/* The features of f1's gradient that the exploration network sees (the paper, section 4 and its remark on network
 * structure).
 *
 *   FEATURES_NORMALIZED  phi = (g / (sqrt 2 |g|), x / sqrt 2)
 *   FEATURES_POOLED      means of k consecutive entries of g, the last block padded with zeros
 *                        (features=authors: k is 2, or 50 for a large f1, as in the authors' code)
 *   FEATURES_LLE         locally linear embedding of a window of past gradients to k dimensions; a new gradient is
 *                        mapped by the weights of its neighbours; 0 before the first window is full
 *   FEATURES_SKETCH      k random projections, each onto an outer product of random signs
 *
 * g is the gradient of f1's output with respect to its parameters, layer by layer: the weights as (out, in) row by row,
 * then the biases. It is formed only for `normalized`; everything else comes from its factors. */
#ifndef EENET_GRADIENT_FEATURES_H
#define EENET_GRADIENT_FEATURES_H

#include "math/lle.h"
#include "net/network.h"

typedef enum feature_kind {
    FEATURES_NORMALIZED,
    FEATURES_POOLED,
    FEATURES_LLE,
    FEATURES_SKETCH,
    FEATURES_AUTHORS /* only an option: it becomes FEATURES_POOLED */
} feature_kind;

typedef struct feature_options {
    option_choice kind;
    int64_t window, neighbors; /* of lle */
} feature_options;

extern const option_table feature_option_table;

typedef struct gradient_features {
    feature_kind kind;
    size_t k;
    const network *f1;
    size_t count;         /* of phi */
    size_t rows, columns; /* of phi as a product, see gradient_features_factor; otherwise 0 */
    gradient_factor shapes[NETWORK_LAYERS];
    size_t factor_count;
    size_t workspace_count; /* floats of workspace for gradient_features_compute */
    size_t parameter_count; /* floats that training fits and scoring reads; only for lle */
    size_t point_count;     /* floats of a point, see gradient_features_map; only for lle */
    size_t window, neighbors;
    float *signs; /* (sign_count) sketch: for each factor (in + bias, k), then (out, k) */
    size_t sign_count;
    const kernel_table *kernels;
} gradient_features;

ee_status gradient_features_create(gradient_features *self, memory *owner, const feature_options *options,
                                   const network *f1, ee_error *error);

/* From now on phi is a product (network.h) if possible: pooled, with no mean over two rows of the first weights. */
void gradient_features_factor(gradient_features *self);

/* Draws the signs of the projections. */
void gradient_features_start(gradient_features *self, uint64_t seed);

/* phi (count) = the features of the gradient with these factors at arm x; fitted is (parameter_count). */
void gradient_features_compute(const gradient_features *self, const float *fitted, const gradient_factor *factors,
                               vector x, float *workspace, float *phi);

/* lle: phi of a point, which gradient_features_compute leaves in its workspace: the factors of the gradient in one row
 * of point_count floats. */
void gradient_features_map(const gradient_features *self, const float *fitted, const float *point, float *phi);

/* lle: fits on points (window, point_count). phi of each point, (window, count), then follows the points in fitted.
 * Returns false, and changes nothing, if there is no embedding. room is from lle_create for this window; gram is
 * (window, window) and embedding (window, count). */
bool gradient_features_fit(const gradient_features *self, lle *room, double *gram, double *embedding,
                           const float *points, float *fitted);
const float *gradient_features_embedding(const gradient_features *self, const float *fitted, size_t point);

/* The squared length of the gradient. */
double gradient_square(const gradient_factor *factors, size_t count);

#endif
