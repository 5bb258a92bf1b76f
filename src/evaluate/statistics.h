/* One number that sums up a list. For an empty list it is NaN. */
#ifndef EENET_STATISTICS_H
#define EENET_STATISTICS_H

#include <stddef.h>

double statistics_mean(const double *values, size_t count);

/* The standard deviation of a sample: the squares are divided by count - 1. NaN for one value. */
double statistics_deviation(const double *values, size_t count);

/* Ascending. NaN has no place in an order. */
void statistics_sort(double *values, size_t count);

/* The middle one; where count is even, the mean of the two in the middle. Sorts values. NaN among them gives NaN. */
double statistics_median(double *values, size_t count);

/* The value that the share of sorted (count) lies below, linearly between the two nearest in the order. */
double statistics_percentile(const double *sorted, size_t count, double share);

/* Half the width of the 95% interval of the mean, by Student's t. NaN for one value. */
double statistics_margin(const double *values, size_t count);

/* The slope of the line through the points (x, y) by least squares. NaN where no two x differ. */
double statistics_slope(const double *x, const double *y, size_t count);

#endif
