/* Bayesian linear regression on f1's last hidden layer: what NeuralLinear and Neural-LinUCB share.
 *
 * An arm's features are h, the outputs of f1's last hidden layer, and a 1 behind them: d = f1.width + 1. On the samples
 * (h, y) that it has taken in, each with a weight,
 *
 *   A = lambda I + sum w h h^T,   theta = A^-1 sum w y h
 *
 * With f1.heads an arm's features are those in its block's place among as many, and zero elsewhere: each block has a
 * regression of its own on the hidden layer that all share, and d = (f1.width + 1) f1.heads.
 *
 * A is kept as its Cholesky factor U, A = U^T U, which gives all that the policies ask for: h^T A^-1 h = |U^-T h|^2,
 * and theta + nu U^-1 e, e normal, is a draw from N(theta, nu^2 A^-1). math/triangle.h says how it takes samples in.
 *
 * A sample enters with weight 1 and the features that f1 gives when its reward comes. Training moves f1, and with it
 * the features of all samples: after every `rebuild` trainings the regression is made anew from f1's history, with the
 * features as f1 has them now. What a history of the last N dropped is then forgotten; the samples of a reservoir stand
 * for all that came, each with weight seen / kept. rebuild=0: never, a sample keeps the features of its time.
 *
 * Cost, in multiplications: an arm's width d^2 / 2, a draw of theta d^2 / 2, a reward 3 d^2; a rebuild d^2 / 2 and a
 * forward pass for each sample of the history, and d^3 / 6.
 *
 * f1 needs a hidden layer; without one this would be linucb or lints, and is refused.
 *
 * Parameters: theta1, a float where its count is odd; then in doubles U (row by row from the diagonal on) and theta. */
#ifndef EENET_LAST_LAYER_H
#define EENET_LAST_LAYER_H

#include "exploitation.h"

typedef struct last_layer_options {
    exploitation_options shared;
    double scale; /* of the width: NeuralLinear's nu, Neural-LinUCB's alpha */
    double lambda;
    int64_t rebuild;
} last_layer_options;

/* Those but the scale, which each policy names and defaults itself. */
extern const option_table last_layer_option_table;

typedef struct last_layer {
    exploitation shared;
    double scale, lambda;
    uint64_t rebuild, trainings;
    size_t hidden;    /* where h lies in f1's activations */
    size_t dim;       /* d */
    double *moment;   /* (d) sum w y h */
    double *features; /* (d) of a sample */
} last_layer;

/* The functions of a class. */
ee_status last_layer_create(const policy_class *class, const policy_setup *setup, policy **out, ee_error *error);
void last_layer_free(policy *base);
size_t last_layer_scratch_count(const policy *base, size_t arms);
void last_layer_observe(policy *base, const observation *o, float reward);
void last_layer_train(policy *base);
size_t last_layer_memory(const policy *base);
void last_layer_archive(policy *base, archive *a);

/* ---- for score(), whose scratch is the room ---- */

/* The features of an arm, (d), in the room. Valid until the next call on the same room. */
const double *last_layer_features(const parameters *learned, vector x, scratch *room);

/* theta, (d) */
const double *last_layer_theta(const parameters *learned);

/* sqrt(h^T A^-1 h) */
double last_layer_width(const parameters *learned, const double *features, scratch *room);

/* A draw from N(theta, scale^2 A^-1), (d), in a part of the room of its own. */
const double *last_layer_draw(const parameters *learned, scratch *room);

/* a . b, both (d) */
double last_layer_dot(const last_layer *self, const double *a, const double *b);

#endif
