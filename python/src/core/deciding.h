/* decide, score, probabilities and explain, which Bandit and Snapshot share. */
#ifndef EENET_PYTHON_DECIDING_H
#define EENET_PYTHON_DECIDING_H

#include "bandit_object.h"
#include "rounds_call.h"

typedef struct decider {
    bandit_object *bandit;
    ee_snapshot *snapshot; /* NULL: the bandit itself decides */
    ee_scratch *scratch;   /* of the snapshot; no other call uses it */
    uint64_t seed;         /* of the scratch */
} decider;

/* A call on the arms of a round. argument: the excluded arms of decide, the arm of explain; otherwise unused. Each
 * returns a new reference, or NULL with an exception set. */
typedef PyObject *arms_call(const decider *self, arms_reading *reading, PyObject *argument);
arms_call decider_decide, decider_score, decider_probabilities, decider_explain;

PyObject *decider_decide_rounds(const decider *self, rounds_call *call);

/* Releases the GIL, and takes the lock of a bandit, until decider_leave. */
static inline PyThreadState *decider_enter(const decider *self)
{
    return self->snapshot ? PyEval_SaveThread() : bandit_enter(self->bandit);
}

static inline void decider_leave(const decider *self, PyThreadState *state)
{
    if (self->snapshot)
        PyEval_RestoreThread(state);
    else
        bandit_leave(self->bandit, state);
}

#endif
