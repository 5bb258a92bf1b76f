/* eenet.Snapshot: what a bandit has learned, for any number of Python threads. */
#ifndef EENET_PYTHON_SNAPSHOT_OBJECT_H
#define EENET_PYTHON_SNAPSHOT_OBJECT_H

#include <Python.h>

/* Bandit.snapshot, a row of its method table. */
PyObject *bandit_snapshot(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
extern const char bandit_snapshot_doc[];

int snapshot_add(PyObject *module);

#endif
