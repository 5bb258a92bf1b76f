/* Whether paired numbers differ: two policies that met the same rounds give one difference a seed. All randomness comes
 * from fixed streams: the same differences give the same answer. */
#ifndef EENET_COMPARISON_H
#define EENET_COMPARISON_H

#include "base/status.h"

typedef struct comparison {
    size_t pairs;
    double difference; /* the mean; NaN without pairs */
    double low, high;  /* 95% percentile bootstrap interval of it; NaN for a single pair */
    double p; /* two-sided, of the hypothesis that each difference is as likely to have the other sign; NaN for none */
} comparison;

/* The interval from 10,000 resamples. p from all 2^count signs up to 20 pairs, then from 100,000 random ones. */
ee_status comparison_paired(const double *differences, size_t count, comparison *out, ee_error *error);

/* The smallest possible p for this number of pairs: 0.25 for three. NaN for none. */
double comparison_least_p(size_t pairs);

/* Holm's correction: corrects each p[i] for the number of tests (Holm, "A simple sequentially rejective
 * multiple test procedure", 1979). NaNs are not tests and stay. p is (count). */
ee_status comparison_holm(double *p, size_t count, ee_error *error);

#endif
