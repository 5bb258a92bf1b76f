#include "cholesky.h"

#include <math.h>

/* All work is dot products of rows. Four sums of their own hide the latency of an addition. */
static double dot(const double *a, const double *b, size_t n)
{
    double sum[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t j = 0; j < 4; j++) sum[j] += a[i + j] * b[i + j];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

bool cholesky_factor(double *a, size_t n, double smallest)
{
    for (size_t i = 0; i < n; i++) {
        double *row = a + i * n;
        for (size_t j = 0; j < i; j++) row[j] = (row[j] - dot(row, a + j * n, j)) / a[j * n + j];
        double pivot = row[i] - dot(row, row, i);
        if (!(pivot > smallest)) return false;
        row[i] = sqrt(pivot);
    }
    return true;
}

void cholesky_solve(const double *l, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) x[i] = (x[i] - dot(l + i * n, x, i)) / l[i * n + i];
    for (size_t i = n; i-- > 0;) {
        x[i] /= l[i * n + i];
        for (size_t j = 0; j < i; j++) x[j] -= l[i * n + j] * x[i];
    }
}

void cholesky_invert(double *l, size_t n)
{
    /* The upper triangle takes the inverse of L, transposed, without its diagonal, which is 1 over L's. */
    for (size_t j = 0; j < n; j++) {
        double *column = l + j * n;
        for (size_t i = j + 1; i < n; i++) {
            const double *row = l + i * n;
            double sum = row[j] / column[j] + dot(row + j + 1, column + j + 1, i - j - 1);
            column[i] = -sum / row[i];
        }
    }
    /* a^-1 = L^-T L^-1. Row i needs L's diagonal at i alone, and overwrites it last. */
    for (size_t i = 0; i < n; i++) {
        double *row = l + i * n, inverse = 1 / row[i];
        for (size_t j = 0; j < i; j++) {
            const double *other = l + j * n;
            row[j] = inverse * other[i] + dot(row + i + 1, other + i + 1, n - i - 1);
        }
        row[i] = inverse * inverse + dot(row + i + 1, row + i + 1, n - i - 1);
    }
}
