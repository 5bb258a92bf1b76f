/* An anytime-valid interval for the value of a policy: with probability 1 - alpha it covers the true value at all
 * times, so you may look at any time and stop when you like (Waudby-Smith, Wu, Ramdas, Karampatziakis, Mineiro,
 * "Anytime-valid off-policy inference for contextual bandits", 2022; Howard, Ramdas, McAuliffe, Sekhon, "Time-uniform,
 * nonparametric, nonasymptotic confidence sequences", 2021: the gamma-exponential mixture).
 *
 * It is built from two processes, one per end. Each sees numbers y >= 0 whose mean given the past is the unknown value,
 * at most 1. Terms x >= -k whose mean is at most 1 are mapped to (x + k) / (1 + k). The largest weight may be
 * unbounded. A round of several copies is copies - 1 rounds of y = 0 and one of copies y: exact if the log says how
 * many events were dropped, close if it only knows their share.
 *
 * Vowpal Wabbit's `cs` differs in the centre c of the variation, which it lets pass 1. The proof needs y - c >= -1, so
 * here c is at most 1; `loose` gives theirs. */
#ifndef EENET_CONFIDENCE_SEQUENCE_H
#define EENET_CONFIDENCE_SEQUENCE_H

#include "interval.h"

/* One end. {0} has seen nothing. */
typedef struct one_sided_sequence {
    double count, sum, variation; /* of y; sum over rounds of (y - c)^2, c the mean before with one round of 1/2 */
    bool loose;                   /* c may pass 1 */
} one_sided_sequence;

void one_sided_add(one_sided_sequence *self, double y, double copies);

/* A lower bound of the mean, 0 to 1, valid at all times with probability 1 - alpha. */
double one_sided_lower(const one_sided_sequence *self, double alpha);

/* Log wealth of a bet that starts with 1 and wins if the true mean is above this one; minus infinity without any
 * evidence for it. Above -log(alpha) if one_sided_lower is above the mean; cheap enough to call after every round. */
double one_sided_log_wealth(const one_sided_sequence *self, double mean);

/* Both ends of a value in range.reward_low .. reward_high, or of a difference of two such. Rewards beyond the range
 * count as its nearest end. */
typedef struct confidence_sequence {
    value_range range;
    double slack; /* k: terms are at least -k, where rewards are 0 to 1 */
    bool gain;    /* it is about a difference */
    one_sided_sequence below, above;
} confidence_sequence;

/* By w r, which needs no slack. */
confidence_sequence confidence_sequence_of_ips(value_range range);

/* By d + w e, with a slack of 1: for rewards in 0 to 1, q is clipped to 0 .. 1 / w(a) for every action a, separately
 * for each end. This needs the probabilities of all actions in the log. */
confidence_sequence confidence_sequence_of_dr(value_range range);

/* Of the difference between the candidate's value and the logging policy's, by (w - 1) r, with a slack of 1. */
confidence_sequence confidence_sequence_of_gain(value_range range);

void confidence_sequence_add_ips(confidence_sequence *self, double weight, double reward, double copies);
void confidence_sequence_add_gain(confidence_sequence *self, double weight, double reward, double copies);

/* The same for a round of several slots: the value is their mean. weights and rewards are (count). */
void confidence_sequence_add_ips_slots(confidence_sequence *self, const double *weights, const double *rewards,
                                       size_t count, double copies);
void confidence_sequence_add_gain_slots(confidence_sequence *self, const double *weights, const double *rewards,
                                        size_t count, double copies);

/* A round for DR: pi, p and q are (count) by action; action was taken and gave the reward. */
typedef struct scored_round {
    size_t count;
    const double *pi, *p, *q;
    size_t action;
    double reward;
    double copies;
} scored_round;

void confidence_sequence_add_dr(confidence_sequence *self, const scored_round *round);

/* The whole possible range before the first round. Takes microseconds, up to a millisecond after long logs. */
interval confidence_sequence_interval(const confidence_sequence *self, double alpha);

#endif
