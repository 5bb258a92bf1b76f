/* The scale and offset of rewards, and outliers.
 *
 * A policy that learns rewards as (r - centre) / spread, and predicts centre + spread y, decides the same for rewards
 * of any scale and offset. The centre is the expected reward of an unknown arm: the mean of the rewards, or the lowest
 * if at most one arm of a round has another (option `exclusive`). The spread is twice their standard deviation, so that
 * it is 1 for a fair coin of 0 and 1. As a policy learns, it chooses better arms, whose rewards vary less, while the
 * rewards of all arms do not change: so the spread rises at once and falls slowly. While all rewards so far are equal
 * it is 0, and all arms have the same expected reward.
 *
 * A policy that learns shares, as with cross-entropy and in neural-fastcb, uses the range instead: the centre is the
 * lowest reward so far and the spread is the range, so that y is within 0 to 1.
 *
 * Outliers. One reward of 10,000 among rewards within 1 would set the unit, and the largest error of f1, for thousands
 * of rounds: one mistyped amount would undo all learning. But a rare large reward may also be the signal, such as one
 * purchase among many clicks. The first one does not tell which it is; its recurrence does. With d = r - mean, of n
 * rewards so far,
 *
 *   reach   the largest |d| that was learned; it falls by one part in 10,000 with each reward
 *   far     the last unlimited d that was beyond the reach
 *   most    2 (1 + 100 / n^2) reach
 *
 *   r is learned unchanged if   |d| <= most, it is like those before it, or
 *                               1/2 <= d / far <= 2, it recurs, or
 *                               reach = 0, all rewards so far were equal;
 *   r is learned as mean +- most otherwise.
 *
 * So an outlier counts at most about twice the furthest reward before it, and a similar one soon after it counts in
 * full. If rewards grow permanently, the reach doubles with each until it has caught up. The first rewards say little
 * about the reach: 100 / n^2 allows more, like the quantiles of Student's t. While all rewards are equal, such as
 * clicks before the first click, any other reward is the signal. Two rewards do not show which one is the outlier, so a
 * second reward is never limited. All of this uses differences and their ratios, so it is independent of scale and
 * offset. The range ignores limited rewards.
 *
 * Nothing is limited if the range of the rewards is stated (option `rewards`) or with standardize=off, as in the
 * papers. All but the lowest and highest reward is forgotten slowly, since rewards may change. */
#ifndef EENET_REWARD_UNITS_H
#define EENET_REWARD_UNITS_H

#include "base/archive.h"

typedef struct reward_units {
    bool on;                      /* off: raw rewards, centre 0 and spread 1 */
    bool from_least;              /* the centre is the least */
    bool by_range;                /* the centre is the lowest reward, the spread is the range */
    bool bounded;                 /* the range of rewards is stated: there are no outliers */
    uint64_t count;               /* rewards */
    double mean, variance, least; /* of them */
    double most;                  /* only with by_range */
    double widest;                /* the variance, falling slowly */
    double reach, far;            /* as above */
} reward_units;

/* Adds a reward. Returns what to learn: the reward, or a limited value if it is an outlier. */
double reward_units_take(reward_units *self, double reward);

double reward_units_centre(const reward_units *self);
double reward_units_spread(const reward_units *self);

void reward_units_archive(reward_units *self, archive *a);

#endif
