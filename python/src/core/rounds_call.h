/* A call that decides several rounds or slots, of a Bandit or a Snapshot. The Decision objects are created before
 * anything is decided, so that no decision is lost for lack of memory. */
#ifndef EENET_PYTHON_ROUNDS_CALL_H
#define EENET_PYTHON_ROUNDS_CALL_H

#include "arms_reading.h"

typedef struct rounds_call {
    bool slots;             /* each gets a different arm */
    size_t count;           /* rounds or slots */
    arms_reading *readings; /* (reading_count) one for each, or one for all slots; array may own their values */
    size_t reading_count;
    array_view array;
    ee_arms *arms;         /* (count) the arms of the readings */
    uint8_t *excluded;     /* NULL, or (arms) for each round */
    PyObject *decisions;   /* a list of (count) */
    ee_decision *made;     /* (count) */
    ee_score *scores;      /* (arms) for each round */
    double *probabilities; /* (arms) for each round */
} rounds_call;

/* The arguments of decide_many and decide_slots; optional ones may be NULL or None. Both need the GIL and return 0,
 * or -1 with an exception set. Call rounds_call_release in any case. */
int rounds_call_read_many(rounds_call *self, bool takes_rounds, PyObject *rounds, PyObject *contexts);
int rounds_call_read_slots(rounds_call *self, bool takes_rounds, PyObject *arms, PyObject *slots, PyObject *contexts,
                           PyObject *excluded);

/* Fills the decisions and returns their list, a new reference. */
PyObject *rounds_call_finish(rounds_call *self);
void rounds_call_release(rounds_call *self);

/* Reads booleans of shape (rows, arms), or (arms) for all rows. *out: NULL if excluded is NULL or None, otherwise to
 * be freed. 0, or -1 with an exception set. */
int excluded_read(PyObject *excluded, size_t rows, size_t arms, uint8_t **out);

#endif
