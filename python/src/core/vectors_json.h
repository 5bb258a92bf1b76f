/* Vectors as JSON, for the client of the server. */
#ifndef EENET_VECTORS_JSON_H
#define EENET_VECTORS_JSON_H

#include <Python.h>

/* _core._vectors_json(array): a row of numbers for each vector, as bytes. Read back as float32 each is the same. */
PyObject *vectors_json(PyObject *module, PyObject *array);

#endif
