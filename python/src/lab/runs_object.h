/* Runs: what a folder of results holds, for lab.Results. */
#ifndef EENET_RUNS_OBJECT_H
#define EENET_RUNS_OBJECT_H

#include <Python.h>

/* Adds the type to the module; 0, or -1 with an exception set. */
int runs_object_register(PyObject *module);

/* report(folder, reference, path): the report of the whole folder, as `eenet report` writes it; reference may be None.
 */
PyObject *runs_object_report(PyObject *module, PyObject *arguments);

#endif
