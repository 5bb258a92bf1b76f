#include "cholesky.h"
#include "doubles.h"

#include <math.h>

bool cholesky_factor(double *a, size_t n, double smallest)
{
    for (size_t i = 0; i < n; i++) {
        double *row = a + i * n;
        for (size_t j = 0; j < i; j++) row[j] = (row[j] - doubles_dot(row, a + j * n, j)) / a[j * n + j];
        double pivot = row[i] - doubles_dot(row, row, i);
        if (!(pivot > smallest)) return false;
        row[i] = sqrt(pivot);
    }
    return true;
}

void cholesky_factor_semidefinite(double *a, size_t n, double relative, double smallest)
{
    for (size_t i = 0; i < n; i++) {
        double *row = a + i * n;
        for (size_t j = 0; j < i; j++) {
            double pivot = a[j * n + j];
            row[j] = pivot > 0 ? (row[j] - doubles_dot(row, a + j * n, j)) / pivot : 0;
        }
        double rest = row[i] - doubles_dot(row, row, i);
        row[i] = rest > smallest && rest > relative * row[i] ? sqrt(rest) : 0;
    }
}

void cholesky_solve(const double *l, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) x[i] = (x[i] - doubles_dot(l + i * n, x, i)) / l[i * n + i];
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
            double sum = row[j] / column[j] + doubles_dot(row + j + 1, column + j + 1, i - j - 1);
            column[i] = -sum / row[i];
        }
    }
    /* a^-1 = L^-T L^-1. Row i needs only the diagonal entry i of L, and overwrites it last. */
    for (size_t i = 0; i < n; i++) {
        double *row = l + i * n, inverse = 1 / row[i];
        for (size_t j = 0; j < i; j++) {
            const double *other = l + j * n;
            row[j] = inverse * other[i] + doubles_dot(row + i + 1, other + i + 1, n - i - 1);
        }
        row[i] = inverse * inverse + doubles_dot(row + i + 1, row + i + 1, n - i - 1);
    }
}
