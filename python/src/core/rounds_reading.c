#include "rounds_reading.h"

#include "shared/raising.h"

static int make_room(rounds_reading *self, size_t count)
{
    const size_t most = PY_SSIZE_T_MAX / sizeof *self->readings;
    self->readings = count < most ? PyMem_Malloc((count + !count) * sizeof *self->readings) : NULL;
    self->arms = self->readings ? PyMem_Malloc((count + !count) * sizeof *self->arms) : NULL;
    if (self->arms) return 0;
    PyErr_NoMemory();
    return -1;
}

static int read_array(PyObject *rounds, rounds_reading *out)
{
    if (array_view_floats(rounds, 3, "rounds", &out->array)) return -1;
    const size_t arms = (size_t)out->array.shape[1], dim = (size_t)out->array.shape[2];
    if (make_room(out, (size_t)out->array.shape[0])) return -1;
    const float *values = out->array.data;
    for (; out->count < (size_t)out->array.shape[0]; out->count++)
        out->readings[out->count] = (arms_reading){.arms = ee_arms_dense(values + out->count * arms * dim, arms, dim)};
    return 0;
}

/* items and contexts are tuples, contexts may be NULL. */
static int read_items(PyObject *items, PyObject *contexts, bool takes_rounds, rounds_reading *out)
{
    const Py_ssize_t count = PyTuple_Size(items);
    if (contexts && PyTuple_Size(contexts) != count) {
        raise_bad_input("contexts: expected one per round, got %zd contexts for %zd rounds", PyTuple_Size(contexts),
                        count);
        return -1;
    }
    if (make_room(out, (size_t)count)) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *context = contexts ? PyTuple_GetItem(contexts, i) : NULL;
        if (arms_read(PyTuple_GetItem(items, i), context, takes_rounds, &out->readings[i])) return -1;
        out->count++;
    }
    return 0;
}

static PyObject *as_tuple(PyObject *sequence, const char *what)
{
    PyObject *tuple = PySequence_Tuple(sequence);
    if (!tuple && PyErr_ExceptionMatches(PyExc_TypeError)) raise_wrong_type(what, "a sequence", sequence);
    return tuple;
}

static int read_sequence(PyObject *rounds, PyObject *contexts, bool takes_rounds, rounds_reading *out)
{
    PyObject *items = as_tuple(rounds, "rounds");
    if (!items) return -1;
    PyObject *shared = contexts ? as_tuple(contexts, "contexts") : NULL;
    int failed = contexts && !shared ? -1 : read_items(items, shared, takes_rounds, out);
    Py_XDECREF(shared);
    Py_DECREF(items);
    return failed;
}

int rounds_read(PyObject *rounds, PyObject *contexts, bool takes_rounds, rounds_reading *out)
{
    *out = (rounds_reading){.count = 0};
    if (contexts == Py_None) contexts = NULL;
    const bool one_array = array_is_plain(rounds) && !contexts;
    int failed = one_array ? read_array(rounds, out) : read_sequence(rounds, contexts, takes_rounds, out);
    if (failed) rounds_release(out);
    return failed;
}

void rounds_release(rounds_reading *self)
{
    for (size_t i = 0; i < self->count; i++) arms_release(&self->readings[i]);
    array_view_release(&self->array);
    PyMem_Free(self->readings);
    PyMem_Free(self->arms);
}
