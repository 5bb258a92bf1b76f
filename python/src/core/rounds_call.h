/* A call that decides several rounds or slots, of a Bandit or on a Snapshot: what it reads, where it decides, and what
 * it returns. The decisions are made before anything is decided, so that no decision is lost for lack of memory. */
#ifndef EENET_PYTHON_ROUNDS_CALL_H
#define EENET_PYTHON_ROUNDS_CALL_H

#include "arms_reading.h"

typedef struct rounds_call {
    bool slots;   /* each takes another arm */
    size_t count; /* rounds or slots */
    arms_reading
        *readings; /* (reading_count) one for each, or one that serves all slots; of one array they own nothing */
    size_t reading_count;
    array_view array;
    ee_arms *arms;         /* (count) for what the readings are */
    uint8_t *excluded;     /* NULL, or one for each arm of each round */
    PyObject *decisions;   /* a list of (count) */
    ee_decision *made;     /* (count) */
    ee_score *scores;      /* one for each arm of each round */
    double *probabilities; /* likewise */
} rounds_call;

/* Both need the GIL, and return 0, or -1 with an exception set; rounds_call_release is due in any case. Arguments may
 * be NULL or None if they are optional.
 *
 * decide_many(rounds, contexts); decide_slots(arms, slots, contexts, excluded). */
int rounds_call_read_many(rounds_call *self, bool takes_rounds, PyObject *rounds, PyObject *contexts);
int rounds_call_read_slots(rounds_call *self, bool takes_rounds, PyObject *arms, PyObject *slots, PyObject *contexts,
                           PyObject *excluded);

/* Fills the decisions and returns their list, a new reference. */
PyObject *rounds_call_finish(rounds_call *self);
void rounds_call_release(rounds_call *self);

/* Truth values of (rows, arms), or of (arms) for all rows: *out is NULL if there are none, else to be freed. 0, or -1
 * with an exception set. */
int excluded_read(PyObject *excluded, size_t rows, size_t arms, uint8_t **out);

#endif
