/* Vectors as JSON, for the client of the server. */
#ifndef EENET_VECTORS_JSON_H
#define EENET_VECTORS_JSON_H

#include <Python.h>

/* _core._vectors_json(array): the rows as JSON, in bytes. Reading the numbers as float32 gives the same values. */
PyObject *vectors_json(PyObject *module, PyObject *array);

#endif
