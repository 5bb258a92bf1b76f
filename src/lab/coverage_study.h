/* Do the intervals hold what they promise? Logs are drawn again and again from rounds of which all is known, candidates
 * are evaluated on each, and what came out is compared with the truth. */
#ifndef EENET_COVERAGE_STUDY_H
#define EENET_COVERAGE_STUDY_H

#include "evaluate/confidence_sequence.h"
#include "known_pool.h"

/* What an interval of 95% promises. */
typedef enum coverage_promise {
    PROMISE_ASYMPTOTIC, /* 95% where there are many rounds, looked at once */
    PROMISE_FINITE,     /* at least 95% for any number of rounds, looked at once */
    PROMISE_ALWAYS,     /* at least 95% that it holds at all times at once */
} coverage_promise;

typedef struct coverage_interval {
    estimator_kind estimator;
    interval_kind interval;
    coverage_promise promise;
    bool watched; /* it is looked at again and again while the log grows */
    bool gain;    /* of the difference to the policy of the log, not of the value */
} coverage_interval;

enum { COVERAGE_INTERVALS = 16 };
extern const coverage_interval coverage_intervals[COVERAGE_INTERVALS];

/* "ips", or "gain". */
const char *coverage_interval_of(const coverage_interval *which);

/* The estimators whose errors are told. Those with a lambda choose it on each log. */
enum { COVERAGE_ESTIMATORS = 9 };
extern const estimator_kind coverage_estimators[COVERAGE_ESTIMATORS];

typedef struct coverage_plan {
    const known_pool *pool;
    known_policy behaviour; /* of the logs */
    const known_policy *candidates;
    size_t candidate_count;
    size_t rounds;       /* of a log */
    size_t replications; /* logs */
    size_t resamples;    /* of a bootstrap interval */
    uint64_t seed;
} coverage_plan;

/* Of one candidate, over the logs. */
typedef struct coverage_of_interval {
    double covers; /* share of the logs after whose last round it holds the truth */
    double always; /* share of the logs in which it held the truth whenever it was looked at: after each of the first
                      100 rounds, then whenever the log had grown by 2%; one that promises much of many rounds from the
                      100th on; NaN where it is not watched */
    double width;  /* mean, after the last round */
} coverage_of_interval;

typedef struct coverage_of_estimator {
    double bias, error; /* mean of what is estimated less the truth; root of the mean of its square */
} coverage_of_estimator;

typedef struct coverage_candidate {
    double truth;
    coverage_of_interval intervals[COVERAGE_INTERVALS];
    coverage_of_estimator estimators[COVERAGE_ESTIMATORS];
} coverage_candidate;

typedef struct coverage_result {
    double behaviour;                    /* the true value of the policy of the log */
    double least_probability;            /* of any arm in it */
    coverage_candidate *candidates;      /* (candidate_count) of the plan */
    double ordered[COVERAGE_ESTIMATORS]; /* share of the logs in which all candidates were found in their true order */
    double pairs[COVERAGE_ESTIMATORS];   /* share of the pairs of candidates whose order was found */
} coverage_result;

/* The result does not depend on the number of threads. out starts as zeros, and is to be released, on failure too;
 * *finished is false where the watch ended it. */
ee_status coverage_run(const coverage_plan *plan, size_t threads, const parallel_watch *watch, coverage_result *out,
                       bool *finished, ee_error *error);
void coverage_release(coverage_result *self);

#endif
