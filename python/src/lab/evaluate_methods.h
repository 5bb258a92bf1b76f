/* What eenet.evaluate asks of the extension. */
#ifndef EENET_EVALUATE_METHODS_H
#define EENET_EVALUATE_METHODS_H

#include <Python.h>

/* array_estimates.c: (arrays, settings) -> bytes, a line of JSON as evaluation_file.h has it. arrays: rewards, logged,
 * candidate (an array, or None for one by name), actions, predictions, copies; the last three may be None. */
PyObject *array_estimate(PyObject *self, PyObject *args);

/* log_evaluation.c: (log, candidates, settings) -> (lines, failures, trained): a line of JSON for each candidate that
 * was played, None for others; why each of these could not be, else None; and which was trained and saved, or None.
 * candidates: a tuple of (text, options or None, seed). Where none can be played, the first one's failure is raised. */
PyObject *log_evaluate(PyObject *self, PyObject *args);

/* log_events.c: (log, settings) -> dict of columns. */
PyObject *log_events(PyObject *self, PyObject *args);

/* log_columns.c: (log) -> list of (name, role or None, whether it is context, why not or None) for each column of a CSV
 * log; empty for other formats. */
PyObject *log_describe(PyObject *self, PyObject *args);

#endif
