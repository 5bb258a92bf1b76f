/* Scores as Python shows them: a read-only array for each part. */
#ifndef EENET_PYTHON_SCORE_COLUMNS_H
#define EENET_PYTHON_SCORE_COLUMNS_H

#include <Python.h>

#include "eenet.h"

/* Which part of ee_score: an offset into it. The closure of a getter. */
extern const size_t COLUMN_SCORE, COLUMN_EXPLOITATION, COLUMN_EXPLORATION;

/* scores is (count); a float32 array of (count). */
PyObject *score_column(const ee_score *scores, Py_ssize_t count, size_t column);

/* values is (count); a float64 array of (count) over a copy of them. */
PyObject *array_of_doubles(const double *values, Py_ssize_t count);

#endif
