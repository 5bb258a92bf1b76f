/* The valid range of rewards: options `rewards` and `outside`. */
#ifndef EENET_REWARD_RANGE_H
#define EENET_REWARD_RANGE_H

#include "policy/policy.h"

typedef struct reward_range {
    bool stated;
    bool clips;       /* a reward outside is learned as the nearest end; otherwise it is refused */
    double low, high; /* -LARGEST_INPUT to LARGEST_INPUT if no range is stated */
} reward_range;

/* Reads the options. Refuses an invalid range, and a default reward outside it. */
ee_status reward_range_read(reward_range *self, const common_options *options, ee_error *error);

/* Checks that the reward may be learned. */
ee_status reward_range_check(const reward_range *self, double reward, ee_error *error);

#endif
