#include "deciding.h"

#include <stdlib.h>

#include "decision_object.h"
#include "engine/bandit.h"
#include "features/features.h"
#include "scores_object.h"
#include "shared/raising.h"

/* A bandit with named features also accepts vectors of its full dimension; any others are probably a mistake. */
static ee_status check_vectors(const bandit_object *self, const ee_arms *arms, ee_error *error)
{
    if (arms->dim == (size_t)self->dim) return EE_OK;
    return status_fail(error, EE_BAD_INPUT,
                       "arms: expected named features, such as [{'price': 9.5}], because of features=True; got vectors "
                       "of dimension %zu",
                       arms->dim);
}

ee_status bandit_arms(bandit_object *self, arms_reading *reading, bool learns, ee_arms *out, ee_error *error)
{
    *out = reading->arms;
    if (!reading->round) return self->takes_rounds ? check_vectors(self, out, error) : EE_OK;
    if (learns) return ee_bandit_arms(self->bandit, reading->round, out, error);
    return features_encode(self->bandit->features, reading->round, out, error);
}

/* Needs no GIL, like every function here that returns a status. */
static ee_status find_arms(const decider *self, arms_reading *reading, bool learns, ee_arms *out, ee_error *error)
{
    if (!self->snapshot) return bandit_arms(self->bandit, reading, learns, out, error);
    *out = reading->arms;
    return reading->round ? ee_snapshot_arms(self->snapshot, reading->round, out, error) : EE_OK;
}

/* ---- decisions ---- */

/* Stores which bandit decided; for a snapshot, the record from which a bandit learns the decision. */
static int add_origin(const decider *self, decision_object *decision, size_t index)
{
    const void *bytes;
    size_t size;
    ee_error error;
    if (!self->snapshot) {
        decision->bandit = self->bandit->number;
        return 0;
    }
    ee_status status = ee_scratch_record(self->scratch, index, &bytes, &size, &error);
    decision->record = status ? raise_status(status, &error) : PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    return decision->record ? 0 : -1;
}

static ee_status decide(const decider *self, arms_reading *reading, const uint8_t *excluded, ee_decision *made,
                        decision_object *into, ee_error *error)
{
    ee_bandit *bandit = self->bandit->bandit;
    ee_score *scores = decision_scores(into);
    if (self->snapshot && reading->round && !excluded)
        return ee_snapshot_decide_round(self->snapshot, self->scratch, reading->round, made, scores,
                                        into->probabilities, error);
    ee_arms arms;
    ee_status status = find_arms(self, reading, true, &arms, error);
    if (status) return status;
    if (self->snapshot)
        return ee_snapshot_decide_many(self->snapshot, self->scratch, &arms, 1, excluded, made, scores,
                                       into->probabilities, error);
    if (!excluded) return ee_bandit_decide(bandit, &arms, made, scores, into->probabilities, error);
    return ee_bandit_decide_many(bandit, &arms, 1, excluded, made, scores, into->probabilities, error);
}

PyObject *decider_decide(const decider *self, arms_reading *reading, PyObject *argument)
{
    uint8_t *excluded;
    if (excluded_read(argument, 1, arms_read_count(reading), &excluded)) return NULL;
    decision_object *decision = decision_new(arms_read_count(reading));
    if (decision) {
        ee_decision made = {0};
        ee_error error;
        PyThreadState *state = decider_enter(self);
        ee_status status = decide(self, reading, excluded, &made, decision, &error);
        decider_leave(self, state);
        if (status)
            raise_status(status, &error);
        else
            decision_set(decision, &made, arms_read_action(reading, made.arm));
        if (status || add_origin(self, decision, 0)) Py_CLEAR(decision);
    }
    free(excluded);
    return (PyObject *)decision;
}

static ee_status decide_rounds(const decider *self, rounds_call *call, ee_error *error)
{
    ee_bandit *bandit = self->bandit->bandit;
    ee_status status = EE_OK;
    if (!self->snapshot) status = bandit_check_count(bandit, call->count, error); /* before names are learned */
    for (size_t i = 0; i < call->count && !status; i++) {
        if (i < call->reading_count)
            status = find_arms(self, &call->readings[i], true, &call->arms[i], error);
        else
            call->arms[i] = call->arms[0];
    }
    if (status) return status;
    if (!self->snapshot)
        return (call->slots ? ee_bandit_decide_slots : ee_bandit_decide_many)(
            bandit, call->arms, call->count, call->excluded, call->made, call->scores, call->probabilities, error);
    return (call->slots ? ee_snapshot_decide_slots : ee_snapshot_decide_many)(self->snapshot, self->scratch, call->arms,
                                                                              call->count, call->excluded, call->made,
                                                                              call->scores, call->probabilities, error);
}

PyObject *decider_decide_rounds(const decider *self, rounds_call *call)
{
    ee_error error;
    PyThreadState *state = decider_enter(self);
    ee_status status = decide_rounds(self, call, &error);
    decider_leave(self, state);
    PyObject *decisions = status ? raise_status(status, &error) : rounds_call_finish(call);
    for (Py_ssize_t i = 0; decisions && i < (Py_ssize_t)call->count; i++)
        if (add_origin(self, (decision_object *)PyList_GetItem(decisions, i), (size_t)i)) Py_CLEAR(decisions);
    return decisions;
}

/* ---- scores and probabilities ---- */

PyObject *decider_score(const decider *self, arms_reading *reading, PyObject *argument)
{
    (void)argument;
    scores_object *scores = scores_new(arms_read_count(reading));
    if (!scores) return NULL;
    ee_arms arms;
    ee_error error;
    PyThreadState *state = decider_enter(self);
    ee_status status = find_arms(self, reading, false, &arms, &error);
    if (!status && self->snapshot)
        status = ee_snapshot_score(self->snapshot, self->scratch, &arms, scores->values, &error);
    else if (!status)
        status = ee_bandit_score(self->bandit->bandit, &arms, scores->values, &error);
    decider_leave(self, state);
    if (!status) return (PyObject *)scores;
    Py_DECREF(scores);
    return raise_status(status, &error);
}

PyObject *decider_probabilities(const decider *self, arms_reading *reading, PyObject *argument)
{
    (void)argument;
    const Py_ssize_t count = (Py_ssize_t)arms_read_count(reading), size = sizeof(double);
    PyObject *bytes = count < PY_SSIZE_T_MAX / size ? PyBytes_FromStringAndSize(NULL, count * size) : PyErr_NoMemory();
    if (!bytes) return NULL;
    double *values = (void *)PyBytes_AsString(bytes);
    ee_arms arms;
    ee_error error;
    PyThreadState *state = decider_enter(self);
    ee_status status = find_arms(self, reading, false, &arms, &error);
    if (!status && self->snapshot)
        status = ee_snapshot_probabilities(self->snapshot, self->scratch, &arms, values, &error);
    else if (!status)
        status = ee_bandit_probabilities(self->bandit->bandit, &arms, values, &error);
    decider_leave(self, state);
    PyObject *result = status ? raise_status(status, &error) : array_from_bytes(bytes, "f8", 1, &count);
    Py_DECREF(bytes);
    return result;
}
