/* The range of the rewards as the user states it: options `rewards` and `outside`. */
#ifndef EENET_REWARD_RANGE_H
#define EENET_REWARD_RANGE_H

#include "policy/policy.h"

typedef struct reward_range {
    bool stated;
    bool clips;       /* a reward outside is learned as the nearest end; otherwise it is refused */
    double low, high; /* as large as rewards may be where no range is stated */
} reward_range;

/* Reads the options. Refuses a range that is none, and a default reward outside it. */
ee_status reward_range_read(reward_range *self, const common_options *options, ee_error *error);

/* Whether the reward may be learned. */
ee_status reward_range_check(const reward_range *self, double reward, ee_error *error);

#endif
