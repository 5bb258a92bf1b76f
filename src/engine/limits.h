/* Limits on the draw of a round (ee_limits): checks and boosts. shares.h has the shares. */
#ifndef EENET_LIMITS_H
#define EENET_LIMITS_H

#include <stdbool.h>

#include "base/status.h"

/* Checks limits on a round of this many arms. limits may be NULL. */
ee_status limits_check(const ee_limits *limits, size_t arms, ee_error *error);

/* Whether the limits bound the shares of groups. */
static inline bool limits_have_shares(const ee_limits *limits)
{
    return limits && limits->group_count;
}

/* Adds its boost to the score of each arm. left is (count): the numbers of these arms in their round; NULL: all of its
 * arms. scores is (count). Does nothing without boosts. */
void limits_boost(const ee_limits *limits, const size_t *left, size_t count, ee_score *scores);

#endif
