/* The kinds of data sets, for lab.datasets(). */
#ifndef EENET_DATA_KINDS_H
#define EENET_DATA_KINDS_H

#include <Python.h>

/* A list of (name, form, summary, options); an option is (name, default, range, meaning). */
PyObject *data_kinds_list(PyObject *module, PyObject *none);

#endif
