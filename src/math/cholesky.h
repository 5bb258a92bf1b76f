/* Cholesky factorisation of a symmetric positive definite matrix. Our own for the reason that eigen.h gives. Matrices
 * are (n, n) row by row; only the lower triangle is read. */
#ifndef EENET_CHOLESKY_H
#define EENET_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* The lower triangle of a becomes L, a = L L^T. Returns false, with a partly overwritten, if a pivot is not above
 * `smallest`. */
bool cholesky_factor(double *a, size_t n, double smallest);

/* The same for a matrix that may be singular, such as the covariance of repeated points. A pivot of at most `smallest`,
 * or of at most `relative` times the original diagonal entry, is rounding error: it and its column become zero. */
void cholesky_factor_semidefinite(double *a, size_t n, double relative, double smallest);

/* x becomes a^-1 x. l is the result of cholesky_factor(a). */
void cholesky_solve(const double *l, size_t n, double *x);

/* The lower triangle of l, the result of cholesky_factor(a), becomes that of a^-1. The upper one is overwritten. */
void cholesky_invert(double *l, size_t n);

#endif
