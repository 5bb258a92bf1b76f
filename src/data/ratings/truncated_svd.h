/* The largest singular values of a sparse matrix and their vectors. */
#ifndef EENET_TRUNCATED_SVD_H
#define EENET_TRUNCATED_SVD_H

#include "base/status.h"

/* Row by row: row i has the entries starts[i] to starts[i + 1]. All borrowed. */
typedef struct sparse_matrix {
    size_t rows, columns;
    const size_t *starts;    /* (rows + 1) */
    const uint32_t *indices; /* (starts[rows]) ascending within a row, below columns */
    const float *values;     /* (starts[rows]) */
} sparse_matrix;

/* The rank largest, in falling order: left is (rows, rank), values (rank), right (columns, rank); each of the three may
 * be NULL. rank is at most the smaller of rows and columns. The sign of each pair of vectors is such that the entry of
 * left that is largest in size is positive. The same matrix gives the same bytes. */
ee_status truncated_svd(const sparse_matrix *matrix, size_t rank, double *left, double *values, double *right,
                        ee_error *error);

#endif
