/* What Python passes, as C has it. Each returns 0, or -1 with an exception set. */
#ifndef EENET_LAB_ARGUMENTS_H
#define EENET_LAB_ARGUMENTS_H

#include <Python.h>

#include <stdint.h>

/* A whole number from 0 to 2^64 - 1; name is the argument's, for the message. */
int argument_whole(PyObject *object, const char *name, uint64_t *out);

/* Text as UTF-8 in a bytes object of the caller's, without a zero byte in it. */
int argument_text(PyObject *object, const char *name, PyObject **out);

#endif
