/* Metrics by name: those of a REWARD event, which is its body; the totals of a decision so far, which its row has; and
 * the totals at its end, which are the body of its SETTLED event.
 *
 * As bytes: format 1, how many metrics, the reward (8), then for each metric, in the order of their names: length of
 * the name, the name, how many values (4), the value (8). Numbers are little-endian. */
#ifndef EENET_METRIC_VALUES_H
#define EENET_METRIC_VALUES_H

#include "event.h"
#include "serve/settings/bandit_settings.h"

typedef struct metric_value {
    char name[METRIC_NAME_SIZE];
    uint32_t count; /* values that it is made of; above 0 */
    double value;   /* by the metric's aggregation; finite */
} metric_value;

typedef struct metric_values {
    double reward; /* without the metrics; NaN: none. Not part of a decision's row, which has it beside */
    size_t count;
    metric_value list[MOST_METRICS]; /* (count) */
} metric_values;

enum { METRIC_VALUES_SIZE = 2 + 8 + MOST_METRICS * (METRIC_NAME_SIZE + 4 + 8) };

/* The same metrics in another order give the same bytes. The result is how many. */
size_t metric_values_write(const metric_values *from, uint8_t bytes[METRIC_VALUES_SIZE]);
/* EE_BAD_INPUT if the bytes are damaged: then *out has no metrics. */
ee_status metric_values_read(const void *bytes, size_t size, metric_values *out, ee_error *error);

/* Adds the metrics of a reward to the totals of its decision, as far as the bandit has them. false: none counted. */
bool metric_values_join(metric_values *totals, const joining_rules *rules, const metric_values *reward);

/* Whether there is a value of a metric that the bandit has. */
bool metric_values_has(const metric_values *of, const joining_rules *rules);

/* What a decision with these totals is worth: metric_objective, of 0 without a reward. */
double metric_values_objective(const metric_values *of, const joining_rules *rules);

/* The value of a SETTLED event by the rules in force: recomputed if it has totals, else what it is. */
double settled_objective(const event *settled, const joining_rules *rules);

/* What table reward_ids has as the value of a reward: its value; with metrics a number from 2^60 on, made of the reward
 * and all metrics. So a reward id that comes again is recognised only with the same metrics. */
double reward_id_value(const event *reward);

#endif
