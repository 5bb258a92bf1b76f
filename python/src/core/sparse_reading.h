/* Sparse arms in CSR form, a row an arm: scipy's matrices and arrays, eenet.SparseArms, or anything else with indptr,
 * indices, data and shape. scipy itself is not needed. */
#ifndef EENET_PYTHON_SPARSE_READING_H
#define EENET_PYTHON_SPARSE_READING_H

#include "arms_reading.h"

/* 1 or 0, or -1 with an exception set. */
int sparse_is(PyObject *arms);

/* out is empty. 0, or -1 with an exception set and nothing to release. */
int sparse_read(PyObject *arms, arms_reading *out);

#endif
