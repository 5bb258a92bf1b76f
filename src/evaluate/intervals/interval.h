/* Intervals for the value of a policy. An interval is about the value, whichever estimator it is shown with; only the
 * interval of DM is about the model's prediction and ignores the model's error. */
#ifndef EENET_INTERVAL_H
#define EENET_INTERVAL_H

#include "base/random.h"
#include "evaluate/estimators/rounds_sums.h"

typedef struct interval {
    double low, high; /* NaN: not available */
} interval;

/* Possible rewards and weights, not observed ones: bounds that hold for any number of rounds need them.
 */
typedef struct value_range {
    double reward_low, reward_high;
    double weight_high; /* the largest possible weight: 1 / the smallest propensity; INFINITY: unknown */
} value_range;

typedef enum interval_kind {
    INTERVAL_CS,              /* anytime-valid: covers at all times (confidence_sequence.h) */
    INTERVAL_NORMAL,          /* mean +- z s / sqrt(n) of the terms; of SNIPS, SNDR and REPLAY by the delta method */
    INTERVAL_STUDENT,         /* the same by Student's t */
    INTERVAL_BOOTSTRAP,       /* percentiles of resampled rounds, each resample normalised separately */
    INTERVAL_CLOPPER_PEARSON, /* of w r / weight_high as successes in n trials */
    INTERVAL_HOEFFDING,       /* for any n, of w r within the possible range */
    INTERVAL_BERNSTEIN,       /* the same with the observed variance (Maurer, Pontil 2009) */
    INTERVAL_CRESSIE_READ,    /* the values of all plausible reweightings of the rounds */
    INTERVAL_KINDS
} interval_kind;

const char *interval_name(interval_kind kind);
interval_kind interval_find(const char *name); /* INTERVAL_KINDS for none */

/* Of the value by an estimator that streams, from its sums. NORMAL and STUDENT of all but CRESSIE_READ; of IPS also
 * CLOPPER_PEARSON, HOEFFDING and BERNSTEIN, which need range.weight_high; CRESSIE_READ of IPS, SNIPS and CRESSIE_READ.
 * NaN for the others, below two rounds (CLOPPER_PEARSON: one), and if the squares of the weights overflow. alpha: 0.05
 * for 95%. */
interval interval_of_sums(interval_kind kind, estimator_kind estimator, const rounds_sums *sums, value_range range,
                          double alpha);

/* Of terms in memory whose mean is the value: NORMAL and STUDENT. copies may be NULL. It equals interval_of_sums for
 * IPS, DM and DR; for SNIPS, SNDR and REPLAY the squares are divided by count - 1 here, and by count there. */
interval interval_of_terms(interval_kind kind, const double *terms, const double *copies, size_t count, double alpha);

/* Clopper and Pearson's, of the chance of a success; neither number need be whole. */
interval interval_of_proportion(double successes, double trials, double alpha);

/* An estimate by resampled rounds, and its interval. */
typedef struct resampled_estimate {
    estimator_kind estimator;
    double lambda;
    interval interval;
} resampled_estimate;

/* Percentile bootstrap, each resample normalised separately; the same resamples for all estimates (count). The same
 * stream gives the same intervals. EE_BAD_OPTION for EL and CRESSIE_READ, whose rounds do not enter one by one. */
ee_status interval_bootstrap_all(resampled_estimate *estimates, size_t count, const evaluated_rounds *rounds,
                                 size_t resamples, double alpha, random_stream *stream, ee_error *error);

/* Of one. */
ee_status interval_bootstrap(estimator_kind estimator, double lambda, const evaluated_rounds *rounds, size_t resamples,
                             double alpha, random_stream *stream, interval *out, ee_error *error);

/* The two parts of it. Sets drawn (count), the copies of each round in a resample, from the drawn rounds: index (count)
 * of 0 .. count - 1. The rounds with these copies have the value of the resample. */
void interval_resample(const evaluated_rounds *rounds, const size_t *index, double *drawn);

/* Between the alpha / 2 and 1 - alpha / 2 percentiles. Sorts values. NaN if one is NaN. */
interval interval_of_resamples(double *values, size_t count, double alpha);

#endif
