/* Eigenvectors against what they must be: A v = lambda v, orthonormal, the smallest ones. */

#include "math/eigen.h"
#include "support.h"

enum { MOST = 60 };

/* A = Q D Q^T with Q a product of random reflections: its eigenvalues are known. */
static void make_matrix(const double *values, size_t n, uint64_t seed, double *matrix)
{
    random_stream draw = random_named(seed, "matrix");
    memset(matrix, 0, n * n * sizeof *matrix);
    for (size_t i = 0; i < n; i++) matrix[i * n + i] = values[i];
    for (int turn = 0; turn < 3; turn++) {
        double v[MOST], square = 0;
        for (size_t i = 0; i < n; i++) {
            v[i] = random_normal(&draw);
            square += v[i] * v[i];
        }
        for (int side = 0; side < 2; side++) { /* from the left, then from the right */
            for (size_t j = 0; j < n; j++) {
                double product = 0;
                for (size_t i = 0; i < n; i++) product += v[i] * matrix[side ? j * n + i : i * n + j];
                for (size_t i = 0; i < n; i++) matrix[side ? j * n + i : i * n + j] -= 2 * product / square * v[i];
            }
        }
    }
}

static void check(const double *values, size_t n, size_t count, uint64_t seed)
{
    double matrix[MOST * MOST], kept[MOST * MOST], vectors[MOST * MOST];
    auto_free double *work = calloc(eigen_work_count(n, count), sizeof *work);
    make_matrix(values, n, seed, matrix);
    memcpy(kept, matrix, n * n * sizeof *kept);
    eigen_smallest(matrix, n, count, vectors, work);
    double norm = fmax(fabs(values[0]), fabs(values[n - 1])) + 1e-300;
    for (size_t c = 0; c < count; c++) {
        const double *v = vectors + c * n;
        for (size_t i = 0; i < n; i++) {
            double product = 0;
            for (size_t j = 0; j < n; j++) product += kept[i * n + j] * v[j];
            assert_true(fabs(product - values[c] * v[i]) < 1e-11 * norm * sqrt((double)n));
        }
        for (size_t d = 0; d <= c; d++) {
            double product = 0;
            for (size_t j = 0; j < n; j++) product += v[j] * vectors[d * n + j];
            assert_true(fabs(product - (c == d)) < 1e-11);
        }
    }
}

TEST(vectors_are_those_of_the_smallest_values)
{
    for (size_t n = 1; n <= MOST; n += n < 8 ? 1 : 13) {
        double spread[MOST], close[MOST], negative[MOST];
        for (size_t i = 0; i < n; i++) {
            spread[i] = 1e-6 * pow(1.7, (double)i);
            close[i] = 1 + 1e-9 * (double)i;
            negative[i] = (double)i - 3.5;
        }
        for (size_t count = 1; count <= n; count += 1 + n / 4) {
            check(spread, n, count, n);
            check(close, n, count, n);
            check(negative, n, count, n);
        }
    }
    /* Equal values have orthogonal vectors. */
    double same[MOST], groups[MOST], zero[MOST] = {0};
    for (size_t i = 0; i < MOST; i++) {
        same[i] = 2;
        groups[i] = (double)(i / 10);
    }
    check(same, MOST, 12, 1);
    check(groups, MOST, 25, 2);
    check(zero, MOST, 5, 3);
}
