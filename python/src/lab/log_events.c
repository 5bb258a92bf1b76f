/* The events of a log as columns of numbers and strings, and how the columns of a CSV log are used. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "interruptible.h"
#include "lab_functions.h"
#include "request_settings.h"
#include "shared/objects.h"
#include "shared/raising.h"

/* Columns with one number per event, then those with several, then strings. */
enum {
    TIME,          /* double */
    ACTION,        /* int64 */
    ACTIONS,       /* int64: how many */
    PROBABILITY,   /* double: of the action taken */
    REWARD,        /* double */
    COPIES,        /* double */
    PROBABILITIES, /* double: of all actions of each event; empty if an event lacks them */
    ARMS,          /* float: of dense arms */
    STARTS,        /* int64: (actions + 1) for each event with sparse arms */
    INDICES,       /* uint32 */
    VALUES,        /* float */
    ID,            /* null-terminated */
    CONTEXT,       /* null-terminated */
    COLUMNS
};

static const char *const names[COLUMNS] = {"time",          "action", "actions", "probability", "reward", "copies",
                                           "probabilities", "arms",   "starts",  "indices",     "values", "id",
                                           "context"};

typedef struct column {
    char *bytes;
    size_t used, capacity;
} column;

typedef struct log_columns {
    const char *path;
    log_options reading;
    column columns[COLUMNS];
    bool lacks_probabilities; /* an event has only the probability of the action taken */
    uint64_t dim, skipped, passed;
    atomic_bool stop;
    ee_status status;
    ee_error error;
} log_columns;

static void append(log_columns *self, size_t place, const void *from, size_t size)
{
    column *into = &self->columns[place];
    if (!self->status)
        self->status = memory_grow(NULL, &into->bytes, &into->capacity, into->used + size, 1, &self->error);
    if (self->status || !size) return;
    memcpy(into->bytes + into->used, from, size);
    into->used += size;
}

static void append_whole(log_columns *self, size_t place, size_t number)
{
    int64_t value = (int64_t)number;
    append(self, place, &value, sizeof value);
}

static void append_text(log_columns *self, size_t place, json_text text)
{
    append(self, place, text.bytes, text.length);
    append(self, place, "", 1);
}

static void append_arms(log_columns *self, const ee_arms *arms)
{
    if (!arms->count) return;
    if (!arms->starts) {
        append(self, ARMS, arms->values, arms->count * arms->dim * sizeof *arms->values);
        return;
    }
    size_t first = arms->starts[0], entries = arms->starts[arms->count] - first;
    for (size_t i = 0; i <= arms->count; i++) append_whole(self, STARTS, arms->starts[i] - first);
    append(self, INDICES, arms->indices + first, entries * sizeof *arms->indices);
    append(self, VALUES, arms->values + first, entries * sizeof *arms->values);
}

static void append_event(log_columns *self, const log_event *event)
{
    append(self, TIME, &event->time, sizeof event->time);
    append_whole(self, ACTION, event->action);
    append_whole(self, ACTIONS, event->count);
    append(self, PROBABILITY, &event->probability, sizeof event->probability);
    append(self, REWARD, &event->reward, sizeof event->reward);
    append(self, COPIES, &event->copies, sizeof event->copies);
    if (!event->probabilities) self->lacks_probabilities = true;
    if (!self->lacks_probabilities)
        append(self, PROBABILITIES, event->probabilities, event->count * sizeof *event->probabilities);
    append_arms(self, &event->arms);
    append_text(self, ID, event->id);
    append_text(self, CONTEXT, event->context);
}

static void read_all(void *context)
{
    log_columns *self = context;
    log_reader *log;
    log_event event;
    bool found = true;
    self->status = log_open(self->path, &self->reading, &log, &self->error);
    if (self->status) return;
    self->dim = log_dim(log);
    while (!self->status && !atomic_load_explicit(&self->stop, memory_order_relaxed)) {
        self->status = log_next(log, &event, &found, &self->error);
        if (self->status || !found) break;
        if (!event.skipped) append_event(self, &event);
    }
    const log_counts *read = log_read(log);
    self->skipped = read->skipped;
    self->passed = read->broken + read->foreign + read->invalid + read->repeated;
    log_close(log);
}

static int set_item(PyObject *into, const char *name, PyObject *value)
{
    int failed = !value || PyDict_SetItemString(into, name, value);
    Py_XDECREF(value);
    return failed;
}

/* Each column as bytes. It is freed at once, because a log may be large. */
static PyObject *make_result(log_columns *self)
{
    PyObject *all = PyDict_New();
    int failed = !all;
    if (self->lacks_probabilities) self->columns[PROBABILITIES].used = 0;
    for (size_t i = 0; i < COLUMNS && !failed; i++) {
        column *one = &self->columns[i];
        failed = set_item(all, names[i], PyBytes_FromStringAndSize(one->bytes, (Py_ssize_t)one->used));
        memory_free(one->bytes);
        one->bytes = NULL;
    }
    if (!failed) failed = set_item(all, "dim", PyLong_FromUnsignedLongLong(self->dim));
    if (!failed) failed = set_item(all, "skipped", PyLong_FromUnsignedLongLong(self->skipped));
    if (!failed) failed = set_item(all, "passed", PyLong_FromUnsignedLongLong(self->passed));
    if (failed) Py_CLEAR(all);
    return all;
}

PyObject *log_events(PyObject *module, PyObject *args)
{
    (void)module;
    log_columns self = {.reading = log_options_usual()};
    PyObject *settings, *result = NULL;
    if (!PyArg_ParseTuple(args, "yO!:log_events", &self.path, &PyDict_Type, &settings)) return NULL;
    if (settings_reading(settings, &self.reading)) return NULL;
    int raised = interruptible_run(read_all, &self, &self.stop);
    if (!raised) result = self.status ? raise_status(self.status, &self.error) : make_result(&self);
    for (size_t i = 0; i < COLUMNS; i++) memory_free(self.columns[i].bytes);
    return result;
}

PyObject *log_describe(PyObject *module, PyObject *args)
{
    (void)module;
    const char *path;
    if (!PyArg_ParseTuple(args, "y:log_describe", &path)) return NULL;
    log_options reading = log_options_usual();
    log_reader *log;
    ee_error error;
    ee_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = log_open(path, &reading, &log, &error);
    Py_END_ALLOW_THREADS;
    if (status) return raise_status(status, &error);
    size_t count;
    const log_column *columns = log_columns_used(log, &count);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < count && list; i++) {
        const log_column *one = &columns[i];
        list_append(&list, Py_BuildValue("NNNN", text_from_bytes(one->name), text_from_bytes(one->role),
                                         PyBool_FromLong(one->context), text_from_bytes(one->reason)));
    }
    log_close(log);
    return list;
}
