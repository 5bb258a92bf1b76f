/* Runs: what a folder of results holds, for lab.Results. */
#ifndef EENET_RUNS_OBJECT_H
#define EENET_RUNS_OBJECT_H

#include <Python.h>

/* Adds the type to the module; 0, or -1 with an exception set. */
int runs_object_register(PyObject *module);

#endif
