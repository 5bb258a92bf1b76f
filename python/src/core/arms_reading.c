#include "arms_reading.h"

#include "named_reading.h"
#include "named_value.h"
#include "shared/objects.h"
#include "shared/raising.h"
#include "sparse_reading.h"

/* ---- vectors ---- */

/* Runs no user code, so the list cannot change meanwhile. */
static bool read_float(PyObject *object, float *out)
{
    if (!PyFloat_CheckExact(object) && !PyLong_CheckExact(object)) return false;
    double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) { /* an int larger than any float */
        PyErr_Clear();
        return false;
    }
    *out = (float)value;
    return true;
}

static bool read_row(PyObject *row, Py_ssize_t length, float *out)
{
    if (!PyList_CheckExact(row) || PyList_Size(row) != length) return false;
    for (Py_ssize_t i = 0; i < length; i++)
        if (!read_float(PyList_GetItem(row, i), &out[i])) return false;
    return true;
}

/* A view of a list of equally long lists of float and int, five times as fast as through numpy. Returns 0, 1 for
 * anything else (left to numpy), or -1 with an exception set. */
static int read_lists(PyObject *arms, array_view *out)
{
    if (!PyList_CheckExact(arms) || !PyList_Size(arms) || !PyList_CheckExact(PyList_GetItem(arms, 0))) return 1;
    const Py_ssize_t rows = PyList_Size(arms), length = PyList_Size(PyList_GetItem(arms, 0));
    const Py_ssize_t row_bytes = length * (Py_ssize_t)sizeof(float);
    if (!length || rows > PY_SSIZE_T_MAX / row_bytes) return 1;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, rows * row_bytes);
    if (!bytes) return -1;
    float *values = (void *)PyBytes_AsString(bytes);
    for (Py_ssize_t i = 0; i < rows; i++) {
        if (read_row(PyList_GetItem(arms, i), length, values + i * length)) continue;
        Py_DECREF(bytes);
        return 1;
    }
    *out = (array_view){.owner = bytes,
                        .dimensions = 2,
                        .shape = {rows, length},
                        .strides = {row_bytes, sizeof(float)},
                        .data = values,
                        .kind = 'f',
                        .size = sizeof(float),
                        .contiguous = 1};
    return 0;
}

static int read_dense(PyObject *arms, arms_reading *out)
{
    int other = read_lists(arms, &out->values);
    if (other > 0) other = array_view_floats(arms, 2, "arms", &out->values);
    if (other) return -1;
    out->arms = ee_arms_dense(out->values.data, (size_t)out->values.shape[0], (size_t)out->values.shape[1]);
    return 0;
}

static int read_named(PyObject *arms, PyObject *ids, PyObject *context, bool takes_rounds, arms_reading *out)
{
    if (!takes_rounds)
        return raise_bad_input("arms: this bandit expects vectors; for named features create it with features=True");
    out->round = named_read(arms, ids, context);
    return out->round ? 0 : -1;
}

static int refuse_context(void)
{
    return raise_bad_input("context: only named features take a context, but the arms are vectors");
}

/* Reads named features or vectors that are neither a plain array nor sparse. ids: NULL, or as in named_read. */
static int read_either(PyObject *arms, PyObject *ids, PyObject *context, bool takes_rounds, arms_reading *out)
{
    if (!named_is(arms, context, takes_rounds)) return read_dense(arms, out);
    return read_named(arms, ids, context, takes_rounds, out);
}

/* ---- actions ---- */

static int refuse_mapping(PyObject *id, PyObject *features)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(features), "__name__");
    if (name)
        PyErr_Format(PyExc_TypeError,
                     "arms: expected features for each id, such as {'a7': {'price': 9.5}}, got %S for %.80R", name, id);
    Py_XDECREF(name);
    return -1;
}

/* Splits (id, features) pairs into a tuple of ids and a tuple of features. */
static int split_items(PyObject *items, PyObject *ids, PyObject *features)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(ids); i++) {
        PyObject *id, *value;
        if (!PyArg_ParseTuple(PyList_GetItem(items, i), "OO;items() of a mapping must return pairs", &id, &value))
            return -1;
        if (PyUnicode_Check(value) || PyBytes_Check(value) || PyFloat_Check(value) || PyLong_Check(value) ||
            value == Py_None)
            return refuse_mapping(id, value);
        Py_INCREF(id);
        Py_INCREF(value);
        PyTuple_SetItem(ids, i, id);
        PyTuple_SetItem(features, i, value);
    }
    return 0;
}

/* Gives vectors the ids of their mapping. */
static int set_ids(PyObject *ids, arms_reading *out)
{
    uint64_t *numbers = PyMem_Malloc((out->arms.count + 1) * sizeof *numbers);
    out->buffer = numbers;
    if (!numbers) PyErr_NoMemory();
    for (size_t i = 0; numbers && i < out->arms.count; i++) {
        PyObject *text = PyObject_Str(PyTuple_GetItem(ids, (Py_ssize_t)i));
        PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
        if (bytes) numbers[i] = ee_arm_id(PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
        Py_XDECREF(text);
        Py_XDECREF(bytes);
        if (!bytes) numbers = NULL;
    }
    out->arms.ids = numbers;
    return numbers ? 0 : -1;
}

/* A mapping of ids to features or vectors. */
static int read_mapping(PyObject *arms, PyObject *context, bool takes_rounds, arms_reading *out)
{
    PyObject *items = PyMapping_Items(arms);
    if (!items) return -1;
    Py_ssize_t count = PyList_Size(items);
    PyObject *ids = PyTuple_New(count), *features = ids ? PyTuple_New(count) : NULL;
    int failed = features ? split_items(items, ids, features) : -1;
    if (!failed) failed = read_either(features, ids, context, takes_rounds, out);
    if (!failed && !out->round && set_ids(ids, out)) {
        arms_release(out);
        failed = -1;
    }
    Py_DECREF(items);
    Py_XDECREF(features);
    if (failed)
        Py_XDECREF(ids);
    else
        out->actions = ids;
    return failed;
}

/* Whether arms is a mapping of ids (a mapping with "_multi" is a whole round); -1 with an exception set. */
static int has_ids(PyObject *arms)
{
    if (PyList_Check(arms) || PyTuple_Check(arms) || PyUnicode_Check(arms) || PyBytes_Check(arms)) return 0;
    if (!PyDict_Check(arms)) {
        int frame = named_is_frame(arms), mapping = frame ? 0 : named_is_mapping(arms);
        if (frame < 0 || mapping <= 0) return frame < 0 ? -1 : mapping;
    }
    return !PyMapping_HasKeyString(arms, "_multi");
}

/* *actions: a new reference to the sequence of actions, or NULL if there is none. 0, or -1 with an exception set. */
static int find_actions(PyObject *arms, PyObject **actions)
{
    *actions = NULL;
    if (PyList_Check(arms) || PyTuple_Check(arms)) {
        *actions = PySequence_Tuple(arms); /* a list may change before the arm is chosen */
        return *actions ? 0 : -1;
    }
    int frame = PyUnicode_Check(arms) || PyBytes_Check(arms) ? 0 : named_is_frame(arms);
    if (frame > 0) frame = object_attribute(arms, "index", actions);
    return frame < 0 ? -1 : 0;
}

PyObject *arms_read_action(const arms_reading *self, size_t arm)
{
    if (!self->actions) return NULL;
    PyObject *action = PySequence_GetItem(self->actions, (Py_ssize_t)arm);
    if (!action) PyErr_Clear();
    return action;
}

/* ---- reading ---- */

int arms_read(PyObject *arms, PyObject *context, bool takes_rounds, arms_reading *out)
{
    *out = (arms_reading){.round = NULL};
    if (array_is_plain(arms)) {
        if (!context || context == Py_None) return read_dense(arms, out);
        return refuse_context();
    }
    int sparse = sparse_is(arms); /* first, because scipy's dok_matrix is also a dict */
    if (sparse < 0) return -1;
    if (sparse) return context && context != Py_None ? refuse_context() : sparse_read(arms, out);
    int mapping = has_ids(arms);
    if (mapping) return mapping < 0 ? -1 : read_mapping(arms, context, takes_rounds, out);
    PyObject *actions;
    if (find_actions(arms, &actions)) return -1;
    int failed = read_either(arms, NULL, context, takes_rounds, out);
    if (failed)
        Py_XDECREF(actions);
    else
        out->actions = actions;
    return failed;
}

void arms_release(arms_reading *self)
{
    Py_XDECREF(self->actions);
    array_view_release(&self->values);
    PyMem_Free(self->buffer);
    named_release(self->round);
    if (!self->limits) return;
    PyMem_Free(self->limits->boosts);
    PyMem_Free(self->limits->groups);
    PyMem_Free(self->limits->bounds);
    PyMem_Free(self->limits);
}

size_t arms_read_count(const arms_reading *self)
{
    return self->round ? ee_round_count(self->round) : self->arms.count;
}
