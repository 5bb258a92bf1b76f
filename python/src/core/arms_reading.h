/* The arms of a round, whatever Python has them as: an array, something sparse, or named features. */
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
    void *room;        /* sparse: starts and indices */
} arms_reading;

/* Needs the GIL, and leaves nothing that does but arms_release. context is NULL or None where there is none.
 * takes_rounds: the bandit has named features. 0, or -1 with an exception set and nothing to release. */
int arms_read(PyObject *arms, PyObject *context, bool takes_rounds, arms_reading *out);
void arms_release(arms_reading *self);

/* How many arms it has. */
size_t arms_read_count(const arms_reading *self);

#endif
