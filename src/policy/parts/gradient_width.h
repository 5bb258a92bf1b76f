/* How unsure f1 is of an arm, from its gradient: what NeuralUCB and NeuralTS share.
 *
 *   width^2 = lambda g^T Z^-1 g / m,   Z = lambda I + sum g g^T / m
 *
 * g is the gradient of f1 at the arm by its p parameters, m the option f1.width, and the sum goes over the arms whose
 * rewards have come, each with its gradient at the time of its decision. Where f1 is a committee, the width is that of
 * its first network, which is the papers'.
 *
 *   covariance=diagonal  Z's diagonal alone. It is kept as its reciprocals, p floats laid out as theta1. A width comes
 *                        from the gradient's factors, delta and input x of each layer, as
 *                        sum_b x_b^2 sum_a delta_a^2 / z_ba: a forward pass with the squares. g is never formed, and a
 *                        sparse arm costs its own rows.
 *   covariance=full      Z^-1 by rank-one updates (Sherman and Morrison), the lower triangle row by row, p (p + 1) / 2
 *                        doubles. A width costs p^2 / 2, a reward p^2. Refused where it takes more than memory_limit.
 *
 * The defaults of lambda and nu, for f1 of m units and in units of the spread. The papers' networks multiply their
 * output by sqrt(m), f1 does not: its gradient is that much smaller, and the square of one first weight's is about 1 /
 * m for an arm of one feature. The diagonal counts each parameter apart.
 *
 *   lambda = 1 / m^2   is what one reward adds to Z there: the prior is worth one reward. With lambda = 0.1, as the
 *                      papers' experiments have it, it is worth thousands, and all arms keep the same width however
 *                      often they are played: nu then adds the same to each, and f1 alone decides.
 *   nu ~ sqrt(m)       After n rewards each of an arm's about m active parameters adds 1 / n to g^T Z^-1 g / m, so the
 *                      width is sqrt(lambda m / n) = 1 / sqrt(m n), and sqrt(m) times that is 1 / sqrt(n).
 *
 * The noise of rewards has a deviation of at most half a spread (linear.c), so that of a mean of n rewards is
 * 1 / (2 sqrt(n)). NeuralTS draws with just that deviation: nu = sqrt(m) / 2, 7 for the 200 units of the default f1.
 * NeuralUCB needs a bound that holds in all of thousands of rounds: f1, unlike a ridge regression, does not shrink the
 * mean of a few rewards. Four deviations are exceeded with a probability of at most exp(-4^2 / 2) = 3 in 10,000, for
 * any sub-Gaussian noise: nu = 2 sqrt(m), 28. For arms of many features the prior is worth more rewards, and widths
 * fall more slowly. With covariance=full, where all parameters of an arm count once, nu sqrt(lambda) should be 2 and
 * 1/2.
 *
 * A float reciprocal stays as it is where g^2 / m is below 2^-24 of z: after some 10^7 rewards a diagonal width no
 * longer shrinks. Squares of x and delta are cut at 10^18, what is above 10^18 of a formed g, and g^T Z^-1 g at
 * 10^36: so Z stays a matrix of numbers, and a width is finite. For arms far from length 1 a large lambda keeps its
 * digits.
 *
 * Parameters: theta1; diagonal: the reciprocals; full: the triangle.
 * Kept of a decision: the first network's activations and deltas for the played arm. */
#ifndef EENET_GRADIENT_WIDTH_H
#define EENET_GRADIENT_WIDTH_H

#include "exploitation.h"

typedef struct gradient_width_options {
    exploitation_options shared;
    double nu, lambda;
    option_choice covariance;
    int64_t memory_limit; /* MiB */
} gradient_width_options;

extern const option_table gradient_width_option_table;

/* The functions of a class. gradient_width_score: exploitation is f1, exploration nu times the width, score their sum.
 */
ee_status gradient_width_create(const policy_setup *setup, policy **out, ee_error *error);
size_t gradient_width_scratch_count(const policy *base, size_t arms);
void gradient_width_score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores);
size_t gradient_width_kept_count(const policy *base, uint64_t round, size_t arms);
void gradient_width_keep(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room, float *kept);
float gradient_width_await(policy *base, const observation *o);
bool gradient_width_learn(policy *base, const observation *o, float reward);

#endif
