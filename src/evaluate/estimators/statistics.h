/* Statistics of a list of numbers; NaN for an empty list. */
#ifndef EENET_STATISTICS_H
#define EENET_STATISTICS_H

#include <stddef.h>

double statistics_mean(const double *values, size_t count);

/* The standard deviation of a sample: the squares are divided by count - 1. NaN for one value. */
double statistics_deviation(const double *values, size_t count);

/* Ascending. Must not contain NaN. */
void statistics_sort(double *values, size_t count);

/* The value that sorting would put at place. Reorders values (count), which must not contain NaN; place < count. */
double statistics_select(double *values, size_t count, size_t place);

/* The median; for an even count, the mean of the two in the middle. Sorts values. NaN among them gives NaN. */
double statistics_median(double *values, size_t count);

/* The value below which this share of sorted (count) lies, interpolated linearly. */
double statistics_percentile(const double *sorted, size_t count, double share);

/* Half the width of the 95% interval of the mean, by Student's t. NaN for one value. */
double statistics_margin(const double *values, size_t count);

/* The slope of the line through the points (x, y) by least squares. NaN if all x are equal. */
double statistics_slope(const double *x, const double *y, size_t count);

#endif
