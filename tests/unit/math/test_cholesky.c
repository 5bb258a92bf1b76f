/* The factorisation against what it must give: a = L L^T, a x = b, a a^-1 = I. */

#include "math/cholesky.h"
#include "support.h"

enum { MOST = 40 };

/* G G^T + n I, with G random: positive definite. The upper triangle is left as NaN: nothing may read it. */
static void make_matrix(size_t n, double *a)
{
    double g[MOST * MOST];
    random_stream draw = random_named(n, "matrix");
    for (size_t i = 0; i < n * n; i++) g[i] = random_normal(&draw);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = i == j ? (double)n : 0;
            for (size_t k = 0; k < n; k++) sum += g[i * n + k] * g[j * n + k];
            a[i * n + j] = j <= i ? sum : NAN;
        }
    }
}

static double entry(const double *lower, size_t n, size_t i, size_t j)
{
    return i >= j ? lower[i * n + j] : lower[j * n + i];
}

TEST(the_factor_solves_and_inverts)
{
    for (size_t n = 1; n <= MOST; n++) {
        double a[MOST * MOST], l[MOST * MOST], x[MOST], b[MOST];
        make_matrix(n, a);
        memcpy(l, a, n * n * sizeof *l);
        assert_true(cholesky_factor(l, n, 0));
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j <= i; j++) {
                double sum = 0;
                for (size_t k = 0; k <= j; k++) sum += l[i * n + k] * l[j * n + k];
                assert_close(sum, a[i * n + j], 1e-12);
            }
        }
        for (size_t i = 0; i < n; i++) x[i] = b[i] = (double)i - 3;
        cholesky_solve(l, n, x);
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t j = 0; j < n; j++) sum += entry(a, n, i, j) * x[j];
            assert_close(sum, b[i], 1e-11);
        }
        cholesky_invert(l, n);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (size_t k = 0; k < n; k++) sum += entry(a, n, i, k) * entry(l, n, k, j);
                assert_close(sum, i == j, 1e-11);
            }
        }
    }
}

TEST(what_is_not_positive_is_refused)
{
    double singular[] = {1, NAN, 1, 1}, negative[] = {-1}, wrong[] = {NAN}, small[] = {1, NAN, 1, 1.0001};
    assert_false(cholesky_factor(singular, 2, 0));
    assert_false(cholesky_factor(negative, 1, 0));
    assert_false(cholesky_factor(wrong, 1, 0));
    assert_false(cholesky_factor(small, 2, 0.001));
    double again[] = {1, NAN, 1, 1.0001};
    assert_true(cholesky_factor(again, 2, 0.00001));
}
