/* The policies and their options, a row at a time: what eenet._policies makes objects of. */
#ifndef EENET_PYTHON_POLICY_ROWS_H
#define EENET_PYTHON_POLICY_ROWS_H

#include <Python.h>

/* _policy_row(index): name, summary, paper, preset; None past the last. */
PyObject *policy_row(PyObject *module, PyObject *args);

/* _option_row(policy, index): name, range, value, meaning, part, needs, acts, first; None past the last. */
PyObject *option_row(PyObject *module, PyObject *args);

#endif
