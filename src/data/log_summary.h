/* What a log holds, in numbers, in one pass and constant memory. */
#ifndef EENET_LOG_SUMMARY_H
#define EENET_LOG_SUMMARY_H

#include "log.h"

/* One action: by its name where it has one, else by its number. */
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

enum { LOG_GAPS = 3, LOG_ACTIONS_MOST = 1 << 16 };

typedef struct log_gap {
    double start, seconds;
} log_gap;

/* Events that were skipped (log_event) are counted by their log, and nowhere here but in the times. */
typedef struct log_summary {
    log_range times;
    size_t backwards;       /* events that are earlier than the one before */
    log_gap gaps[LOG_GAPS]; /* the longest first; of 0 seconds where there are fewer */
    log_range rewards;
    size_t rewarded;             /* events whose reward is not 0 */
    log_range probabilities;     /* of the action taken */
    log_range every_probability; /* of every action, where all are known */
    size_t known;                /* events where they are */
    size_t supported;            /* of those: no action had probability 0 */
    size_t wrong_sums;           /* of those: they do not add up to 1, by more than the rounding of floats */
    log_range counts;            /* actions of an event */
    log_range slots;             /* of events that have them */
    size_t slates;
    log_range copies;

    log_action_summary *actions; /* (action_count) the most taken first, once it is ended */
    size_t action_count;
    size_t others; /* events with actions beyond the first LOG_ACTIONS_MOST */

    /* ---- for its own functions ---- */
    memory owner;
    size_t actions_capacity;
    uint32_t *places; /* by the hash of a name */
    size_t *bin_counts;
    double *bin_sums;
    double last_time;
} log_summary;

/* To be released, on failure too. */
ee_status log_summary_start(log_summary *out, ee_error *error);
ee_status log_summary_add(log_summary *self, const log_event *event, ee_error *error);
void log_summary_end(log_summary *self);
void log_summary_release(log_summary *self);

/* Mean of a range; not a number where it is empty. */
double log_range_mean(const log_range *range);

/* The probability of the action taken that so large a share is below: within 2%, and exact where few values come. */
double log_summary_quantile(const log_summary *self, double share);

/* Whether the event is among the share that is kept: by its id, or its line where it has none, and the seed. */
bool log_is_sampled(const log_event *event, double share, uint64_t seed);

#endif
