/* What the server counts: requests by route, transactions, and each bandit's decisions and rewards. */
#ifndef EENET_SERVICE_METRICS_H
#define EENET_SERVICE_METRICS_H

#include <stdatomic.h>

#include "serve/http/router.h"
#include "serve/monitoring/metrics.h"

enum { STATUS_CODES = 600, MOST_ROUTES = 128, COUNTERS_EACH = 64, COUNTER_BLOCKS = 1 << 14 };

/* Counts of one bandit since the server started. */
typedef struct bandit_counters {
    atomic_uint_fast64_t decisions, joined, repeated, late, unknown;
    atomic_uint_fast64_t rejected, clipped; /* rewards outside the range in the settings */
    atomic_uint_fast64_t probability;       /* sum over the chosen actions, in millionths */
    atomic_uint_fast64_t waiting;           /* decisions that are not settled */
    atomic_uint_fast64_t defaulted;
} bandit_counters;

typedef struct service_metrics {
    metric_histogram seconds[MOST_ROUTES];
    atomic_uint_fast64_t requests[MOST_ROUTES + 1][STATUS_CODES]; /* the last row: requests without a route;
                                                                     code 0: the connection broke before the response */
    metric_histogram syncs;
    atomic_uint_fast64_t synced_entries;
    _Atomic(bandit_counters *) counters[COUNTER_BLOCKS]; /* (COUNTERS_EACH) by the bandit's number */
    atomic_uint_fast64_t promotions;
} service_metrics;

struct service;

/* NULL: no memory, or more bandits than there is room for. */
bandit_counters *service_counters(struct service *self, uint32_t bandit);
void service_count(struct service *self, const http_exchange *exchange, const route *of, double seconds);
void service_metrics_write(struct service *self, text *into);
void service_metrics_free(struct service *self);

#endif
