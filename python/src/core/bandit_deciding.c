#include "bandit_deciding.h"

#include <stdlib.h>

#include "bandit_object.h"
#include "decision_object.h"
#include "engine/bandit.h"
#include "rounds_deciding.h"
#include "score_columns.h"
#include "scores_object.h"
#include "shared/call_arguments.h"
#include "shared/raising.h"

/* Reads the arms of a call that takes arms and context. */
static int read_arms(const call_shape *shape, bandit_object *self, PyObject *const *args, Py_ssize_t count,
                     PyObject *names, arms_reading *out)
{
    PyObject *values[2];
    if (bandit_arguments(self, shape, args, count, names, values)) return -1;
    return arms_read(values[0], values[1], self->takes_rounds, out);
}

PyObject *bandit_decide(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"decide", 1, 1, 3, {"arms", "context", "excluded"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[3];
    arms_reading reading;
    uint8_t *excluded = NULL;
    if (bandit_arguments(self, &SHAPE, args, count, names, values)) return NULL;
    if (arms_read(values[0], values[1], self->takes_rounds, &reading)) return NULL;
    ee_status status = EE_OK;
    ee_error error;
    decision_object *decision = NULL;
    if (excluded_read(values[2], 1, arms_read_count(&reading), &excluded)) goto done;
    decision = decision_new(arms_read_count(&reading));
    if (!decision) goto done;
    PyThreadState *state = bandit_enter(self);
    ee_arms arms;
    ee_decision made = {0};
    status = bandit_arms(self, &reading, true, &arms, &error);
    if (!status && excluded)
        status = ee_bandit_decide_many(self->bandit, &arms, 1, excluded, &made, decision_scores(decision),
                                       decision->probabilities, &error);
    else if (!status)
        status =
            ee_bandit_decide(self->bandit, &arms, &made, decision_scores(decision), decision->probabilities, &error);
    bandit_leave(self, state);
    if (!status) {
        decision_set(decision, &made, arms_read_action(&reading, made.arm));
        decision->bandit = self->number;
    }
done:
    free(excluded);
    arms_release(&reading);
    if (!status) return (PyObject *)decision;
    Py_DECREF(decision);
    return raise_status(status, &error);
}

PyObject *bandit_score(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"score", 1, 1, 2, {"arms", "context"}};
    bandit_object *self = (bandit_object *)object;
    arms_reading reading;
    if (read_arms(&SHAPE, self, args, count, names, &reading)) return NULL;
    ee_status status = EE_OK;
    ee_error error;
    scores_object *scores = scores_new(arms_read_count(&reading));
    if (!scores) goto done;
    PyThreadState *state = bandit_enter(self);
    ee_arms arms;
    status = bandit_arms(self, &reading, false, &arms, &error);
    if (!status) status = ee_bandit_score(self->bandit, &arms, scores->values, &error);
    bandit_leave(self, state);
done:
    arms_release(&reading);
    if (!status) return (PyObject *)scores;
    Py_DECREF(scores);
    return raise_status(status, &error);
}

PyObject *bandit_probabilities(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"probabilities", 1, 1, 2, {"arms", "context"}};
    bandit_object *self = (bandit_object *)object;
    arms_reading reading;
    if (read_arms(&SHAPE, self, args, count, names, &reading)) return NULL;
    size_t arms_count = arms_read_count(&reading);
    double *values = arms_count < PY_SSIZE_T_MAX / sizeof *values ? PyMem_Malloc(arms_count * sizeof *values) : NULL;
    PyObject *result = NULL;
    if (!values) {
        PyErr_NoMemory();
        goto done;
    }
    PyThreadState *state = bandit_enter(self);
    ee_arms arms;
    ee_error error;
    ee_status status = bandit_arms(self, &reading, false, &arms, &error);
    if (!status) status = ee_bandit_probabilities(self->bandit, &arms, values, &error);
    bandit_leave(self, state);
    result = status ? raise_status(status, &error) : array_of_doubles(values, (Py_ssize_t)arms_count);
done:
    PyMem_Free(values);
    arms_release(&reading);
    return result;
}

/* Decides what was read; releases it. */
static PyObject *decide_rounds(bandit_object *self, rounds_call *call)
{
    ee_error error;
    PyThreadState *state = bandit_enter(self);
    ee_status status = bandit_check_count(self->bandit, call->count, &error); /* before names are learned */
    for (size_t i = 0; i < call->count && !status; i++) {
        if (i < call->rounds.count)
            status = bandit_arms(self, &call->rounds.readings[i], true, &call->arms[i], &error);
        else
            call->arms[i] = call->arms[0];
    }
    if (!status)
        status = (call->slots ? ee_bandit_decide_slots
                              : ee_bandit_decide_many)(self->bandit, call->arms, call->count, call->excluded,
                                                       call->made, call->scores, call->probabilities, &error);
    bandit_leave(self, state);
    PyObject *decisions = status ? raise_status(status, &error) : rounds_call_finish(call);
    for (size_t i = 0; decisions && i < call->count; i++)
        ((decision_object *)PyList_GetItem(decisions, (Py_ssize_t)i))->bandit = self->number;
    rounds_call_release(call);
    return decisions;
}

PyObject *bandit_decide_many(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"decide_many", 1, 1, 2, {"rounds", "contexts"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[2];
    rounds_call call;
    if (bandit_arguments(self, &SHAPE, args, count, names, values)) return NULL;
    if (!rounds_call_read_many(&call, self->takes_rounds, values[0], values[1])) return decide_rounds(self, &call);
    rounds_call_release(&call);
    return NULL;
}

PyObject *bandit_decide_slots(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"decide_slots", 1, 2, 4, {"arms", "slots", "contexts", "excluded"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[4];
    rounds_call call;
    if (bandit_arguments(self, &SHAPE, args, count, names, values)) return NULL;
    if (!rounds_call_read_slots(&call, self->takes_rounds, values[0], values[1], values[2], values[3]))
        return decide_rounds(self, &call);
    rounds_call_release(&call);
    return NULL;
}
