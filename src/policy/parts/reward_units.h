/* The unit and the zero of rewards, as they come.
 *
 * Whoever learns rewards as (r - centre) / spread, and says what it expects as centre + spread y, decides the same
 * whether rewards are cents or euros, ratings or costs.
 *
 * The centre is what is expected of an arm of which nothing is known: the mean of the rewards, or the least where at
 * most one arm of a round has another (option `exclusive`). The spread is twice their deviation, so that it is 1 for a
 * fair coin of 0 and 1. A policy that learns plays better and better arms, whose rewards are less and less apart, while
 * those of all arms stay as they are: so the spread rises at once, and falls slowly. While all rewards that came are
 * equal it is 0: then all arms are expected to be worth the same.
 *
 * Who learns shares, as cross-entropy and neural-fastcb do, has the range in their place: the centre is the least
 * reward so far and the spread is the most less the least, so that y of a reward is within 0 to 1.
 *
 * All but the least and the most forgets slowly, since what rewards are like may change. */
#ifndef EENET_REWARD_UNITS_H
#define EENET_REWARD_UNITS_H

#include "base/archive.h"

typedef struct reward_units {
    bool on;                      /* off: rewards are learned as they are, centre 0 and spread 1 */
    bool from_least;              /* the centre is the least */
    bool by_range;                /* the centre is the least, and the spread up to the most */
    uint64_t count;               /* rewards */
    double mean, variance, least; /* of them */
    double most;                  /* by_range alone */
    double widest;                /* the variance, which falls slowly here */
} reward_units;

void reward_units_add(reward_units *self, double reward);

double reward_units_centre(const reward_units *self);
double reward_units_spread(const reward_units *self);

void reward_units_archive(reward_units *self, archive *a);

#endif
