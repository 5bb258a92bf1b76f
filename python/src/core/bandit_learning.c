/* Methods of Bandit that learn or forget. */
#include "bandit_methods.h"
#include "bandit_object.h"
#include "decision_object.h"
#include "engine/bandit.h"
#include "shared/raising.h"

static PyObject *none_or_raise(ee_status status, const ee_error *error)
{
    if (status) return raise_status(status, error);
    Py_RETURN_NONE;
}

/* Reads the id of a Decision, or an id. Each bandit counts its ids from 1, so a decision of another bandit is
 * refused. */
static int read_id(const bandit_object *self, PyObject *object, uint64_t *id)
{
    if (decision_is(object)) {
        const decision_object *decision = (const decision_object *)object;
        *id = decision->id;
        if (!decision->bandit || !self->number || decision->bandit == self->number) return 0;
        ee_error error = {.status = EE_UNKNOWN_DECISION, .message = "this decision was made by another bandit"};
        raise_status(EE_UNKNOWN_DECISION, &error);
        return -1;
    }
    if (!read_whole(object, "decision", UINT64_MAX, id)) return 0;
    if (PyErr_ExceptionMatches(PyExc_TypeError)) raise_wrong_type("decision", "a Decision or its id", object);
    return -1;
}

/* ---- rewards ---- */

typedef struct reward_row {
    uint64_t id;
    const char *record; /* (size) for a decision of a snapshot; NULL: use the id */
    size_t size;
    double reward;
} reward_row;

static int read_row(const bandit_object *self, PyObject *decision, PyObject *reward, reward_row *out)
{
    *out = (reward_row){0};
    if (read_number(reward, "reward", &out->reward)) return -1;
    PyObject *record = decision_is(decision) ? ((decision_object *)decision)->record : NULL;
    if (!record) return read_id(self, decision, &out->id);
    out->record = PyBytes_AsString(record);
    out->size = (size_t)PyBytes_Size(record);
    return 0;
}

/* *learned: how many rewards were learned before the first error. */
static ee_status learn_rows(bandit_object *self, const reward_row *rows, Py_ssize_t count, Py_ssize_t *learned,
                            ee_error *error)
{
    ee_status status = EE_OK;
    PyThreadState *state = bandit_enter(self);
    for (*learned = 0; *learned < count && !status; *learned += !status) {
        const reward_row *row = &rows[*learned];
        status = row->record ? ee_bandit_learn_record(self->bandit, row->record, row->size, row->reward, error)
                             : ee_bandit_learn(self->bandit, row->id, row->reward, error);
    }
    bandit_leave(self, state);
    return status;
}

static PyObject *learn_row(bandit_object *self, const reward_row *row)
{
    Py_ssize_t learned;
    ee_error error;
    ee_status status = learn_rows(self, row, 1, &learned, &error);
    return none_or_raise(status, &error);
}

PyObject *bandit_learn(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"learn", 2, 2, 2, {"decision", "reward"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[2];
    reward_row row;
    if (bandit_arguments(object, &SHAPE, args, count, names, values) || read_row(self, values[0], values[1], &row))
        return NULL;
    return learn_row(self, &row);
}

/* The rows of two tuples, to be freed with PyMem_Free; NULL with an exception set. */
static reward_row *read_rows(const bandit_object *self, PyObject *decisions, PyObject *rewards)
{
    Py_ssize_t count = PyTuple_Size(decisions);
    if (PyTuple_Size(rewards) != count)
        return raise_bad_input("learn_many: expected one reward per decision, got %zd decisions and %zd rewards", count,
                               PyTuple_Size(rewards)),
               NULL;
    reward_row *rows = PyMem_Malloc((size_t)(count + 1) * sizeof *rows);
    if (!rows) PyErr_NoMemory();
    for (Py_ssize_t i = 0; rows && i < count; i++) {
        if (!read_row(self, PyTuple_GetItem(decisions, i), PyTuple_GetItem(rewards, i), &rows[i])) continue;
        PyMem_Free(rows);
        return NULL;
    }
    return rows;
}

/* Sets the attribute `learned` of the current exception. */
static void set_learned(Py_ssize_t learned)
{
    PyObject *type, *value, *traceback, *number;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    number = PyLong_FromSsize_t(learned);
    if (!number || !value || PyObject_SetAttrString(value, "learned", number)) PyErr_Clear();
    Py_XDECREF(number);
    PyErr_Restore(type, value, traceback);
}

PyObject *bandit_learn_many(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"learn_many", 2, 2, 2, {"decisions", "rewards"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[2], *result = NULL;
    if (bandit_arguments(object, &SHAPE, args, count, names, values)) return NULL;
    PyObject *decisions = read_sequence(values[0], "decisions");
    PyObject *rewards = decisions ? read_sequence(values[1], "rewards") : NULL;
    reward_row *rows = rewards ? read_rows(self, decisions, rewards) : NULL;
    if (rows) {
        Py_ssize_t learned;
        ee_error error;
        ee_status status = learn_rows(self, rows, PyTuple_Size(decisions), &learned, &error);
        result = none_or_raise(status, &error);
        if (status) set_learned(learned);
    }
    PyMem_Free(rows);
    Py_XDECREF(decisions);
    Py_XDECREF(rewards);
    return result;
}

PyObject *bandit_learn_from(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"learn_from", 3, 3, 4, {"arms", "arm", "reward", "context"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[4];
    uint64_t arm;
    double reward;
    if (bandit_arguments(object, &SHAPE, args, count, names, values) || read_whole(values[1], "arm", SIZE_MAX, &arm) ||
        read_number(values[2], "reward", &reward))
        return NULL;
    arms_reading reading;
    if (arms_read(values[0], values[3], self->takes_rounds, &reading)) return NULL;
    ee_arms arms;
    ee_error error;
    PyThreadState *state = bandit_enter(self);
    ee_status status = EE_OK;
    if (reading.round) /* checked before its names are learned, so that a refused call changes nothing */
        status = bandit_check_logged(self->bandit, arms_read_count(&reading), (size_t)arm, reward, &error);
    if (!status) status = bandit_arms(self, &reading, true, &arms, &error);
    if (!status) status = ee_bandit_learn_from(self->bandit, &arms, (size_t)arm, reward, &error);
    bandit_leave(self, state);
    arms_release(&reading);
    return none_or_raise(status, &error);
}

/* The bytes of a record, from bytes or from a Decision that has one. A new reference. */
static PyObject *record_of(PyObject *object)
{
    if (!decision_is(object)) return PyBytes_FromObject(object);
    PyObject *record = ((decision_object *)object)->record;
    if (!record) raise_bad_input("record: only decisions of a snapshot have one; use learn for this decision");
    Py_XINCREF(record);
    return record;
}

PyObject *bandit_learn_record(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"learn_record", 2, 2, 2, {"record", "reward"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[2];
    double reward;
    if (bandit_arguments(object, &SHAPE, args, count, names, values) || read_number(values[1], "reward", &reward))
        return NULL;
    PyObject *record = record_of(values[0]);
    if (!record) return NULL;
    reward_row row = {.record = PyBytes_AsString(record), .size = (size_t)PyBytes_Size(record), .reward = reward};
    PyObject *result = learn_row(self, &row);
    Py_DECREF(record);
    return result;
}

PyObject *bandit_take_record(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"take_record", 1, 1, 1, {"record"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *value;
    if (bandit_arguments(object, &SHAPE, args, count, names, &value)) return NULL;
    PyObject *record = record_of(value);
    if (!record) return NULL;
    const char *bytes = PyBytes_AsString(record);
    size_t size = (size_t)PyBytes_Size(record);
    ee_decision made = {0};
    ee_error error;
    PyThreadState *state = bandit_enter(self);
    ee_status status = ee_bandit_take_record(self->bandit, bytes, size, &made, &error);
    bandit_leave(self, state);
    Py_DECREF(record);
    return status ? raise_status(status, &error) : PyLong_FromUnsignedLongLong(made.id);
}

PyObject *bandit_forget(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"forget", 1, 1, 1, {"decision"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *value;
    uint64_t id;
    if (bandit_arguments(object, &SHAPE, args, count, names, &value) || read_id(self, value, &id)) return NULL;
    ee_error error;
    PyThreadState *state = bandit_enter(self);
    ee_status status = ee_bandit_forget(self->bandit, id, &error);
    bandit_leave(self, state);
    return none_or_raise(status, &error);
}

PyObject *bandit_set_time(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"set_time", 1, 1, 1, {"now"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *value;
    double now;
    if (bandit_arguments(object, &SHAPE, args, count, names, &value) || read_number(value, "now", &now)) return NULL;
    ee_error error;
    PyThreadState *state = bandit_enter(self);
    ee_status status = ee_bandit_set_time(self->bandit, now, &error);
    bandit_leave(self, state);
    return none_or_raise(status, &error);
}

PyObject *bandit_learn_names(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"learn_names", 1, 1, 2, {"arms", "context"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[2];
    arms_reading reading;
    if (bandit_arguments(object, &SHAPE, args, count, names, values)) return NULL;
    if (arms_read(values[0], values[1], self->takes_rounds, &reading)) return NULL;
    ee_error error;
    ee_arms arms;
    ee_status status = EE_OK;
    if (reading.round) {
        PyThreadState *state = bandit_enter(self);
        status = bandit_arms(self, &reading, true, &arms, &error);
        bandit_leave(self, state);
    } else {
        status =
            status_fail(&error, EE_BAD_INPUT, "learn_names: expected named features (a list of mappings), got vectors");
    }
    arms_release(&reading);
    return none_or_raise(status, &error);
}
