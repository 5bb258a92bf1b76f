/* The triangular factor against the matrix that it stands for, summed plainly. */

#include "math/triangle.h"
#include "support.h"

enum { MOST = 24 };

/* The samples so far: their matrix A = lambda I + sum x x^T as (d, d), and its factor as rotations make it. */
typedef struct pair {
    size_t d;
    double a[MOST * MOST];
    double factor[MOST * (MOST + 1) / 2];
} pair;

static void start(pair *p, size_t d, double lambda)
{
    *p = (pair){.d = d};
    for (size_t i = 0; i < d; i++) p->a[i * d + i] = lambda;
    triangle_start(p->factor, d, sqrt(lambda));
}

static void add(pair *p, const double *x)
{
    double used[MOST];
    for (size_t i = 0; i < p->d; i++)
        for (size_t j = 0; j < p->d; j++) p->a[i * p->d + j] += x[i] * x[j];
    memcpy(used, x, p->d * sizeof *x);
    triangle_rotate(p->factor, used, p->d);
}

/* Normal numbers, of which about `zeros` are 0. */
static void draw_sample(random_stream *draw, size_t d, double zeros, double *x)
{
    for (size_t i = 0; i < d; i++) x[i] = random_unit(draw) < zeros ? 0 : random_normal(draw);
}

static double entry(const double *triangle, size_t d, size_t i, size_t j)
{
    return j < i ? 0 : triangle[i * d - i * (i + 1) / 2 + j];
}

/* The largest entry of U^T U - A. */
static double residual(const pair *p)
{
    double largest = 0;
    for (size_t i = 0; i < p->d; i++) {
        for (size_t j = 0; j < p->d; j++) {
            double sum = -p->a[i * p->d + j];
            for (size_t k = 0; k < p->d; k++) sum += entry(p->factor, p->d, k, i) * entry(p->factor, p->d, k, j);
            if (!(fabs(sum) <= largest)) largest = fabs(sum);
        }
    }
    return largest;
}

/* Rotated in one by one, summed at once with a weight, or squared and factored again: the same factor. */
TEST(samples_have_one_factor)
{
    const double lambda = 0.25;
    for (size_t d = 1; d <= MOST; d++) {
        for (int kind = 0; kind < 3; kind++) { /* dense, half zeros, nearly all zeros */
            random_stream draw = random_named(d, "samples");
            pair p;
            double x[MOST], summed[MOST * (MOST + 1) / 2], squared[MOST * (MOST + 1) / 2], first[MOST];
            start(&p, d, lambda);
            triangle_start(summed, d, lambda);
            for (int sample = 0; sample < 30; sample++) {
                draw_sample(&draw, d, 0.45 * kind, x);
                triangle_add(summed, 4, x, d);
                for (size_t i = 0; i < d; i++) x[i] *= 2;
                add(&p, x);
                assert_close(residual(&p), 0, 1e-10);
            }
            memcpy(squared, p.factor, sizeof squared);
            triangle_square(squared, d);
            for (size_t i = 0; i < d; i++)
                for (size_t j = i; j < d; j++) {
                    assert_close(entry(summed, d, i, j), p.a[i * d + j], 1e-12);
                    assert_close(entry(squared, d, i, j), p.a[i * d + j], 1e-11);
                }
            triangle_factor(summed, d, lambda, first);
            triangle_factor(squared, d, lambda, first);
            for (size_t i = 0; i < triangle_count(d); i++) {
                assert_close(summed[i], p.factor[i], 1e-10);
                assert_close(squared[i], p.factor[i], 1e-10);
            }
        }
    }
}

TEST(what_no_sample_has_stays_and_small_pivots_are_raised)
{
    double x[] = {0, 2, 0, -1}, nothing[4] = {0};
    pair p;
    start(&p, 4, 9);
    add(&p, x);
    add(&p, nothing);
    assert_close(residual(&p), 0, 1e-12);
    for (size_t j = 0; j < 4; j++) {
        assert_true(entry(p.factor, 4, 0, j) == (j == 0 ? 3 : 0));
        assert_true(entry(p.factor, 4, 2, j) == (j == 2 ? 3 : 0));
    }
    /* Two columns that are one, and no lambda to speak of: the second pivot is rounding, and may not become it. */
    double equal[] = {1e6, 1e6, 1e6}, below[] = {0.5, 0, 3}, first[2];
    triangle_factor(equal, 2, 1e-9, first);
    assert_close(equal[0], 1e3, 1e-12);
    assert_close(equal[1], 1e3, 1e-12);
    assert_close(equal[2], 1e-3, 1e-12); /* the root of 1e-12 of 1e6 */
    triangle_factor(below, 2, 2, first);
    assert_close(below[0], sqrt(2), 1e-12); /* none is below lambda */
    assert_close(below[2], sqrt(3), 1e-12);
}

TEST(both_solves_solve)
{
    for (size_t d = 1; d <= MOST; d++) {
        random_stream draw = random_named(d, "solves");
        pair p;
        double x[MOST], b[MOST], half[MOST];
        start(&p, d, 0.1);
        for (int sample = 0; sample < 30; sample++) {
            draw_sample(&draw, d, 0.2, x);
            add(&p, x);
        }
        draw_sample(&draw, d, 0.2, b);
        memcpy(x, b, sizeof x);
        triangle_solve_transposed(p.factor, x, d);
        memcpy(half, x, sizeof half);
        for (size_t i = 0; i < d; i++) { /* U^T half = b */
            double sum = 0;
            for (size_t k = 0; k < d; k++) sum += entry(p.factor, d, k, i) * half[k];
            assert_close(sum, b[i], 1e-11);
        }
        triangle_solve(p.factor, x, d);
        for (size_t i = 0; i < d; i++) { /* U x = half, and so A x = b */
            double sum = 0, whole = 0;
            for (size_t k = 0; k < d; k++) sum += entry(p.factor, d, i, k) * x[k];
            for (size_t k = 0; k < d; k++) whole += p.a[i * d + k] * x[k];
            assert_close(sum, half[i], 1e-11);
            assert_close(whole, b[i], 1e-10);
        }
        double first[MOST], second[MOST]; /* two are solved as each alone */
        memcpy(first, half, sizeof first);
        memcpy(second, b, sizeof second);
        triangle_solve_two(p.factor, first, second, d);
        triangle_solve(p.factor, b, d);
        assert_memory_equal(first, x, d * sizeof *x);
        assert_memory_equal(second, b, d * sizeof *b);
    }
}
