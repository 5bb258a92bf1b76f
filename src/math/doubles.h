/* The basic loops in double precision. */
#ifndef EENET_DOUBLES_H
#define EENET_DOUBLES_H

#include <stddef.h>

/* sum of a[i] b[i], in several sums to hide the latency of an addition */
static inline double doubles_dot(const double *a, const double *b, size_t n)
{
    enum { LANES = 8 };
    double lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) lanes[j] += a[i + j] * b[i + j];
    for (; i < n; i++) sum += a[i] * b[i];
    for (size_t j = 0; j < LANES; j++) sum += lanes[j];
    return sum;
}

/* sum of a[i], in the same way */
static inline double doubles_sum(const double *a, size_t n)
{
    enum { LANES = 8 };
    double lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) lanes[j] += a[i + j];
    for (; i < n; i++) sum += a[i];
    for (size_t j = 0; j < LANES; j++) sum += lanes[j];
    return sum;
}

/* doubles_dot with floats. Converting them beforehand would take twice the memory. */
static inline double doubles_dot_floats(const double *a, const float *b, size_t n)
{
    enum { LANES = 8 };
    double lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) lanes[j] += a[i + j] * (double)b[i + j];
    for (; i < n; i++) sum += a[i] * (double)b[i];
    for (size_t j = 0; j < LANES; j++) sum += lanes[j];
    return sum;
}

/* y += a x. x and y must not overlap. */
static inline void doubles_add_scaled(double *restrict y, double a, const double *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

#endif
