/* Tests whether a candidate earns more than the logging policy. The test may be checked after every round: if the
 * candidate never earns more on average over the rounds so far, it ever passes with probability at most alpha.
 *
 * It is a bet (confidence_sequence.h) on terms of the rounds whose mean is the gain, or less if the logging policy
 * cannot take all that the candidate would:
 *
 *     (w - 1) r + d - w q(a),   q(b) = min(c, k p(b) / pi(b)),   d = sum over actions b of pi(b) q(b)
 *
 * c is the mean reward of the rounds before. d - w q(a) has mean 0: it removes from a term what a reward has in common
 * with all others. q is clipped so that a term is at least -k. A larger k clips less, but a bet can lose more. So half
 * of the wealth is bet without q and with k = 1, which is the sequence of the gain, and the rest is divided among
 * several k. The sum of bets is a bet too, so the total wealth is a valid test. */
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

/* q of the round is ignored; p NULL: the log has only the probability of the logged action, and q is 0 everywhere. */
void gain_test_add(gain_test *self, const scored_round *round, double weight);

/* A round of several slots: the mean of (w - 1) r over them. */
void gain_test_add_slots(gain_test *self, const double *weights, const double *rewards, size_t count, double copies);

/* The log wealth, starting from 1. */
double gain_test_log_wealth(const gain_test *self);
bool gain_test_passes(const gain_test *self, double alpha);

#endif
