#include "eigen.h"
#include "doubles.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Householder reflections make the matrix tridiagonal. Bisection with Sturm counts finds its smallest eigenvalues,
 * inverse iteration their vectors. Then the reflections are undone on those vectors. */

size_t eigen_work_count(size_t n, size_t count)
{
    return 8 * n + count;
}

/* Reflection k is I - beta v v^T with v in row k of the matrix, from column k + 1 on, and beta[k]. diagonal is (n),
 * side and beta are (n) with n - 1 used, p is (n). */
static void tridiagonalize(double *matrix, size_t n, double *diagonal, double *side, double *beta, double *p)
{
    for (size_t k = 0; k + 1 < n; k++) {
        size_t rest = n - k - 1;
        double *v = matrix + k * n + k + 1;
        double length = sqrt(doubles_dot(v, v, rest));
        diagonal[k] = matrix[k * n + k];
        side[k] = v[0] > 0 ? -length : length;
        beta[k] = 0;
        if (length == 0) continue;
        v[0] -= side[k];
        beta[k] = 2 / doubles_dot(v, v, rest);
        for (size_t i = 0; i < rest; i++) p[i] = beta[k] * doubles_dot(matrix + (k + 1 + i) * n + k + 1, v, rest);
        doubles_add_scaled(p, -beta[k] / 2 * doubles_dot(p, v, rest), v, rest);
        for (size_t i = 0; i < rest; i++) {
            double *row = matrix + (k + 1 + i) * n + k + 1;
            doubles_add_scaled(row, -v[i], p, rest);
            doubles_add_scaled(row, -p[i], v, rest);
        }
    }
    diagonal[n - 1] = matrix[n * n - 1];
}

/* The number of eigenvalues below x: the negative pivots of the tridiagonal matrix minus x. */
static size_t count_below(const double *diagonal, const double *side, size_t n, double x, double tiny)
{
    size_t count = 0;
    double pivot = 1;
    for (size_t i = 0; i < n; i++) {
        pivot = diagonal[i] - x - (i ? side[i - 1] * side[i - 1] / pivot : 0);
        if (fabs(pivot) < tiny) pivot = -tiny;
        count += pivot < 0;
    }
    return count;
}

static double bisect(const double *diagonal, const double *side, size_t n, size_t index, double bound, double tiny)
{
    double low = -bound, high = bound;
    for (;;) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) return middle;
        if (count_below(diagonal, side, n, middle, tiny) > index)
            high = middle;
        else
            low = middle;
    }
}

/* Solves (T - x I) y = y in place, by elimination with exchange of neighbouring rows. u holds three diagonals, (3, n).
 */
static void solve_shifted(const double *diagonal, const double *side, size_t n, double x, double tiny, double *y,
                          double *u)
{
    double *first = u, *second = u + n, *third = u + 2 * n;
    first[0] = diagonal[0] - x;
    second[0] = n > 1 ? side[0] : 0;
    for (size_t i = 0; i + 1 < n; i++) {
        double below = side[i], next = diagonal[i + 1] - x, after = i + 2 < n ? side[i + 1] : 0;
        third[i] = 0;
        if (fabs(below) > fabs(first[i])) {
            double factor = first[i] / below, kept = second[i], swapped = y[i];
            first[i] = below;
            second[i] = next;
            third[i] = after;
            first[i + 1] = kept - factor * next;
            second[i + 1] = -factor * after;
            y[i] = y[i + 1];
            y[i + 1] = swapped - factor * y[i + 1];
        } else {
            if (fabs(first[i]) < tiny) first[i] = tiny;
            double factor = below / first[i];
            first[i + 1] = next - factor * second[i];
            second[i + 1] = after;
            y[i + 1] -= factor * y[i];
        }
    }
    if (fabs(first[n - 1]) < tiny) first[n - 1] = tiny;
    for (size_t i = n; i-- > 0;) {
        double sum = y[i];
        if (i + 1 < n) sum -= second[i] * y[i + 1];
        if (i + 2 < n) sum -= third[i] * y[i + 2];
        y[i] = sum / first[i];
    }
}

static void normalize(double *y, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(y[i]));
    for (size_t i = 0; i < n; i++) y[i] /= largest;
    double length = sqrt(doubles_dot(y, y, n));
    for (size_t i = 0; i < n; i++) y[i] /= length;
}

/* Vector number index of the tridiagonal matrix, orthogonal to those before it, which separates the vectors of equal
 * eigenvalues. */
static void iterate(const double *diagonal, const double *side, size_t n, double value, double tiny, double *vectors,
                    size_t index, double *u)
{
    double *y = vectors + index * n;
    /* Any start that is not orthogonal to the vector works; this one has no pattern that a matrix is likely to
     * share. */
    for (size_t i = 0; i < n; i++) y[i] = 1 + fmod((double)(i + 1) * 0.6180339887498949 + (double)index * 0.377, 1);
    for (int turn = 0; turn < 5; turn++) {
        solve_shifted(diagonal, side, n, value, tiny, y, u);
        normalize(y, n);
        for (int pass = 0; pass < 2; pass++)
            for (size_t j = 0; j < index; j++)
                doubles_add_scaled(y, -doubles_dot(y, vectors + j * n, n), vectors + j * n, n);
        normalize(y, n);
    }
}

void eigen_smallest(double *matrix, size_t n, size_t count, double *vectors, double *work)
{
    double *diagonal = work, *side = work + n, *beta = work + 2 * n, *p = work + 3 * n, *u = work + 4 * n;
    double *values = work + 8 * n, bound = 0;
    tridiagonalize(matrix, n, diagonal, side, beta, p);
    for (size_t i = 0; i < n; i++)
        bound = fmax(bound, fabs(diagonal[i]) + (i ? fabs(side[i - 1]) : 0) + (i + 1 < n ? fabs(side[i]) : 0));
    if (bound == 0) bound = 1;
    double tiny = DBL_EPSILON * DBL_EPSILON * bound;
    for (size_t j = 0; j < count; j++) values[j] = bisect(diagonal, side, n, j, 1.1 * bound, tiny);
    for (size_t j = 0; j < count; j++) iterate(diagonal, side, n, values[j], DBL_EPSILON * bound, vectors, j, u);
    for (size_t j = 0; j < count; j++) {
        for (size_t k = n - 1; k-- > 0;) {
            const double *v = matrix + k * n + k + 1;
            double *y = vectors + j * n + k + 1;
            doubles_add_scaled(y, -beta[k] * doubles_dot(v, y, n - k - 1), v, n - k - 1);
        }
    }
}
