/* The guardrails of a bandit as JSON and as numbers: see docs/live-evaluation.md. */
#ifndef EENET_GUARD_REPORT_H
#define EENET_GUARD_REPORT_H

#include "live_guard.h"

/* alarms: a JSON array. now: microseconds since 1970, for the stage of the rollout. */
void guard_report_write(const live_guard *from, const char *alarms, int64_t now, text *into);

/* For metrics of the server. */
typedef struct guard_number {
    char metric[METRIC_NAME_SIZE];
    double lift;     /* NaN: not known yet */
    double evidence; /* of its bounds, the largest; NaN: it has none */
} guard_number;

typedef struct guard_numbers {
    bool active; /* else the rest is unknown */
    guard_number values[GUARD_VALUES];
    size_t count;
    uint64_t alarms;
    held_state held;
} guard_numbers;

guard_numbers guard_report_numbers(const live_guard *from);

#endif
