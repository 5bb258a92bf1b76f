/* Reads the arms of a round from Python: an array, a sparse matrix or named features, in a sequence or in a mapping
 * by id. */
#ifndef EENET_PYTHON_ARMS_READING_H
#define EENET_PYTHON_ARMS_READING_H

#include <Python.h>
#include <stdbool.h>

#include "eenet.h"
#include "shared/array_view.h"

/* Limits on the draw, with their memory; see limits_reading.h. */
typedef struct arms_limits {
    ee_limits limits;
    float *boosts;
    uint32_t *groups;
    double *bounds; /* the lows of all groups, then the highs */
} arms_limits;

typedef struct arms_reading {
    ee_arms arms;        /* if round is NULL */
    ee_round *round;     /* named features; bandit_arms converts them to arms */
    array_view values;   /* owns the memory that arms borrows */
    void *buffer;        /* for sparse arms, starts and indices; for vectors by id, the ids */
    arms_limits *limits; /* NULL: none */
    PyObject *actions;   /* the caller's object for each arm, see arms_read_action; NULL for the rows of an array */
} arms_reading;

/* Both need the GIL; the result can be used without it. context: NULL or None if there is none. takes_rounds:
 * whether the bandit has named features. Returns 0, or -1 with an exception set and nothing to release. */
int arms_read(PyObject *arms, PyObject *context, bool takes_rounds, arms_reading *out);
void arms_release(arms_reading *self);

/* The value of Decision.action for an arm: the key of a mapping, the element of a sequence, the label of a data
 * frame's row. A new reference; NULL without an exception if the arm has only its number. */
PyObject *arms_read_action(const arms_reading *self, size_t arm);

/* The number of arms. */
size_t arms_read_count(const arms_reading *self);

#endif
