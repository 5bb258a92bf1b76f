/* What decide and learn cost, on a bandit that has learned a little. */
#ifndef EENET_CALLS_H
#define EENET_CALLS_H

#include "measure.h"
#include "problem.h"

typedef struct call_request {
    const problem *rounds;
    const char *policy;
    const char *options; /* as in ee_settings, but for pending and arms; "" for none */
    size_t pending;      /* decisions without a reward, at most: 10 to 640 */
    double seconds;      /* to spend on each of the two */
} call_request;

/* learn may be NULL: then the bandit decides and never learns. */
ee_status calls_measure(const call_request *of, measurement *decide, measurement *learn, ee_error *error);

#endif
