/* eenet.Decision, the result of decide. One object holds everything, so that a decision costs one allocation; its
 * arrays are created on first use. */
#ifndef EENET_PYTHON_DECISION_OBJECT_H
#define EENET_PYTHON_DECISION_OBJECT_H

#include <Python.h>
#include <stdbool.h>

#include "eenet.h"

typedef struct decision_object {
    PyObject_VAR_HEAD          /* the size is the number of arms */
        unsigned long long id; /* 0: made by a snapshot */
    unsigned long long bandit; /* bandit_object.number of the bandit that decided; 0: unknown */
    Py_ssize_t arm;
    double probability;
    PyObject *record;       /* bytes for a decision of a snapshot, otherwise NULL */
    PyObject *action;       /* the caller's object for the arm; NULL: its number */
    double probabilities[]; /* (arms), followed by (arms) of ee_score */
} decision_object;

/* A new decision among this number of arms, for the caller to fill in; NULL with an exception set. */
decision_object *decision_new(size_t arms);

/* Fills in the decision; call it once. Takes over the reference to action, which may be NULL: see arms_read_action. */
void decision_set(decision_object *self, const ee_decision *made, PyObject *action);
ee_score *decision_scores(decision_object *self); /* (arms) */
bool decision_is(PyObject *object);

/* _decision(arm, id, probability, columns, record, action): restores a pickled decision. The arguments are not
 * trusted. */
PyObject *decision_restore(PyObject *module, PyObject *args);

int decision_add(PyObject *module);

#endif
