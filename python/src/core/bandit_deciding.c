#include "bandit_deciding.h"

#include <string.h>

#include "bandit_object.h"
#include "decision_object.h"
#include "rounds_reading.h"
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
    static const call_shape SHAPE = {"decide", 1, 1, 2, {"arms", "context"}};
    bandit_object *self = (bandit_object *)object;
    arms_reading reading;
    if (read_arms(&SHAPE, self, args, count, names, &reading)) return NULL;
    ee_status status = EE_OK;
    ee_error error;
    decision_object *decision = decision_new(arms_read_count(&reading));
    if (!decision) goto done;
    PyThreadState *state = bandit_enter(self);
    ee_arms arms;
    ee_decision made;
    status = bandit_arms(self, &reading, true, &arms, &error);
    if (!status)
        status =
            ee_bandit_decide(self->bandit, &arms, &made, decision_scores(decision), decision->probabilities, &error);
    bandit_leave(self, state);
    if (!status) decision_set(decision, &made, arms_read_action(&reading, made.arm));
done:
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

/* What decide_many computes with. */
typedef struct many_room {
    PyObject *decisions;   /* a list of as many as there are rounds, made before anything is decided */
    size_t arms;           /* of all rounds */
    ee_decision *made;     /* (rounds) */
    ee_score *scores;      /* (arms) */
    double *probabilities; /* (arms) */
} many_room;

static void many_free(many_room *room)
{
    PyMem_Free(room->made);
    PyMem_Free(room->scores);
    PyMem_Free(room->probabilities);
    Py_XDECREF(room->decisions);
}

static int many_make(const rounds_reading *rounds, many_room *room)
{
    *room = (many_room){.decisions = PyList_New((Py_ssize_t)rounds->count)};
    if (!room->decisions) return -1;
    PyObject_GC_UnTrack(room->decisions); /* nobody finds it before they are decided */
    for (size_t i = 0; i < rounds->count; i++) {
        size_t arms = arms_read_count(&rounds->readings[i]);
        PyObject *decision = (PyObject *)decision_new(arms);
        if (!decision) return -1;
        PyList_SetItem(room->decisions, (Py_ssize_t)i, decision);
        room->arms += arms;
    }
    room->made = PyMem_Malloc((rounds->count + 1) * sizeof *room->made);
    room->scores = PyMem_Malloc((room->arms + 1) * sizeof *room->scores);
    room->probabilities = PyMem_Malloc((room->arms + 1) * sizeof *room->probabilities);
    if (room->made && room->scores && room->probabilities) return 0;
    PyErr_NoMemory();
    return -1;
}

/* Without the GIL. */
static ee_status many_decide(bandit_object *self, rounds_reading *rounds, many_room *room, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < rounds->count && !status; i++)
        status = bandit_arms(self, &rounds->readings[i], true, &rounds->arms[i], error);
    if (status) return status;
    return ee_bandit_decide_many(self->bandit, rounds->arms, rounds->count, room->made, room->scores,
                                 room->probabilities, error);
}

static void many_fill(const rounds_reading *rounds, const many_room *room)
{
    const ee_score *scores = room->scores;
    const double *probabilities = room->probabilities;
    for (Py_ssize_t i = 0; i < PyList_Size(room->decisions); i++) {
        decision_object *decision = (decision_object *)PyList_GetItem(room->decisions, i);
        size_t arms = (size_t)Py_SIZE(decision);
        decision_set(decision, &room->made[i], arms_read_action(&rounds->readings[i], room->made[i].arm));
        memcpy(decision_scores(decision), scores, arms * sizeof *scores);
        memcpy(decision->probabilities, probabilities, arms * sizeof *probabilities);
        scores += arms;
        probabilities += arms;
    }
}

PyObject *bandit_decide_many(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"decide_many", 1, 1, 2, {"rounds", "contexts"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[2], *result = NULL;
    rounds_reading rounds;
    many_room room;
    if (bandit_arguments(self, &SHAPE, args, count, names, values)) return NULL;
    if (rounds_read(values[0], values[1], self->takes_rounds, &rounds)) return NULL;
    if (!many_make(&rounds, &room)) {
        ee_error error;
        PyThreadState *state = bandit_enter(self);
        ee_status status = many_decide(self, &rounds, &room, &error);
        bandit_leave(self, state);
        if (status) {
            raise_status(status, &error);
        } else {
            many_fill(&rounds, &room);
            PyObject_GC_Track(room.decisions);
            result = room.decisions;
            room.decisions = NULL;
        }
    }
    many_free(&room);
    rounds_release(&rounds);
    return result;
}
