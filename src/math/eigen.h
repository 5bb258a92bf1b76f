/* Eigenvectors of a symmetric matrix for the smallest eigenvalues. Our own, because LAPACK on a threaded BLAS gives
 * different bytes with a different number of threads, and concurrent callers wait for each other. */
#ifndef EENET_EIGEN_H
#define EENET_EIGEN_H

#include <stddef.h>

/* Doubles of workspace that eigen_smallest needs. */
size_t eigen_work_count(size_t n, size_t count);

/* vectors becomes (count, n): orthonormal, for the count smallest eigenvalues of matrix (n, n), ascending. 1 <= count
 * <= n. The entries must be finite; matrix is overwritten. */
void eigen_smallest(double *matrix, size_t n, size_t count, double *vectors, double *work);

#endif
