/* Rounds of named features from Python: a sequence of mappings, a data frame, or a text; see docs/features.md. */
#ifndef EENET_PYTHON_NAMED_READING_H
#define EENET_PYTHON_NAMED_READING_H

#include <Python.h>
#include <stdbool.h>

#include "eenet.h"

/* Whether this is a round of named features. takes_rounds: the bandit has features; only then a data frame is one, else
 * it is a matrix. */
bool named_is(PyObject *arms, PyObject *context, bool takes_rounds);

/* Whether it is a data frame; -1 with an exception set. */
int named_is_frame(PyObject *object);

/* The round, or NULL with an exception set. ids is NULL, or a tuple with the id of each of a tuple of arms. context may
 * be NULL or None. Rounds are kept and used again: give each back by named_release. Both are called with the GIL; it is
 * released while the library parses. */
ee_round *named_read(PyObject *arms, PyObject *ids, PyObject *context);
void named_release(ee_round *round);

#endif
