/* Methods of Bandit for named features: explain, which is for vectors too, and learn_names. */
#ifndef EENET_PYTHON_BANDIT_NAMING_H
#define EENET_PYTHON_BANDIT_NAMING_H

#include <Python.h>

PyObject *bandit_explain(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_learn_names(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

extern const char bandit_explain_doc[], bandit_learn_names_doc[];

#endif
