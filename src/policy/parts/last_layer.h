/* Bayesian linear regression on f1's last hidden layer. NeuralLinear and Neural-LinUCB share it.
 *
 * The features of an arm are h, the outputs of f1's last hidden layer, and a 1: d = f1.width + 1. If f1 is a committee,
 * h has the last hidden layers of all its networks, one after the other. With samples (h, y), each with a weight w,
 *
 *   A = lambda I + sum w h h^T,   theta = A^-1 sum w y h
 *
 * y is (reward - centre) / spread (option `standardize`). The sums are of raw rewards and of h separately, so that they
 * stay valid when the units change.
 *
 * With f1.heads each block of the features has a separate regression on the shared hidden layer.
 *
 * A is stored as its Cholesky factor U, A = U^T U (math/triangle.h): h^T A^-1 h = |U^-T h|^2, and theta + nu U^-1 e, e
 * normal, is a draw from N(theta, nu^2 A^-1).
 *
 * A sample is added with weight 1 and its features when its reward arrives. Training changes f1, and thus the features
 * of all samples: after every `rebuild` trainings the regression is recomputed from f1's history with the current f1.
 * Samples that a ring history dropped are then forgotten; the samples of a reservoir represent all, each with weight
 * seen / kept. With rebuild=0 samples keep their original features.
 *
 * A pending decision is added with its prediction as the reward, which does not change theta, and corrected when the
 * reward arrives. If the regression was recomputed in between, the sample is added as usual.
 *
 * Cost, in multiplications: the width of an arm d^2 / 2, a draw of theta d^2 / 2, a reward 3 d^2; a rebuild d^2 / 2 and
 * a forward pass for each sample of the history, and d^3 / 6.
 *
 * f1 without a hidden layer is refused: that would be linucb or lints.
 *
 * Parameters: theta1; then in doubles U of every head (row by row from the diagonal on), and theta of every head. */
#ifndef EENET_LAST_LAYER_H
#define EENET_LAST_LAYER_H

#include "exploitation.h"

typedef struct last_layer_options {
    exploitation_options shared;
    double scale; /* of the width: NeuralLinear's nu, Neural-LinUCB's alpha */
    double lambda;
    int64_t rebuild;
} last_layer_options;

/* All of them but scale, which each policy names and sets itself. */
extern const option_table last_layer_option_table;

typedef struct last_layer {
    exploitation shared;
    double scale, lambda;
    uint64_t rebuild, trainings;
    uint64_t rebuilt_at; /* the round of the last rebuild */
    size_t heads;        /* heads of f1, each with a regression */
    size_t dim;          /* d */
    double *moments;     /* (heads, d) sum w y h */
    double *seen;        /* (heads, d) sum w h */
    double *features;    /* (d) of a sample */
} last_layer;

/* The functions of a class. */
ee_status last_layer_create(const policy_setup *setup, policy **out, ee_error *error);
size_t last_layer_scratch_count(const policy *base, size_t arms);
void last_layer_explain(const parameters *learned, vector x, scratch *room, float *gradient);
float last_layer_await(policy *base, const observation *o);
bool last_layer_learn(policy *base, const observation *o, float reward);
void last_layer_archive(policy *base, archive *a);

/* ---- for score(); room is its scratch ---- */

/* Runs more arms through f1, like exploitation_pass. */
bool last_layer_pass(const parameters *learned, scratch *room, passed_arms *passed, ee_score *scores);

/* The features of an arm for its regression. */
typedef struct arm_features {
    size_t head;
    const double *values; /* (d) h and a 1, in the scratch; valid until the next call */
} arm_features;

/* Computes the features of arm number `turn` of a pass. */
arm_features last_layer_features(const parameters *learned, const passed_arms *passed, size_t turn, scratch *room);

/* theta . h, as a reward */
double last_layer_mean(const parameters *learned, arm_features arm);

/* scale sqrt(h^T A^-1 h), as a reward */
double last_layer_width(const parameters *learned, arm_features arm, scratch *room);

/* A draw from N(theta, scale^2 A^-1) for every head, (heads, d), in its own part of the scratch. */
const double *last_layer_draw(const parameters *learned, scratch *room);

/* The score of an arm under the drawn theta, as a reward. */
double last_layer_drawn(const parameters *learned, const double *drawn, arm_features arm);

#endif
