#include "evaluation_members.h"

#include "evaluation.h"

static const real_member of_estimate[] = {
    {"value", offsetof(estimate, value)},       {"low", offsetof(estimate, low)},
    {"high", offsetof(estimate, high)},         {"gain", offsetof(estimate, gain)},
    {"gain_low", offsetof(estimate, gain_low)}, {"gain_high", offsetof(estimate, gain_high)},
    {"lambda", offsetof(estimate, lambda)},
};

static const real_member of_fact[] = {
    {"rounds", offsetof(diagnosis, rounds)},
    {"effective", offsetof(diagnosis, effective)},
    {"largest_weight", offsetof(diagnosis, largest_weight)},
    {"largest_share", offsetof(diagnosis, largest_share)},
    {"mean_weight", offsetof(diagnosis, mean_weight)},
    {"mean_weight_error", offsetof(diagnosis, mean_weight_error)},
    {"unsupported", offsetof(diagnosis, unsupported)},
    {"spread_weight", offsetof(diagnosis, spread_weight)},
    {"spread_weight_error", offsetof(diagnosis, spread_weight_error)},
    {"spread_unsupported", offsetof(diagnosis, spread_unsupported)},
    {"probability_sum", offsetof(diagnosis, probability_sum)},
    {"sum_off", offsetof(diagnosis, sum_off)},
    {"reward_first", offsetof(diagnosis, reward_first)},
    {"reward_last", offsetof(diagnosis, reward_last)},
    {"reward_error", offsetof(diagnosis, reward_error)},
    {"direct", offsetof(diagnosis, direct)},
    {"robust", offsetof(diagnosis, robust)},
    {"robust_error", offsetof(diagnosis, robust_error)},
};

static const real_member of_log[] = {
    {"rounds", offsetof(evaluated_log, rounds)},
    {"reward", offsetof(evaluated_log, reward)},
    {"reward_low", offsetof(evaluated_log, rewards.low)},
    {"reward_high", offsetof(evaluated_log, rewards.high)},
    {"range_low", offsetof(evaluated_log, range.reward_low)},
    {"range_high", offsetof(evaluated_log, range.reward_high)},
    {"range_weight", offsetof(evaluated_log, range.weight_high)},
    {"first_time", offsetof(evaluated_log, first_time)},
    {"last_time", offsetof(evaluated_log, last_time)},
};

static const real_member of_slot[] = {
    {"reward", offsetof(slot_result, reward)},
    {"effective", offsetof(slot_result, effective)},
};

static const real_member of_metric[] = {
    {"logged", offsetof(metric_result, logged)},
    {"logged_low", offsetof(metric_result, logged_interval.low)},
    {"logged_high", offsetof(metric_result, logged_interval.high)},
    {"range_low", offsetof(metric_result, range.reward_low)},
    {"range_high", offsetof(metric_result, range.reward_high)},
};

#define MEMBERS(of)                                                                                                    \
    {                                                                                                                  \
        of, sizeof of / sizeof *of                                                                                     \
    }

const real_members estimate_members = MEMBERS(of_estimate);
const real_members fact_members = MEMBERS(of_fact);
const real_members log_members = MEMBERS(of_log);
const real_members slot_members = MEMBERS(of_slot);
const real_members metric_members = MEMBERS(of_metric);
