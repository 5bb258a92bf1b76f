/* Intervals for the value of a policy. An interval is about the value, whichever estimator it stands beside. */
#ifndef EENET_INTERVAL_H
#define EENET_INTERVAL_H

#include "base/random.h"
#include "rounds_sums.h"

typedef struct interval {
    double low, high; /* NaN where it cannot be had */
} interval;

/* What rewards and weights can be, not what they were: bounds that promise coverage for any number of rounds need it.
 */
typedef struct value_range {
    double reward_low, reward_high;
    double weight_high; /* the largest possible weight: 1 over the least probability of the log's policy; INFINITY:
                           unknown */
} value_range;

typedef enum interval_kind {
    INTERVAL_CS,              /* anytime-valid: holds at all times at once (confidence_sequence.h) */
    INTERVAL_NORMAL,          /* mean +- z s / sqrt(n) of the terms; of SNIPS and SNDR by the delta method */
    INTERVAL_STUDENT,         /* the same by Student's t */
    INTERVAL_BOOTSTRAP,       /* percentiles of resampled rounds, each resample normalised by itself */
    INTERVAL_CLOPPER_PEARSON, /* of w r / wmax as successes */
    INTERVAL_HOEFFDING,
    INTERVAL_BERNSTEIN, /* empirical (Maurer, Pontil 2009) */
    INTERVAL_CRESSIE_READ,
    INTERVAL_KINDS
} interval_kind;

const char *interval_name(interval_kind kind);
interval_kind interval_find(const char *name); /* INTERVAL_KINDS for none */

/* Of the value by an estimator that streams, from its sums: NORMAL, STUDENT, and for IPS also CLOPPER_PEARSON,
 * HOEFFDING, BERNSTEIN, CRESSIE_READ. NaN for the others. alpha: 0.05 for 95%. */
interval interval_of_sums(interval_kind kind, estimator_kind estimator, const rounds_sums *sums, value_range range,
                          double alpha);

/* Of terms in memory, whose mean the value is: NORMAL and STUDENT. */
interval interval_of_terms(interval_kind kind, const double *terms, const double *copies, size_t count, double alpha);

/* Percentile bootstrap, renormalised in each resample. The same stream gives the same interval. */
ee_status interval_bootstrap(estimator_kind estimator, double lambda, const evaluated_rounds *rounds, size_t resamples,
                             double alpha, random_stream *stream, interval *out, ee_error *error);

#endif
