/* The unit and the zero of rewards, and which rewards are outliers.
 *
 * A policy that learns rewards as (r - centre) / spread, and predicts centre + spread y, decides the same whether
 * rewards are cents or euros, ratings or costs.
 *
 * The centre is what is expected of an arm of which nothing is known: the mean of the rewards, or the least where at
 * most one arm of a round has another (option `exclusive`). The spread is twice their deviation, so that it is 1 for a
 * fair coin of 0 and 1. A policy that learns plays better and better arms, whose rewards are less and less apart, while
 * those of all arms stay as they are: so the spread rises at once, and falls slowly. While all rewards that came are
 * equal it is 0: then all arms are expected to be worth the same.
 *
 * A policy that learns shares, as with cross-entropy and in neural-fastcb, uses the range instead: the centre is the
 * least reward so far and the spread is the most less the least, so that y of a reward is within 0 to 1.
 *
 * Outliers. One reward of 10,000 among rewards within 1 would set the unit, and f1's largest error, for thousands of
 * rounds: one mistyped amount undoes all learning. But a rare large reward may also be the signal, as one purchase
 * among many clicks. Nothing tells the two apart when the first one comes; that it comes again does. With d = r - mean,
 * of n rewards so far,
 *
 *     reach  the largest |d| that was learned; it falls by one part in 10,000 with each reward
 *     far    the last d, as it came, that was beyond the reach
 *     most   2 (1 + 100 / n^2) reach
 *
 *     r is learned as it is         if |d| <= most,            it is like those before it,
 *                                   or 1/2 <= d / far <= 2,    it recurs,
 *                                   or reach = 0,              all rewards so far were equal;
 *     r is learned as mean +- most  otherwise.
 *
 * So an outlier counts as no more than about twice the furthest reward before it, one of about its size soon
 * after that counts in full, and where rewards grow for good, the reach doubles with each until it has caught up. The
 * first rewards say little about how far rewards reach: 100 / n^2 gives them room, as the quantiles of Student's t do.
 * While all rewards are equal, as clicks are before the first click, any other is the signal. Of two rewards nothing
 * says which one is the outlier, so a second reward is never limited. All of this is in terms of differences and their
 * ratios, so it is the same in any unit and from any zero. The range, where it is used, ignores what was limited.
 *
 * Nothing is limited where the range of the rewards is stated (option `rewards`), nor where rewards are learned as they
 * are (standardize=off), as the papers have it.
 *
 * All but the least and the most forgets slowly, since what rewards are like may change. */
#ifndef EENET_REWARD_UNITS_H
#define EENET_REWARD_UNITS_H

#include "base/archive.h"

typedef struct reward_units {
    bool on;                      /* off: rewards are learned as they are, centre 0 and spread 1 */
    bool from_least;              /* the centre is the least */
    bool by_range;                /* the centre is the least, and the spread up to the most */
    bool bounded;                 /* the range of rewards is stated: none is an outlier */
    uint64_t count;               /* rewards */
    double mean, variance, least; /* of them */
    double most;                  /* by_range alone */
    double widest;                /* the variance, which falls slowly here */
    double reach, far;            /* as above */
} reward_units;

/* Takes in a reward. Returns what is to be learned in its place: the reward itself, or nearer to the others where it is
 * an outlier. */
double reward_units_take(reward_units *self, double reward);

double reward_units_centre(const reward_units *self);
double reward_units_spread(const reward_units *self);

void reward_units_archive(reward_units *self, archive *a);

#endif
