/* Bandit.decide_slots: places on a page, each with another action. */
#ifndef EENET_PYTHON_SLOTS_DECIDING_H
#define EENET_PYTHON_SLOTS_DECIDING_H

#include <Python.h>

PyObject *bandit_decide_slots(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
extern const char bandit_decide_slots_doc[];

#endif
