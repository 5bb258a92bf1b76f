/* The methods of Bandit; bandit_docs.h says what they do. */
#ifndef EENET_PYTHON_BANDIT_METHODS_H
#define EENET_PYTHON_BANDIT_METHODS_H

#include "shared/call_arguments.h"

/* bandit_methods.c */
extern PyMethodDef bandit_methods[];

/* bandit_learning.c */
fast_method bandit_learn, bandit_learn_many, bandit_learn_from, bandit_learn_record, bandit_learn_names;
fast_method bandit_take_record, bandit_forget, bandit_set_time;

/* bandit_keeping.c */
fast_method bandit_save, bandit_load, bandit_from_bytes, bandit_feature;
PyObject *bandit_to_bytes(PyObject *self, PyObject *none);
PyObject *bandit_reduce(PyObject *self, PyObject *none);
PyObject *bandit_sizeof(PyObject *self, PyObject *none);

/* snapshot_object.c: Bandit.snapshot, and eenet.Snapshot: a model on which any number of threads decide. */
fast_method bandit_snapshot;
int snapshot_add(PyObject *module);

#endif
