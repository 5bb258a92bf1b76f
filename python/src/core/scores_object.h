/* eenet.Scores: a policy's scores of the arms of a round. */
#ifndef EENET_PYTHON_SCORES_OBJECT_H
#define EENET_PYTHON_SCORES_OBJECT_H

#include <Python.h>

#include "eenet.h"

typedef struct scores_object {
    PyObject_VAR_HEAD /* the size is the number of arms */
        ee_score values[];
} scores_object;

/* For the caller to fill in; NULL with an exception set. */
scores_object *scores_new(size_t arms);

/* Offsets of the parts of ee_score, which are the closures of getters. */
extern const size_t COLUMN_SCORE, COLUMN_EXPLOITATION, COLUMN_EXPLORATION;

/* One part of (count) scores: a float32 array. */
PyObject *score_column(const ee_score *scores, Py_ssize_t count, size_t column);

int scores_add(PyObject *module);

#endif
