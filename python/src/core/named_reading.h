/* Reads rounds of named features from Python: a sequence of mappings, a data frame, or a string; see
 * docs/features.md. */
#ifndef EENET_PYTHON_NAMED_READING_H
#define EENET_PYTHON_NAMED_READING_H

#include <Python.h>
#include <stdbool.h>

#include "eenet.h"

/* Whether this is a round of named features. takes_rounds: whether the bandit has named features; otherwise a data
 * frame is a matrix. */
bool named_is(PyObject *arms, PyObject *context, bool takes_rounds);

/* Whether it is a data frame; -1 with an exception set. */
int named_is_frame(PyObject *object);

/* The round, or NULL with an exception set. ids: NULL, or a tuple with the id of each arm. context may be NULL or
 * None. Rounds are cached: return each with named_release. Both need the GIL; named_read releases it while the
 * library parses. */
ee_round *named_read(PyObject *arms, PyObject *ids, PyObject *context);
void named_release(ee_round *round);

#endif
