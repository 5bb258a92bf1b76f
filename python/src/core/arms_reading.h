/* The arms of a round, whatever Python has them as: an array, something sparse, or named features; in a sequence, or in
 * a mapping by id. */
#ifndef EENET_PYTHON_ARMS_READING_H
#define EENET_PYTHON_ARMS_READING_H

#include <Python.h>
#include <stdbool.h>

#include "eenet.h"
#include "shared/array_view.h"

typedef struct arms_reading {
    ee_arms arms;      /* where round is NULL */
    ee_round *round;   /* named features: bandit_arms gives their arms */
    array_view values; /* keeps what arms borrows */
    void *buffer;      /* sparse: starts and indices; of vectors by id, their ids */
    PyObject *actions; /* what the caller has for each arm, see arms_read_action; NULL: rows of an array */
} arms_reading;

/* Needs the GIL, and leaves nothing that does but arms_release. context is NULL or None where there is none.
 * takes_rounds: the bandit has named features. 0, or -1 with an exception set and nothing to release. */
int arms_read(PyObject *arms, PyObject *context, bool takes_rounds, arms_reading *out);
void arms_release(arms_reading *self);

/* What Decision.action is of an arm: the key of a mapping, the element of a sequence, the label of a row of a data
 * frame. A new reference; NULL, without an exception, if all there is is the number of the arm. */
PyObject *arms_read_action(const arms_reading *self, size_t arm);

/* How many arms it has. */
size_t arms_read_count(const arms_reading *self);

#endif
