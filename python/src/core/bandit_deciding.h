/* Methods of Bandit that look at the arms of a round and change nothing but that a decision was made. */
#ifndef EENET_PYTHON_BANDIT_DECIDING_H
#define EENET_PYTHON_BANDIT_DECIDING_H

#include <Python.h>

PyObject *bandit_decide(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_decide_many(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_decide_slots(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_score(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_probabilities(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

#endif
