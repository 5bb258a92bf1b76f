#include "triangle.h"

#include <math.h>
#include <string.h>

#include "doubles.h"

size_t triangle_count(size_t d)
{
    return d * (d + 1) / 2;
}

void triangle_start(double *triangle, size_t d, double diagonal)
{
    memset(triangle, 0, triangle_count(d) * sizeof *triangle);
    for (size_t i = 0; i < d; triangle += d - i, i++) *triangle = diagonal;
}

void triangle_add(double *triangle, double weight, const double *x, size_t d)
{
    for (size_t i = 0; i < d; triangle += d - i, i++)
        if (x[i] != 0) doubles_add_scaled(triangle, weight * x[i], x + i, d - i);
}

void triangle_factor(double *triangle, size_t d, double lambda, double *first)
{
    const double *entry = triangle;
    for (size_t i = 0; i < d; entry += d - i, i++) first[i] = *entry;
    for (size_t i = 0; i < d; triangle += d - i, i++) {
        size_t rest = d - i;
        triangle[0] = fmax(triangle[0], fmax(lambda, 1e-12 * first[i]));
        double scale = 1 / sqrt(triangle[0]), *below = triangle + rest;
        for (size_t j = 0; j < rest; j++) triangle[j] *= scale;
        for (size_t j = 1; j < rest; below += rest - j, j++)
            if (triangle[j] != 0) doubles_add_scaled(below, -triangle[j], triangle + j, rest - j);
    }
}

void triangle_square(double *triangle, size_t d)
{
    /* Row i of A needs the rows of U up to i, so the last row comes first. */
    double *row = triangle + triangle_count(d);
    for (size_t i = d; i-- > 0;) {
        row -= d - i;
        const double *above = triangle;
        double diagonal = row[0];
        for (size_t j = 0; j < d - i; j++) row[j] *= diagonal;
        for (size_t k = 0; k < i; above += d - k, k++) doubles_add_scaled(row, above[i - k], above + i - k, d - i);
    }
}

void triangle_rotate(double *restrict factor, double *restrict x, size_t d)
{
    for (size_t i = 0; i < d; factor += d - i, i++) {
        if (x[i] == 0) continue;
        double length = hypot(factor[0], x[i]), cosine = factor[0] / length, sine = x[i] / length;
        for (size_t j = 0; j < d - i; j++) {
            double above = factor[j], new = x[i + j];
            factor[j] = cosine * above + sine * new;
            x[i + j] = cosine * new - sine *above;
        }
    }
}

void triangle_solve_transposed(const double *factor, double *x, size_t d)
{
    for (size_t i = 0; i < d; factor += d - i, i++) {
        if (x[i] == 0) continue;
        x[i] /= factor[0];
        doubles_add_scaled(x + i + 1, -x[i], factor + 1, d - i - 1);
    }
}

void triangle_solve(const double *factor, double *x, size_t d)
{
    factor += triangle_count(d);
    for (size_t i = d; i-- > 0;) {
        factor -= d - i;
        x[i] = (x[i] - doubles_dot(factor + 1, x + i + 1, d - i - 1)) / factor[0];
    }
}

/* doubles_dot of both with the same row. */
static void dot_two(const double *row, const double *x, const double *y, size_t n, double *of_x, double *of_y)
{
    enum { LANES = 8 };
    double a[LANES] = {0}, b[LANES] = {0}, sum_a = 0, sum_b = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (size_t j = 0; j < LANES; j++) a[j] += row[i + j] * x[i + j];
        for (size_t j = 0; j < LANES; j++) b[j] += row[i + j] * y[i + j];
    }
    for (; i < n; i++) {
        sum_a += row[i] * x[i];
        sum_b += row[i] * y[i];
    }
    for (size_t j = 0; j < LANES; j++) {
        sum_a += a[j];
        sum_b += b[j];
    }
    *of_x = sum_a;
    *of_y = sum_b;
}

void triangle_solve_two(const double *factor, double *x, double *y, size_t d)
{
    factor += triangle_count(d);
    for (size_t i = d; i-- > 0;) {
        double of_x, of_y;
        factor -= d - i;
        dot_two(factor + 1, x + i + 1, y + i + 1, d - i - 1, &of_x, &of_y);
        x[i] = (x[i] - of_x) / factor[0];
        y[i] = (y[i] - of_y) / factor[0];
    }
}
