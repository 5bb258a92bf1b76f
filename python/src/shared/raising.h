/* Exceptions of eenet._errors. A caller returns what these functions return: NULL, or -1. */
#ifndef EENET_PYTHON_RAISING_H
#define EENET_PYTHON_RAISING_H

#include <Python.h>

#include "eenet.h"

/* The exception of a status, with the message of error. */
PyObject *raise_status(ee_status status, const ee_error *error);

/* eenet.BadInput; format as in PyErr_Format. */
int raise_bad_input(const char *format, ...);

/* TypeError: "arm: expected an integer, got str". `what` names the argument. */
int raise_wrong_type(const char *what, const char *needed, PyObject *object);

#endif
