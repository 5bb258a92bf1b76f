/* Bayesian linear regression on f1's last hidden layer: what NeuralLinear and Neural-LinUCB share.
 *
 * An arm's features are h, the outputs of f1's last hidden layer, and a 1 behind them: d = f1.width + 1. Where f1 is a
 * committee, h is the last hidden layers of all its networks, one behind the other, and the regression weighs them. On
 * the samples (h, y) that it has taken in, each with a weight,
 *
 *   A = lambda I + sum w h h^T,   theta = A^-1 sum w y h
 *
 * y is the reward less its centre, in units of its spread (option `standardize`). The sums are of rewards as they are,
 * and of h alone, so that they stay true when the units change.
 *
 * With f1.heads each block of the features has a regression of its own on the hidden layer that all share.
 *
 * A is kept as its Cholesky factor U, A = U^T U, which gives all that the policies ask for: h^T A^-1 h = |U^-T h|^2,
 * and theta + nu U^-1 e, e normal, is a draw from N(theta, nu^2 A^-1). math/triangle.h says how it takes samples in.
 *
 * A sample enters with weight 1 and the features that f1 gives when its reward comes. Training moves f1, and with it
 * the features of all samples: after every `rebuild` trainings the regression is computed again from f1's history, with
 * the features as f1 has them now. What a history of the last N dropped is then forgotten; the samples of a reservoir
 * stand for all that came, each with weight seen / kept. rebuild=0: never, a sample keeps the features of its time.
 *
 * A decision whose reward is on its way enters with its own prediction as the reward, which leaves theta as it is, and
 * is corrected when the reward comes; what was made anew in between has not seen it, and takes it in as any other.
 *
 * Cost, in multiplications: an arm's width d^2 / 2, a draw of theta d^2 / 2, a reward 3 d^2; a rebuild d^2 / 2 and a
 * forward pass for each sample of the history, and d^3 / 6.
 *
 * f1 needs a hidden layer; without one this would be linucb or lints, and is refused.
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

/* All of them but scale, for which each policy has its own name and default. */
extern const option_table last_layer_option_table;

typedef struct last_layer {
    exploitation shared;
    double scale, lambda;
    uint64_t rebuild, trainings;
    uint64_t rebuilt_at; /* the reward after which the regression was last made anew */
    size_t heads;        /* f1's, each with a regression of its own */
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

/* ---- for score(), whose scratch is the room ---- */

/* Has some more arms pass through f1, as exploitation_pass does. */
bool last_layer_pass(const parameters *learned, scratch *room, passed_arms *passed, ee_score *scores);

/* An arm as its regression sees it. */
typedef struct arm_features {
    size_t head;
    const double *values; /* (d) h and a 1, in the room; valid until the next call */
} arm_features;

/* Computes the features of arm number `turn` of those that have passed together. */
arm_features last_layer_features(const parameters *learned, const passed_arms *passed, size_t turn, scratch *room);

/* theta . h, as a reward */
double last_layer_mean(const parameters *learned, arm_features arm);

/* scale sqrt(h^T A^-1 h), as a reward */
double last_layer_width(const parameters *learned, arm_features arm, scratch *room);

/* A draw from N(theta, scale^2 A^-1) of every head, (heads, d), in a part of the room of its own. */
const double *last_layer_draw(const parameters *learned, scratch *room);

/* The score of one arm under the theta that was drawn, as a reward. */
double last_layer_drawn(const parameters *learned, const double *drawn, arm_features arm);

#endif
