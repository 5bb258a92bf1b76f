/* Whether a policy earns more than the log's, as a test that may be looked at after every round: where on the mean of
 * the rounds so far it never earns more, the test passes with probability alpha at most, ever.
 *
 * It is a bet (confidence_sequence.h) on terms of the rounds whose mean is the gain, or less where the log cannot take
 * all that the policy would:
 *
 *     (w - 1) r + d - w q(a),   q(b) = min(c, k p(b) / pi(b)),   d = sum over actions b of pi(b) q(b)
 *
 * c is the mean reward of the rounds before. d - w q(a) has the mean 0: it takes out of a term what a reward has in
 * common with all others. q is cut so that a term is at least -k. With a larger k less is cut, but what a bet has to
 * fear is more: so half of the money is bet without q and with k = 1, which is the gain's own sequence, and the rest is
 * shared among some k. What all bets have together is a bet too, so nothing is lost by looking at their sum. */
#ifndef EENET_GAIN_TEST_H
#define EENET_GAIN_TEST_H

#include "confidence_sequence.h"

enum { GAIN_BETS = 4 };

typedef struct gain_test {
    value_range range;
    one_sided_sequence bets[GAIN_BETS];
    double count, sum; /* of the rewards, where the range is 0 to 1 */
} gain_test;

gain_test gain_test_start(value_range range);

/* q of the round is not looked at; p NULL: the log has the probability of the taken action alone, which is given, and q
 * is 0 everywhere. */
void gain_test_add(gain_test *self, const scored_round *round, double weight);

/* A round of several slots: the mean of (w - 1) r over them. */
void gain_test_add_slots(gain_test *self, const double *weights, const double *rewards, size_t count, double copies);

/* The logarithm of what one has who began with 1. */
double gain_test_log_wealth(const gain_test *self);
bool gain_test_passes(const gain_test *self, double alpha);

#endif
