/* Whether paired numbers differ: two policies that met the same rounds give one difference a seed. Whatever is drawn
 * comes from streams of its own: the same differences give the same answer. */
#ifndef EENET_COMPARISON_H
#define EENET_COMPARISON_H

#include "base/status.h"

typedef struct comparison {
    size_t pairs;
    double difference; /* the mean; NaN where there is no pair */
    double low, high;  /* 95% percentile bootstrap interval of it; NaN where there is one pair only */
    double p; /* two-sided, of the hypothesis that each difference is as likely to have the other sign; NaN for none */
} comparison;

/* The interval from 10,000 resamples. p from all 2^count signs up to 20 pairs, then from 100,000 random ones. */
ee_status comparison_paired(const double *differences, size_t count, comparison *out, ee_error *error);

/* The least that p can be with so many pairs, whatever the differences: 0.25 with three. NaN for none. */
double comparison_least_p(size_t pairs);

/* Holm's correction: p[i] becomes what p[i] would have to be in a single test (Holm, "A simple sequentially rejective
 * multiple test procedure", 1979). NaNs are no tests, and stay. p is (count). */
ee_status comparison_holm(double *p, size_t count, ee_error *error);

#endif
