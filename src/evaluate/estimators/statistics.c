#include "statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "quantile.h"

double statistics_mean(const double *values, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return count ? sum / (double)count : NAN;
}

double statistics_deviation(const double *values, size_t count)
{
    if (count < 2) return NAN;
    /* Two passes: the squares of the differences do not cancel, and the sum of the differences, which would be zero in
     * exact numbers, takes out what rounding left in the mean. */
    double mean = statistics_mean(values, count);
    double squares = 0.0, rest = 0.0;
    for (size_t i = 0; i < count; i++) {
        double difference = values[i] - mean;
        squares += difference * difference;
        rest += difference;
    }
    double variance = (squares - rest * rest / (double)count) / (double)(count - 1);
    return variance < 0.0 ? 0.0 : sqrt(variance);
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void statistics_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
}

/* Hoare, "Algorithm 65: Find", 1961: partitions only the part that contains the place. */
double statistics_select(double *values, size_t count, size_t place)
{
    size_t first = 0, last = count - 1;
    while (first < last) {
        double pivot = values[first + (last - first) / 2];
        size_t i = first, k = last;
        while (true) {
            while (values[i] < pivot) i++;
            while (values[k] > pivot) k--;
            if (i >= k) break;
            double swapped = values[i];
            values[i++] = values[k];
            values[k--] = swapped;
        }
        if (place <= k)
            last = k;
        else
            first = k + 1;
    }
    return values[place];
}

double statistics_median(double *values, size_t count)
{
    if (!count) return NAN;
    for (size_t i = 0; i < count; i++)
        if (isnan(values[i])) return NAN;
    statistics_sort(values, count);
    double high = values[count / 2];
    return count % 2 ? high : 0.5 * values[count / 2 - 1] + 0.5 * high;
}

double statistics_percentile(const double *sorted, size_t count, double share)
{
    if (!count) return NAN;
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    double rest = place - (double)below;
    return below + 1 < count ? sorted[below] + rest * (sorted[below + 1] - sorted[below]) : sorted[below];
}

double statistics_margin(const double *values, size_t count)
{
    if (count < 2) return NAN;
    return quantile_student(0.975, (double)(count - 1)) * statistics_deviation(values, count) / sqrt((double)count);
}

double statistics_slope(const double *x, const double *y, size_t count)
{
    double x_mean = statistics_mean(x, count), y_mean = statistics_mean(y, count);
    double squares = 0.0, products = 0.0;
    for (size_t i = 0; i < count; i++) {
        squares += (x[i] - x_mean) * (x[i] - x_mean);
        products += (x[i] - x_mean) * (y[i] - y_mean);
    }
    return squares > 0.0 ? products / squares : NAN;
}
