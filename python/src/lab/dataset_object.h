/* Dataset: an open data set, and the iterator over its rounds. eenet.lab derives its Dataset from it. */
#ifndef EENET_DATASET_OBJECT_H
#define EENET_DATASET_OBJECT_H

#include <Python.h>

#include "data/sets/environment.h"

/* Adds the type to the module; 0, or -1 with an exception set. */
int dataset_object_register(PyObject *module);

/* The data set of a Dataset, borrowed; NULL with an exception set for other objects. */
const dataset *dataset_object_data(PyObject *object);

#endif
