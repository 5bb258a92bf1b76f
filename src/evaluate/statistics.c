#include "statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

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

double statistics_median(double *values, size_t count)
{
    if (!count) return NAN;
    for (size_t i = 0; i < count; i++)
        if (isnan(values[i])) return NAN;
    statistics_sort(values, count);
    double high = values[count / 2];
    return count % 2 ? high : 0.5 * values[count / 2 - 1] + 0.5 * high;
}

/* The probability that |T| < t, by the finite series for whole degrees of freedom (Abramowitz and Stegun, Handbook of
 * Mathematical Functions, 26.7.3 and 26.7.4). */
static double student_within(double t, size_t freedom)
{
    double angle = atan(t / sqrt((double)freedom));
    double cosine = cos(angle);
    bool odd = freedom % 2;
    double term = odd ? cosine : 1.0, sum = 0.0;
    for (size_t k = odd ? 3 : 2; k <= freedom; k += 2) {
        sum += term;
        term *= cosine * cosine * (double)(k - 1) / (double)k;
    }
    return odd ? (angle + sin(angle) * sum) / asin(1.0) : sin(angle) * sum;
}

double statistics_student_quantile(double probability, size_t freedom)
{
    if (!freedom || !(probability > 0.0 && probability < 1.0)) return NAN;
    if (probability < 0.5) return -statistics_student_quantile(1.0 - probability, freedom);
    double within = 2.0 * probability - 1.0, low = 0.0, high = 1.0;
    while (student_within(high, freedom) < within) high *= 2.0;
    for (;;) {
        double middle = low + 0.5 * (high - low);
        if (middle <= low || middle >= high) return middle; /* no number is left between the two */
        if (student_within(middle, freedom) < within)
            low = middle;
        else
            high = middle;
    }
}

double statistics_margin(const double *values, size_t count)
{
    if (count < 2) return NAN;
    return statistics_student_quantile(0.975, count - 1) * statistics_deviation(values, count) / sqrt((double)count);
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
