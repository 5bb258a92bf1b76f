/* Statistics of a log, in one pass and constant memory. */
#ifndef EENET_LOG_SUMMARY_H
#define EENET_LOG_SUMMARY_H

#include "data/values/vocabulary.h"
#include "log_guard.h"

/* One action, identified by its name if it has one, else by its number. */
typedef struct log_action_summary {
    json_text name;
    size_t taken;
    double reward, probability; /* sums */
} log_action_summary;

/* Least, largest and mean of something. */
typedef struct log_range {
    size_t count;
    double least, largest, sum;
} log_range;

typedef struct log_metric_summary {
    json_text name; /* set by log_summary_end */
    log_range values;
} log_metric_summary;

enum { LOG_GAPS = 3, LOG_ACTIONS_MOST = 1 << 16 };

typedef struct log_gap {
    double start, seconds;
} log_gap;

/* Skipped events (log_event) count only in the times here; the log counts them. */
typedef struct log_summary {
    log_range times;
    size_t backwards;       /* events earlier than their predecessor */
    log_gap gaps[LOG_GAPS]; /* the longest first; 0 seconds if there are fewer */
    log_range rewards;
    size_t rewarded;             /* events whose reward is not 0 */
    log_range probabilities;     /* of the chosen action */
    log_range every_probability; /* of every action, if all are known */
    size_t known;                /* events in which all are known */
    size_t supported;            /* of those: no action had probability 0 */
    size_t wrong_sums;           /* of those: they do not add up to 1, by more than the rounding of floats */
    log_range counts;            /* actions of an event */
    log_range slots;             /* of events that have them */
    size_t slates;
    log_range copies;

    log_range groups[LOG_GROUPS]; /* rewards of the decisions of each group */
    size_t repeats;               /* decisions that repeat another */
    log_metric_summary *metrics;  /* (metric_count) in the order of their first values */
    size_t metric_count;          /* at most LOG_METRICS */

    log_action_summary *actions; /* (action_count) the most chosen first, after log_summary_end */
    size_t action_count;
    size_t others; /* events with actions beyond the first LOG_ACTIONS_MOST */

    /* ---- internal ---- */
    memory owner;
    vocabulary names; /* action i has name i until log_summary_end */
    size_t actions_capacity;
    vocabulary metric_names;
    size_t metrics_capacity;
    size_t *bin_counts;
    double *bin_sums;
    double last_time;
} log_summary;

/* To be released, on failure too. */
ee_status log_summary_start(log_summary *out, ee_error *error);
ee_status log_summary_add(log_summary *self, const log_event *event, ee_error *error);
void log_summary_end(log_summary *self);
void log_summary_release(log_summary *self);

/* Mean of a range; NaN if it is empty. */
double log_range_mean(const log_range *range);

/* Quantile of the propensities of chosen actions: within 2%, and exact if there are few different values. */
double log_summary_quantile(const log_summary *self, double share);

/* Whether the event belongs to the sample, by the seed and its id, or its line if it has no id. */
bool log_is_sampled(const log_event *event, double share, uint64_t seed);

#endif
