/* Eigenvectors of a symmetric matrix, for the smallest eigenvalues. By hand because LAPACK's, on a threaded BLAS, gives
 * other bytes with another number of threads, and several callers at once wait for each other. */
#ifndef EENET_EIGEN_H
#define EENET_EIGEN_H

#include <stddef.h>

/* Doubles of work that eigen_smallest needs. */
size_t eigen_work_count(size_t n, size_t count);

/* vectors becomes (count, n): orthonormal, for the count smallest eigenvalues of matrix (n, n), ascending. matrix is
 * overwritten. 1 <= count <= n. The entries must be finite. */
void eigen_smallest(double *matrix, size_t n, size_t count, double *vectors, double *work);

#endif
