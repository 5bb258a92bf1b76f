/* Cholesky factorisation of a symmetric positive definite matrix. By hand, for the reason that eigen.h gives. Matrices
 * are (n, n) row by row; the lower triangle is what counts. */
#ifndef EENET_CHOLESKY_H
#define EENET_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* The lower triangle of a becomes L, a = L L^T. False, with a half done, where a pivot is not above `smallest`. */
bool cholesky_factor(double *a, size_t n, double smallest);

/* The same for a matrix that may be singular, as a covariance is where a point comes twice: a pivot of at most
 * `smallest`, or of at most `relative` times what stood on the diagonal, is nothing but rounding. It and its column
 * become zero. */
void cholesky_factor_semidefinite(double *a, size_t n, double relative, double smallest);

/* x becomes a^-1 x. l is what cholesky_factor made of a. */
void cholesky_solve(const double *l, size_t n, double *x);

/* The lower triangle of l, what cholesky_factor made of a, becomes that of a^-1. The upper one is overwritten. */
void cholesky_invert(double *l, size_t n);

#endif
