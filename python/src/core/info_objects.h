/* eenet.Info and eenet.Feature: named tuples. */
#ifndef EENET_PYTHON_INFO_OBJECTS_H
#define EENET_PYTHON_INFO_OBJECTS_H

#include <Python.h>

#include "eenet.h"

PyObject *info_new(const ee_info *info);
PyObject *feature_new(const char *name, const ee_feature *feature);

int info_add(PyObject *module);

#endif
