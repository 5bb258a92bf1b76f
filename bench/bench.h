/* The engine's own numbers: kernels, reading JSON, calls, whole runs, how the cost grows, how runs share the cores, and
 * the estimators of off-policy evaluation. */
#ifndef EENET_BENCH_H
#define EENET_BENCH_H

#include "base/status.h"

typedef struct bench_request {
    char **filters; /* (filter_count) what is measured has one of these in its name; none: all is */
    int filter_count;
    const char *data;   /* the folder that holds yelp/, mnist/ and perhaps dsjson/; NULL: the like is made up */
    const char *output; /* a folder for figures, which is made where it is missing; NULL: none */
} bench_request;

/* Prints a table on stdout. */
ee_status bench_run(const bench_request *request, ee_error *error);

#endif
