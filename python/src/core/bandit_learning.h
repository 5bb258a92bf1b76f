/* Methods of Bandit that learn or forget. */
#ifndef EENET_PYTHON_BANDIT_LEARNING_H
#define EENET_PYTHON_BANDIT_LEARNING_H

#include <Python.h>

PyObject *bandit_learn(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_learn_many(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_learn_from(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_learn_record(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_take_record(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_forget(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bandit_set_time(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

#endif
