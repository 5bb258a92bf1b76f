/* eenet.Scores: how a policy sees the arms of a round. */
#ifndef EENET_PYTHON_SCORES_OBJECT_H
#define EENET_PYTHON_SCORES_OBJECT_H

#include <Python.h>

#include "eenet.h"

typedef struct scores_object {
    PyObject_VAR_HEAD /* the size is the number of arms */
        ee_score values[];
} scores_object;

/* For its maker to fill in; NULL with an exception set. */
scores_object *scores_new(size_t arms);

int scores_add(PyObject *module);

#endif
