/* The uncertainty of f1 about an arm, from its gradient. NeuralUCB and NeuralTS share it.
 *
 *   width^2 = lambda g^T Z^-1 g / m,   Z = lambda I + sum g g^T / m
 *
 * g is the gradient of f1 at the arm with respect to its p parameters, m the option f1.width. The sum goes over the
 * arms with rewards, each with its gradient at its decision. If f1 is a committee, the width is that of its first
 * network, the one of the papers.
 *
 *   covariance=diagonal  only the diagonal of Z, stored as reciprocals, p floats in the layout of theta1. A width comes
 *                        from the factors of the gradient, delta and input x of each layer, as
 *                        sum_b x_b^2 sum_a delta_a^2 / z_ba: a forward pass with the squares. g is never formed, and a
 *                        sparse arm costs only its rows.
 *   covariance=full      Z^-1 by rank-one updates (Sherman and Morrison), the lower triangle row by row, p (p + 1) / 2
 *                        doubles. A width costs p^2 / 2, a reward p^2. Refused above memory_limit.
 *
 * The defaults of lambda and nu, for f1 of m units and in units of the spread. The papers' networks multiply their
 * output by sqrt(m), f1 does not: its gradient is that much smaller, and the square of one first weight's is about 1 /
 * m for an arm of one feature. The diagonal counts each parameter separately.
 *
 *   lambda = 1 / m^2   is what one reward adds to Z there: the prior is worth one reward. With lambda = 0.1, as in
 *                      the papers' experiments, it is worth thousands: all arms keep the same width however often
 *                      they are played, nu adds the same to each, and only f1 decides.
 *   nu ~ sqrt(m)       After n rewards each of an arm's about m active parameters adds 1 / n to g^T Z^-1 g / m, so the
 *                      width is sqrt(lambda m / n) = 1 / sqrt(m n), and sqrt(m) times that is 1 / sqrt(n).
 *
 * The noise of rewards has a deviation of at most half a spread (linear.c), so that of a mean of n rewards is
 * 1 / (2 sqrt(n)). NeuralTS draws with just that deviation: nu = sqrt(m) / 2, 7 for the 200 units of the default f1.
 * NeuralUCB needs a bound that holds in all of thousands of rounds: f1, unlike a ridge regression, does not shrink the
 * mean of a few rewards. Four deviations are exceeded with a probability of at most exp(-4^2 / 2) = 3 in 10,000, for
 * any sub-Gaussian noise: nu = 2 sqrt(m), 28. For arms of many features the prior is worth more rewards, and widths
 * fall more slowly. With covariance=full, which counts all parameters of an arm once, nu sqrt(lambda) should be 2 and
 * 1/2.
 *
 * A float reciprocal does not change if g^2 / m is below 2^-24 of z: after some 10^7 rewards a diagonal width no longer
 * shrinks. Squares of x and delta, and entries of a formed g, are limited to 10^18, and g^T Z^-1 g to 10^36, so that Z
 * and the width stay finite. For arms far from length 1 a large lambda keeps its digits.
 *
 * Parameters: theta1; diagonal: the reciprocals; full: the triangle.
 * Stored with a decision: the activations and deltas of the first network for the chosen arm. */
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
