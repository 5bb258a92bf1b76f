/* Whether paired numbers differ: two policies on the same rounds give one difference per seed. Interval and p-value
 * come from one test, so they never contradict each other. The same differences always give the same answer: random
 * flips come from a fixed stream. */
#ifndef EENET_COMPARISON_H
#define EENET_COMPARISON_H

#include "base/status.h"

#define COMPARISON_LEVEL 0.05 /* of the test, and one minus the confidence of the interval */

typedef struct comparison {
    size_t pairs;
    double difference; /* the mean; NaN without pairs */
    double low, high;  /* 95% interval of it, infinite if there are too few pairs (below 6); NaN without pairs */
    double p; /* two-sided, of the hypothesis that the differences are symmetric about zero; NaN without pairs */
} comparison;

/* The sign-flip test, from all flips up to 20 pairs, otherwise from 100,000 random ones. The interval contains the
 * values that the same test does not reject: it excludes zero exactly if p is below COMPARISON_LEVEL. */
ee_status comparison_paired(const double *differences, size_t count, comparison *out, ee_error *error);

/* The smallest possible p for this number of pairs: 0.25 for three. NaN for none. */
double comparison_least_p(size_t pairs);

/* Holm's correction: corrects each p[i] for the number of tests (Holm, "A simple sequentially rejective
 * multiple test procedure", 1979). NaNs are not tests and stay. p is (count). */
ee_status comparison_holm(double *p, size_t count, ee_error *error);

#endif
