/* Least squares by a triangular factor: A = lambda I + sum x x^T is kept as U with A = U^T U.
 *
 * A sample is taken in by a rotation of U with each row, which adds only squares and so cannot drift as an inverse
 * does. U has d rows, each from its diagonal on, one behind the other. */
#ifndef EENET_TRIANGLE_H
#define EENET_TRIANGLE_H

#include <stddef.h>

/* Doubles of a triangle of d rows. */
size_t triangle_count(size_t d);

/* The diagonal, and zeros beside it. */
void triangle_start(double *triangle, size_t d, double diagonal);

/* triangle += weight x x^T, its upper half. What is zero in x costs nothing. */
void triangle_add(double *triangle, double weight, const double *x, size_t d);

/* A, its upper half -> U. A has lambda on its diagonal, so no pivot is below that; and none that is below 1e-12 of what
 * stood there at first has a digit left. Where rounding makes one so, it is raised. first is (d), work. */
void triangle_factor(double *triangle, size_t d, double lambda, double *first);

/* U -> A, its upper half: the way back from triangle_factor. */
void triangle_square(double *triangle, size_t d);

/* U of A -> U of A + x x^T. x is used up. */
void triangle_rotate(double *factor, double *x, size_t d);

/* x = U^-T x */
void triangle_solve_transposed(const double *factor, double *x, size_t d);

/* x = U^-1 x */
void triangle_solve(const double *factor, double *x, size_t d);

/* The same for x and y, each as it would be alone: the factor is read once. */
void triangle_solve_two(const double *factor, double *x, double *y, size_t d);

#endif
