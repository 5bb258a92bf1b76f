/* Reads the limits on the draw of a round from Python: boosts, groups and shares. */
#ifndef EENET_PYTHON_LIMITS_READING_H
#define EENET_PYTHON_LIMITS_READING_H

#include "arms_reading.h"

/* The arguments of a method; each may be NULL or None. */
typedef struct limits_arguments {
    PyObject *boosts; /* a sequence of numbers, one per arm */
    PyObject *groups; /* a sequence of integers or None, one per arm */
    PyObject *shares; /* a sequence of (low, high), one per group */
} limits_arguments;

/* Reads the limits and adds them to arms that were read; arms_release releases them too. Needs the GIL. 0, or -1 with
 * an exception set. */
int limits_read(limits_arguments given, arms_reading *arms);

#endif
