/* What a list of numbers says in one. Of an empty list every answer is NaN. */
#ifndef EENET_STATISTICS_H
#define EENET_STATISTICS_H

#include <stddef.h>

double statistics_mean(const double *values, size_t count);

/* The standard deviation of a sample: the squares are divided by count - 1. Of one value it is NaN. */
double statistics_deviation(const double *values, size_t count);

/* Of an even count, the mean of the two in the middle. Sorts values. NaN among them gives NaN. */
double statistics_median(double *values, size_t count);

#endif
