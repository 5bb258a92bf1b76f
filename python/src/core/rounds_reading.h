/* The arms of several rounds: one array of three dimensions, or a sequence of what a single round may be. */
#ifndef EENET_PYTHON_ROUNDS_READING_H
#define EENET_PYTHON_ROUNDS_READING_H

#include "arms_reading.h"

typedef struct rounds_reading {
    size_t count;           /* rounds */
    arms_reading *readings; /* (count); of one array they own nothing */
    ee_arms *arms;          /* (count): room for what the readings are, under the lock of a bandit */
    array_view array;
} rounds_reading;

/* As arms_read. contexts is NULL or None, or a sequence as long. */
int rounds_read(PyObject *rounds, PyObject *contexts, bool takes_rounds, rounds_reading *out);
void rounds_release(rounds_reading *self);

#endif
