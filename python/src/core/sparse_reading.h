/* Reads sparse arms, one row per arm: scipy's matrices and arrays, eenet.SparseArms, or any object with indptr,
 * indices, data and shape. scipy is not required. */
#ifndef EENET_PYTHON_SPARSE_READING_H
#define EENET_PYTHON_SPARSE_READING_H

#include "arms_reading.h"

/* Whether arms is sparse; -1 with an exception set. */
int sparse_is(PyObject *arms);

/* out must be empty. 0, or -1 with an exception set and nothing to release. */
int sparse_read(PyObject *arms, arms_reading *out);

#endif
