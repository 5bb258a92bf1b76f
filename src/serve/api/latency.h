/* Latency of the last one to two minutes: of requests that decide, and of requests that reward. */
#ifndef EENET_LATENCY_H
#define EENET_LATENCY_H

#include "service_state.h"

void latency_start(service *self);
void latency_stop(service *self);
/* For the housekeeper, once a minute. */
void latency_mark(service *self);

/* The counts of one to two minutes ago; *now: the counts now. */
metric_mark latency_before(service *self, bool deciding, metric_mark *now);

#endif
