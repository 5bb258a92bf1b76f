/* What the exploration network sees of f1's gradient (the paper, section 4 and its remark on network structure).
 *
 *   FEATURES_NORMALIZED  phi = (g / (sqrt 2 |g|), x / sqrt 2)
 *   FEATURES_POOLED      means of k consecutive entries of g, the last block padded with zeros
 *                        (features=authors: k is 2, or 50 for a large f1, as the authors' code has it)
 *   FEATURES_LLE         locally linear embedding of a window of past gradients to k dimensions; a new gradient is
 *                        mapped by the weights of its neighbours; 0 before the first window is full
 *   FEATURES_SKETCH      k random projections, each onto an outer product of random signs
 *
 * g is the gradient of f1's output by its parameters, layer by layer, each the weights as (out, in) row by row and then
 * the biases. It is never formed (but for `normalized`, whose entries it is): everything comes from the factors. */
#ifndef EENET_GRADIENT_FEATURES_H
#define EENET_GRADIENT_FEATURES_H

#include "math/lle.h"
#include "net/network.h"

typedef enum feature_kind {
    FEATURES_NORMALIZED,
    FEATURES_POOLED,
    FEATURES_LLE,
    FEATURES_SKETCH,
    FEATURES_AUTHORS /* an option alone: it becomes FEATURES_POOLED */
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
    size_t rows, columns; /* of phi as a product, see gradient_features_factor; else 0 */
    gradient_factor shapes[NETWORK_LAYERS];
    size_t factor_count;
    size_t workspace_count; /* floats that gradient_features_compute needs */
    size_t parameter_count; /* floats of what training fits and scoring reads; 0 but for lle */
    size_t point_count;     /* floats of a point, see gradient_features_map; 0 but for lle */
    size_t window, neighbors;
    float *signs; /* (sign_count) sketch: for each factor (in + bias, k), then (out, k) */
    size_t sign_count;
    const kernel_table *kernels;
} gradient_features;

ee_status gradient_features_create(gradient_features *self, memory *owner, const feature_options *options,
                                   const network *f1, ee_error *error);

/* From here on phi comes as a product (network.h) where it can: pooled, and no mean is over two rows of the first
 * layer's weights. */
void gradient_features_factor(gradient_features *self);

/* Draws the signs of the projections. */
void gradient_features_start(gradient_features *self, uint64_t seed);

/* phi is (count) of the gradient with these factors at arm x; fitted is (parameter_count). */
void gradient_features_compute(const gradient_features *self, const float *fitted, const gradient_factor *factors,
                               vector x, float *workspace, float *phi);

/* lle: phi of a point, which is what gradient_features_compute leaves in its workspace: the gradient's factors in one
 * row of point_count floats. */
void gradient_features_map(const gradient_features *self, const float *fitted, const float *point, float *phi);

/* lle: fits on points (window, point_count); phi of each of them is then (window, count) behind the points in fitted.
 * Returns false and changes nothing where the embedding does not exist. room is lle_create's for this window; gram is
 * (window, window) and embedding (window, count). */
bool gradient_features_fit(const gradient_features *self, lle *room, double *gram, double *embedding,
                           const float *points, float *fitted);
const float *gradient_features_embedding(const gradient_features *self, const float *fitted, size_t point);

/* The square of the gradient's length. */
double gradient_square(const gradient_factor *factors, size_t count);

#endif
