/* An anytime-valid interval for the value of a policy: with probability 1 - alpha it holds the true value at all times
 * at once, so that one may look at any time and stop when one likes (Waudby-Smith, Wu, Ramdas, Karampatziakis, Mineiro,
 * "Anytime-valid off-policy inference for contextual bandits", 2022; Howard, Ramdas, McAuliffe, Sekhon, "Time-uniform,
 * nonparametric, nonasymptotic confidence sequences", 2021: the gamma-exponential mixture).
 *
 * It stands on two processes, one for the lower end and one for the upper. Each sees numbers y >= 0 whose mean given
 * the past is what is sought, at most 1. Terms x >= -k whose mean is at most 1 are brought there by (x + k) / (1 + k).
 * Nothing is asked of the largest weight. A round of several copies is copies - 1 rounds of y = 0 and one of copies y,
 * which is exact where the log says how many were dropped, and close where it knows their share alone.
 *
 * Vowpal Wabbit's `cs` is the same but for the centre c of the variation, which it lets pass 1. The proof needs y - c
 * >= -1, so here c is at most 1; `loose` gives theirs. */
#ifndef EENET_CONFIDENCE_SEQUENCE_H
#define EENET_CONFIDENCE_SEQUENCE_H

#include "interval.h"

/* One end. {0} is one that has seen nothing. */
typedef struct one_sided_sequence {
    double count, sum, variation; /* of y; sum over rounds of (y - c)^2, c the mean before with one round of 1/2 */
    bool loose;                   /* c may pass 1 */
} one_sided_sequence;

void one_sided_add(one_sided_sequence *self, double y, double copies);

/* The largest number that the mean is not below, with probability 1 - alpha at all times at once; 0 to 1. */
double one_sided_lower(const one_sided_sequence *self, double alpha);

/* What one has, as a logarithm, who started with 1 and bet that the mean is above this one; minus infinity where there
 * is no more to be said than that it is not. It is above -log(alpha) where one_sided_lower is above the mean, and quick
 * enough to be asked after every round. */
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

/* By d + w e, with the slack of 1: where rewards are 0 to 1, q is cut to 0 .. 1 / w(a) for every action a, for each end
 * by itself. So it needs the log's probabilities of all actions. */
confidence_sequence confidence_sequence_of_dr(value_range range);

/* Of the difference between the evaluated policy's value and the log's, by (w - 1) r, with the slack of 1. */
confidence_sequence confidence_sequence_of_gain(value_range range);

void confidence_sequence_add_ips(confidence_sequence *self, double weight, double reward, double copies);
void confidence_sequence_add_gain(confidence_sequence *self, double weight, double reward, double copies);

/* The same of a round of several slots: the value is the mean of theirs. weights and rewards are (count). */
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

/* All that is possible where nothing was seen. Costs some microseconds, up to a millisecond after long logs. */
interval confidence_sequence_interval(const confidence_sequence *self, double alpha);

#endif
