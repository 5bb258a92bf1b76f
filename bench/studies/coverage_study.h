/* Do the intervals cover the true value? Draws many logs from rounds whose expected rewards are known, evaluates
 * candidates on each, and compares the results with the true values. */
#ifndef EENET_COVERAGE_STUDY_H
#define EENET_COVERAGE_STUDY_H

#include "evaluate/intervals/confidence_sequence.h"
#include "known_pool.h"

/* What a 95% interval claims. */
typedef enum coverage_guarantee {
    GUARANTEE_ASYMPTOTIC, /* 95% for many rounds, looked at once */
    GUARANTEE_FINITE,     /* at least 95% for any number of rounds, looked at once */
    GUARANTEE_ALWAYS,     /* at least 95% at all times */
} coverage_guarantee;

typedef struct coverage_interval {
    estimator_kind estimator;
    interval_kind interval;
    coverage_guarantee guarantee;
    bool watched; /* it is checked repeatedly while the log grows */
    bool gain;    /* of the difference from the logging policy, not of the value */
} coverage_interval;

enum { COVERAGE_INTERVALS = 16 };
extern const coverage_interval coverage_intervals[COVERAGE_INTERVALS];

/* "ips", or "gain". */
const char *coverage_interval_of(const coverage_interval *which);

/* The estimators whose errors are measured. Those with a lambda choose it on each log. */
enum { COVERAGE_ESTIMATORS = 9 };
extern const estimator_kind coverage_estimators[COVERAGE_ESTIMATORS];

typedef struct coverage_plan {
    const known_pool *pool;
    known_policy logging;
    const known_policy *candidates;
    size_t candidate_count;
    size_t rounds;       /* of a log */
    size_t replications; /* logs */
    size_t resamples;    /* of a bootstrap interval */
    uint64_t seed;
} coverage_plan;

/* Of one candidate, over the logs. */
typedef struct coverage_of_interval {
    double covers; /* share of the logs at whose end it covers the true value */
    double always; /* share of the logs in which it covered the true value at every look: after each of the first 100
                      rounds, then whenever the log had grown by 2% (asymptotic ones: from round 100 on); NaN: not
                      watched */
    double width;  /* mean, after the last round */
} coverage_of_interval;

typedef struct coverage_of_estimator {
    double bias, error; /* mean of estimate minus true value; root mean square of that */
} coverage_of_estimator;

typedef struct coverage_candidate {
    double truth;
    coverage_of_interval intervals[COVERAGE_INTERVALS];
    coverage_of_estimator estimators[COVERAGE_ESTIMATORS];
} coverage_candidate;

typedef struct coverage_result {
    double logging;                      /* the true value of the logging policy */
    double least_probability;            /* of any arm in it */
    coverage_candidate *candidates;      /* (candidate_count) of the plan */
    double ordered[COVERAGE_ESTIMATORS]; /* share of the logs that rank all candidates correctly */
} coverage_result;

/* The result does not depend on the number of threads. out starts as zeros; release it, also after a failure. */
ee_status coverage_run(const coverage_plan *plan, size_t threads, coverage_result *out, ee_error *error);
void coverage_release(coverage_result *self);

#endif
