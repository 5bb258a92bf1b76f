/* Methods of Bandit that keep it: files, bytes, pickle; and what it has learned of a feature. */
#ifndef EENET_PYTHON_BANDIT_KEEPING_H
#define EENET_PYTHON_BANDIT_KEEPING_H

#include <Python.h>

PyObject *bandit_save(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_load(PyObject *type, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_to_bytes(PyObject *self, PyObject *none);
PyObject *bandit_from_bytes(PyObject *type, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_reduce(PyObject *self, PyObject *none);
PyObject *bandit_sizeof(PyObject *self, PyObject *none);
PyObject *bandit_feature(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

#endif
