/* eenet.Snapshot: what a bandit has learned, for any number of Python threads. */
#ifndef EENET_PYTHON_SNAPSHOT_OBJECT_H
#define EENET_PYTHON_SNAPSHOT_OBJECT_H

#include <Python.h>

int snapshot_add(PyObject *module);

#endif
