/* Least squares by a triangular factor: A = lambda I + sum x x^T is stored as U with A = U^T U.
 *
 * A sample is added by rotating U with each row, which adds only squares and so does not drift as an inverse does. U
 * has d rows, each from its diagonal on, one after the other. */
#ifndef EENET_TRIANGLE_H
#define EENET_TRIANGLE_H

#include <stddef.h>

/* Doubles of a triangle of d rows. */
size_t triangle_count(size_t d);

/* Sets the diagonal, and zeros elsewhere. */
void triangle_start(double *triangle, size_t d, double diagonal);

/* triangle += weight x x^T, upper half. Zeros of x cost nothing. */
void triangle_add(double *triangle, double weight, const double *x, size_t d);

/* Upper half of A -> U. A has lambda on its diagonal, so no pivot can be below lambda, and one below 1e-12 of the
 * original entry has no digits left: rounding errors below these are raised. first (d) is workspace. */
void triangle_factor(double *triangle, size_t d, double lambda, double *first);

/* U -> upper half of A: the inverse of triangle_factor. */
void triangle_square(double *triangle, size_t d);

/* U of A -> U of A + x x^T. x is overwritten. */
void triangle_rotate(double *factor, double *x, size_t d);

/* x = U^-T x */
void triangle_solve_transposed(const double *factor, double *x, size_t d);

/* x = U^-1 x */
void triangle_solve(const double *factor, double *x, size_t d);

/* The same for x and y at once, with the same results as separate calls: the factor is read once. */
void triangle_solve_two(const double *factor, double *x, double *y, size_t d);

#endif
