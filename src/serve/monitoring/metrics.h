/* What the server counts, for Prometheus. Counting costs an atomic addition; the text is made when it is asked for. */
#ifndef EENET_METRICS_H
#define EENET_METRICS_H

#include <stdatomic.h>

#include "data/values/text.h"

enum { METRIC_BUCKETS = 16 };

/* Seconds in buckets of 0.1 ms to 10 s, or counts in buckets of 1 to 100,000. */
typedef struct metric_histogram {
    atomic_uint_fast64_t buckets[METRIC_BUCKETS + 1];
    atomic_uint_fast64_t nanoseconds;
} metric_histogram;

/* A histogram as it was some time ago; the difference is what came since. */
typedef struct metric_mark {
    uint64_t buckets[METRIC_BUCKETS + 1];
} metric_mark;

void metric_observe(metric_histogram *self, double seconds);
void metric_observe_count(metric_histogram *self, uint64_t count);

/* The lines of a metric: HELP and TYPE once, then its samples. labels is as "bandit=\"shop\"", or "" for none. */
void metric_head(text *into, const char *name, const char *type, const char *help);
void metric_sample(text *into, const char *name, const char *labels, double value);
/* A metric with one sample. */
void metric_one(text *into, const char *name, const char *type, const char *help, double value);
void metric_histogram_write(text *into, const char *name, const char *labels, const metric_histogram *from);
/* The same for a histogram of counts. */
void metric_count_histogram_write(text *into, const char *name, const char *labels, const metric_histogram *from);

/* Adds the counts of a histogram. */
void metric_mark_add(metric_mark *into, const metric_histogram *from);
/* Of what came between the two: the q-th quantile, seconds, as precise as the buckets; NaN if there was none. */
double metric_quantile(const metric_mark *before, const metric_mark *now, double q);

/* A value within a label's quotes. */
void metric_label(text *into, const char *value);

/* process_cpu_seconds_total, process_resident_memory_bytes, process_open_fds, process_start_time_seconds. */
void metric_process(text *into);

#endif
