#include "limits.h"

#include "arms.h"

static ee_status check_boosts(const ee_limits *limits, size_t arms, ee_error *error)
{
    for (size_t arm = 0; limits->boosts && arm < arms; arm++)
        if (!(limits->boosts[arm] >= -LARGEST_INPUT && limits->boosts[arm] <= LARGEST_INPUT))
            return status_fail(error, EE_BAD_INPUT, "limits: the boost of arm %zu must be -1e9 to 1e9, got %g", arm,
                               (double)limits->boosts[arm]);
    return EE_OK;
}

static ee_status check_shares(const ee_limits *limits, ee_error *error)
{
    if (limits->group_count && (!limits->groups || !limits->low || !limits->high))
        return status_fail(
            error, EE_BAD_INPUT,
            "limits: groups, low and high must not be NULL if group_count is %zu; for no shares, set it to 0",
            limits->group_count);
    for (size_t group = 0; group < limits->group_count; group++) {
        double low = limits->low[group], high = limits->high[group];
        if (!(low >= 0 && high <= 1 && low <= high))
            return status_fail(error, EE_BAD_INPUT,
                               "limits: the share of group %zu must be within 0 to 1, from low to high, got %g to %g",
                               group, low, high);
    }
    return EE_OK;
}

ee_status limits_check(const ee_limits *limits, size_t arms, ee_error *error)
{
    if (!limits) return EE_OK;
    ee_status status = check_boosts(limits, arms, error);
    return status ? status : check_shares(limits, error);
}

void limits_boost(const ee_limits *limits, const size_t *left, size_t count, ee_score *scores)
{
    if (!limits || !limits->boosts) return;
    for (size_t i = 0; i < count; i++) scores[i].score += limits->boosts[left ? left[i] : i];
}
