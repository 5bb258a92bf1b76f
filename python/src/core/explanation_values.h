/* Explanations as Python shows them: what each feature of an arm adds to the reward that is expected. */
#ifndef EENET_PYTHON_EXPLANATION_VALUES_H
#define EENET_PYTHON_EXPLANATION_VALUES_H

#include <Python.h>

#include "eenet.h"
#include "engine/explanation.h"

/* The number of an arm among count: 0, or -1 with an exception set. */
int explained_read_arm(PyObject *object, size_t count, size_t *arm);

/* Of vectors: how many contributions an arm has; arm is one of them. */
size_t explained_entries(const ee_arms *arms, size_t arm);

/* A float32 array over bytes, which it takes over; NULL with an exception set where status says that it failed. */
PyObject *explained_array(PyObject *bytes, ee_status status, const ee_error *error);

/* Of a round: a dict from name to contribution, the largest first. entries is (count), and is put in order. What has
 * the same name is added up. */
PyObject *explained_names(const ee_round *round, size_t arm, explained_entry *entries, size_t count);

#endif
