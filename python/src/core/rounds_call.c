#include "rounds_call.h"

#include <stdlib.h>
#include <string.h>

#include "decision_object.h"
#include "shared/call_arguments.h"
#include "shared/raising.h"

/* Zeroed memory for at least count elements; NULL with an exception set. */
static void *allocate(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    if (!block) PyErr_NoMemory();
    return block;
}

/* ---- exclusions ---- */

static int copy_excluded(const array_view *view, size_t rows, size_t arms, uint8_t **out)
{
    bool all = view->dimensions == 1;
    if ((view->dimensions != 2 && !all) || (size_t)view->shape[all ? 0 : 1] != arms ||
        (!all && (size_t)view->shape[0] != rows)) {
        if (rows == 1 && all)
            return raise_bad_input("excluded: expected %zu booleans, one per arm, got %zd", arms, view->shape[0]);
        if (rows == 1)
            return raise_bad_input("excluded: expected %zu booleans, one per arm, got %d dimensions", arms,
                                   view->dimensions);
        return raise_bad_input("excluded: expected booleans of shape (%zu slots, %zu arms) or (%zu arms,)", rows, arms,
                               arms);
    }
    *out = allocate(rows, arms + 1);
    if (!*out) return -1;
    for (size_t row = 0; row < rows && arms; row++)
        memcpy(*out + row * arms, (const uint8_t *)view->data + (all ? 0 : row * arms), arms);
    return 0;
}

/* numpy converts any string to True, so ids of arms would exclude all of them. */
static int refuse_texts(PyObject *array)
{
    PyObject *flat = PyObject_CallMethod(array, "ravel", NULL);
    PyObject *list = flat ? PyObject_CallMethod(flat, "tolist", NULL) : NULL;
    int status = list ? 0 : -1;
    for (Py_ssize_t i = 0; !status && i < PyList_Size(list); i++) {
        PyObject *one = PyList_GetItem(list, i);
        if (PyUnicode_Check(one) || PyBytes_Check(one)) status = raise_wrong_type("excluded", "one bool per arm", one);
    }
    Py_XDECREF(list);
    Py_XDECREF(flat);
    return status;
}

int excluded_read(PyObject *excluded, size_t rows, size_t arms, uint8_t **out)
{
    *out = NULL;
    if (!excluded || excluded == Py_None) return 0;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "O", excluded) : NULL;
    PyObject *plain = NULL;
    if (array && !refuse_texts(array)) plain = PyObject_CallMethod(numpy, "ascontiguousarray", "Os", array, "?");
    Py_XDECREF(array);
    Py_XDECREF(numpy);
    array_view view;
    int status = -1;
    if (plain && !array_view_take(plain, &view)) {
        status = view.contiguous && view.size == 1 ? copy_excluded(&view, rows, arms, out)
                                                   : raise_bad_input("excluded: expected an array of booleans");
        array_view_release(&view);
    }
    Py_XDECREF(plain);
    return status;
}

/* ---- reading ---- */

static int read_array(rounds_call *self, PyObject *rounds)
{
    if (array_view_floats(rounds, 3, "rounds", &self->array)) return -1;
    const size_t count = (size_t)self->array.shape[0], arms = (size_t)self->array.shape[1];
    const size_t dim = (size_t)self->array.shape[2];
    self->readings = allocate(count, sizeof *self->readings);
    if (!self->readings) return -1;
    const float *values = self->array.data;
    for (; self->reading_count < count; self->reading_count++, values += arms * dim)
        self->readings[self->reading_count].arms = ee_arms_dense(values, arms, dim);
    return 0;
}

/* items and contexts are tuples; contexts may be NULL. */
static int read_items(rounds_call *self, PyObject *items, PyObject *contexts, bool takes_rounds)
{
    const Py_ssize_t count = PyTuple_Size(items);
    if (contexts && PyTuple_Size(contexts) != count)
        return raise_bad_input("contexts: expected one per round, got %zd contexts for %zd rounds",
                               PyTuple_Size(contexts), count);
    self->readings = allocate((size_t)count, sizeof *self->readings);
    if (!self->readings) return -1;
    for (Py_ssize_t i = 0; i < count; i++, self->reading_count++) {
        PyObject *context = contexts ? PyTuple_GetItem(contexts, i) : NULL;
        if (arms_read(PyTuple_GetItem(items, i), context, takes_rounds, &self->readings[i])) return -1;
    }
    return 0;
}

/* rounds: an array of three dimensions, or a sequence of the arms of each round. contexts: NULL, or one per round. */
static int read_rounds(rounds_call *self, PyObject *rounds, PyObject *contexts, bool takes_rounds)
{
    if (array_is_plain(rounds) && !contexts) return read_array(self, rounds);
    PyObject *items = read_sequence(rounds, "rounds");
    PyObject *shared = items && contexts ? read_sequence(contexts, "contexts") : NULL;
    int failed = !items || (contexts && !shared) ? -1 : read_items(self, items, shared, takes_rounds);
    Py_XDECREF(shared);
    Py_XDECREF(items);
    return failed;
}

/* The same arms for each slot. contexts: NULL, or one per slot. */
static int read_same(rounds_call *self, PyObject *arms, PyObject *contexts, bool takes_rounds)
{
    Py_ssize_t length = contexts ? PyObject_Size(contexts) : 1;
    if (length < 0) return -1;
    if (contexts && (size_t)length != self->count)
        return raise_bad_input("contexts: expected one per slot, got %zd contexts for %zu slots", length, self->count);
    PyObject *one = PyTuple_Pack(1, arms), *each = one ? PySequence_Repeat(one, length) : NULL;
    int status = each ? read_rounds(self, each, contexts, takes_rounds) : -1;
    Py_XDECREF(one);
    Py_XDECREF(each);
    return status;
}

static const arms_reading *reading_of(const rounds_call *self, size_t round)
{
    return &self->readings[round < self->reading_count ? round : 0];
}

/* Creates the decisions, and memory for their contents. */
static int reserve(rounds_call *self)
{
    size_t cells = 0;
    self->decisions = PyList_New((Py_ssize_t)self->count);
    if (!self->decisions) return -1;
    PyObject_GC_UnTrack(self->decisions); /* hidden from the garbage collector until they are decided */
    for (size_t i = 0; i < self->count; i++) {
        size_t arms = arms_read_count(reading_of(self, i));
        PyObject *decision = (PyObject *)decision_new(arms);
        if (!decision) return -1;
        PyList_SetItem(self->decisions, (Py_ssize_t)i, decision);
        cells += arms;
    }
    self->arms = allocate(self->count, sizeof *self->arms);
    if (self->arms) self->made = allocate(self->count, sizeof *self->made);
    if (self->made) self->scores = allocate(cells, sizeof *self->scores);
    if (self->scores) self->probabilities = allocate(cells, sizeof *self->probabilities);
    return self->probabilities ? 0 : -1;
}

int rounds_call_read_many(rounds_call *self, bool takes_rounds, PyObject *rounds, PyObject *contexts)
{
    *self = (rounds_call){.slots = false};
    if (read_rounds(self, rounds, contexts == Py_None ? NULL : contexts, takes_rounds)) return -1;
    self->count = self->reading_count;
    return reserve(self);
}

/* The library checks this too, but only after names are learned. */
static int check_alike(const rounds_call *self, size_t arms)
{
    for (size_t i = 0; i < self->reading_count; i++) {
        size_t found = arms_read_count(&self->readings[i]);
        if (found != arms)
            return raise_bad_input("decide_slots: all slots need the same arms, but slot 0 has %zu and slot %zu has "
                                   "%zu",
                                   arms, i, found);
    }
    if (self->count <= arms) return 0;
    return raise_bad_input("decide_slots: each slot needs a different arm, got %zu slots and %zu arms", self->count,
                           arms);
}

int rounds_call_read_slots(rounds_call *self, bool takes_rounds, PyObject *arms, PyObject *slots, PyObject *contexts,
                           PyObject *excluded)
{
    *self = (rounds_call){.slots = true};
    bool same = slots && slots != Py_None;
    uint64_t number = 0;
    if (contexts == Py_None) contexts = NULL;
    if (same && read_whole(slots, "slots", UINT32_MAX, &number)) return -1;
    self->count = (size_t)number;
    if (same ? read_same(self, arms, contexts, takes_rounds) : read_rounds(self, arms, contexts, takes_rounds))
        return -1;
    if (!same) self->count = self->reading_count;
    size_t each = self->reading_count ? arms_read_count(&self->readings[0]) : 0;
    if (check_alike(self, each) || excluded_read(excluded, self->count, each, &self->excluded)) return -1;
    return reserve(self);
}

/* ---- what was decided ---- */

PyObject *rounds_call_finish(rounds_call *self)
{
    const ee_score *scores = self->scores;
    const double *probabilities = self->probabilities;
    for (size_t i = 0; i < self->count; i++) {
        decision_object *decision = (decision_object *)PyList_GetItem(self->decisions, (Py_ssize_t)i);
        size_t arms = (size_t)Py_SIZE(decision);
        decision_set(decision, &self->made[i], arms_read_action(reading_of(self, i), self->made[i].arm));
        memcpy(decision_scores(decision), scores, arms * sizeof *scores);
        memcpy(decision->probabilities, probabilities, arms * sizeof *probabilities);
        scores += arms;
        probabilities += arms;
    }
    PyObject *list = self->decisions;
    self->decisions = NULL;
    PyObject_GC_Track(list);
    return list;
}

void rounds_call_release(rounds_call *self)
{
    for (size_t i = 0; i < self->reading_count; i++) arms_release(&self->readings[i]);
    array_view_release(&self->array);
    free(self->readings);
    free(self->arms);
    free(self->excluded);
    free(self->made);
    free(self->scores);
    free(self->probabilities);
    Py_XDECREF(self->decisions);
}
