#include "slots_deciding.h"

#include <stdlib.h>
#include <string.h>

#include "bandit_object.h"
#include "decision_object.h"
#include "rounds_reading.h"
#include "shared/array_view.h"
#include "shared/call_arguments.h"
#include "shared/raising.h"

/* A call, from what was read to what was decided. */
typedef struct slots_call {
    size_t slots, arms;    /* arms of each slot */
    rounds_reading rounds; /* one for each slot, or one that serves all */
    ee_arms *seen;         /* (slots) */
    uint8_t *excluded;     /* (slots, arms) or NULL */
    ee_decision *decisions;
    ee_score *scores;      /* (slots, arms) */
    double *probabilities; /* (slots, arms) */
} slots_call;

static void release(slots_call *self)
{
    rounds_release(&self->rounds);
    free(self->seen);
    free(self->excluded);
    free(self->decisions);
    free(self->scores);
    free(self->probabilities);
}

/* Zeros, at least one; NULL with an exception set. */
static void *room(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    if (!block) PyErr_NoMemory();
    return block;
}

/* ---- reading ---- */

/* The same arms for each slot, which then may have a context of its own. */
static int read_same(slots_call *self, bandit_object *bandit, PyObject *arms, PyObject *contexts)
{
    Py_ssize_t length = contexts ? PyObject_Size(contexts) : 1;
    if (length < 0) return -1;
    if (contexts && (size_t)length != self->slots) {
        raise_bad_input("contexts: one for each slot is needed, these are %zd for %zu slots", length, self->slots);
        return -1;
    }
    PyObject *one = PyTuple_Pack(1, arms), *each = one ? PySequence_Repeat(one, length) : NULL;
    int status = each ? rounds_read(each, contexts, bandit->takes_rounds, &self->rounds) : -1;
    Py_XDECREF(one);
    Py_XDECREF(each);
    return status;
}

/* The library does so too, but after names were learned. */
static int check_alike(const slots_call *self)
{
    for (size_t i = 0; i < self->rounds.count; i++) {
        size_t arms = arms_read_count(&self->rounds.readings[i]);
        if (arms == self->arms) continue;
        raise_bad_input("decide_slots: slot 0 has %zu arms and slot %zu has %zu; slots choose among the same arms",
                        self->arms, i, arms);
        return -1;
    }
    return 0;
}

/* slots: a number, whose slots all have these arms; or None, and arms is a list. */
static int read_slots(slots_call *self, bandit_object *bandit, PyObject *arms, PyObject *slots, PyObject *contexts)
{
    bool same = slots && slots != Py_None;
    uint64_t number = 0;
    if (contexts == Py_None) contexts = NULL;
    if (same && read_whole(slots, "slots", UINT32_MAX, &number)) return -1;
    self->slots = (size_t)number;
    int status = same ? read_same(self, bandit, arms, contexts)
                      : rounds_read(arms, contexts, bandit->takes_rounds, &self->rounds);
    if (status) {
        self->rounds = (rounds_reading){.count = 0}; /* there is nothing to release */
        return -1;
    }
    if (!same) self->slots = self->rounds.count;
    self->arms = self->rounds.count ? arms_read_count(&self->rounds.readings[0]) : 0;
    if (self->slots <= self->arms) return check_alike(self);
    raise_bad_input("decide_slots: there are %zu slots and %zu arms; each slot takes another one", self->slots,
                    self->arms);
    return -1;
}

/* Truth values of (slots, arms), or of (arms) for all slots. */
static int copy_excluded(slots_call *self, const array_view *view)
{
    bool all = view->dimensions == 1;
    if ((view->dimensions != 2 && !all) || (size_t)view->shape[all ? 0 : 1] != self->arms ||
        (!all && (size_t)view->shape[0] != self->slots)) {
        raise_bad_input("excluded: an array of (%zu slots, %zu arms) is needed, or of (%zu arms)", self->slots,
                        self->arms, self->arms);
        return -1;
    }
    self->excluded = room(self->slots, self->arms + 1);
    if (!self->excluded) return -1;
    for (size_t slot = 0; slot < self->slots && self->arms; slot++)
        memcpy(self->excluded + slot * self->arms, (const uint8_t *)view->data + (all ? 0 : slot * self->arms),
               self->arms);
    return 0;
}

static int read_excluded(slots_call *self, PyObject *excluded)
{
    if (!excluded || excluded == Py_None) return 0;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *plain = numpy ? PyObject_CallMethod(numpy, "ascontiguousarray", "Os", excluded, "?") : NULL;
    Py_XDECREF(numpy);
    array_view view;
    int status = -1;
    if (plain && !array_view_take(plain, &view)) {
        if (view.contiguous && view.size == 1)
            status = copy_excluded(self, &view);
        else
            raise_bad_input("excluded: an array of truth values is needed");
        array_view_release(&view);
    }
    Py_XDECREF(plain);
    return status;
}

/* ---- deciding ---- */

static int reserve(slots_call *self)
{
    if (self->arms && self->slots > PY_SSIZE_T_MAX / self->arms) {
        PyErr_NoMemory();
        return -1;
    }
    size_t cells = self->slots * self->arms;
    self->seen = room(self->slots, sizeof *self->seen);
    if (self->seen) self->decisions = room(self->slots, sizeof *self->decisions);
    if (self->decisions) self->scores = room(cells, sizeof *self->scores);
    if (self->scores) self->probabilities = room(cells, sizeof *self->probabilities);
    return self->probabilities ? 0 : -1;
}

/* With the bandit's lock. */
static ee_status decide(slots_call *self, bandit_object *bandit, ee_error *error)
{
    for (size_t i = 0; i < self->slots; i++) {
        if (i < self->rounds.count) {
            ee_status status = bandit_arms(bandit, &self->rounds.readings[i], true, &self->seen[i], error);
            if (status) return status;
        } else {
            self->seen[i] = self->seen[0];
        }
    }
    return ee_bandit_decide_slots(bandit->bandit, self->seen, self->slots, self->excluded, self->decisions,
                                  self->scores, self->probabilities, error);
}

static PyObject *decision_of(const slots_call *self, size_t slot)
{
    decision_object *decision = decision_new(self->arms);
    if (!decision) return NULL;
    const arms_reading *reading = &self->rounds.readings[slot < self->rounds.count ? slot : 0];
    decision_set(decision, &self->decisions[slot], arms_read_action(reading, self->decisions[slot].arm));
    memcpy(decision->probabilities, self->probabilities + slot * self->arms, self->arms * sizeof(double));
    memcpy(decision_scores(decision), self->scores + slot * self->arms, self->arms * sizeof(ee_score));
    return (PyObject *)decision;
}

static PyObject *list_decisions(const slots_call *self)
{
    PyObject *list = PyList_New((Py_ssize_t)self->slots);
    for (size_t i = 0; list && i < self->slots; i++) {
        PyObject *decision = decision_of(self, i);
        if (!decision || PyList_SetItem(list, (Py_ssize_t)i, decision)) Py_CLEAR(list);
    }
    return list;
}

const char bandit_decide_slots_doc[] =
    "decide_slots($self, /, arms, slots=None, *, contexts=None, excluded=None)\n--\n\n"
    "Fills several slots, as places on a page, each with another arm: the best first, where the slots are alike.\n\n"
    "slots is how many there are, and all choose among the same arms; or it is None, and arms is a list with the\n"
    "arms of each slot: the same actions in the same order, as that slot sees them. contexts is a list with the\n"
    "context of each slot, for named features. excluded is an array of truth values, (slots, arms) or (arms,):\n"
    "what a slot may not take. Each slot is a decision of its own, with an id and a reward: learn them one by one.\n"
    "A probability is that of the slot's choice given those before it; what it could not take has 0.\n\n"
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"
    ">>> first, second = bandit.decide_slots([[1, 0], [0, 1], [1, 1]], 2)\n"
    ">>> first.arm != second.arm\n"
    "True\n"
    ">>> bandit.learn(first, 1.0)\n"
    ">>> bandit.learn(second, 0.0)";

PyObject *bandit_decide_slots(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"decide_slots", 1, 2, 4, {"arms", "slots", "contexts", "excluded"}};
    bandit_object *self = (bandit_object *)object;
    PyObject *values[4], *decided = NULL;
    slots_call call = {0};
    if (bandit_arguments(self, &shape, args, count, names, values)) return NULL;
    if (!read_slots(&call, self, values[0], values[1], values[2]) && !read_excluded(&call, values[3]) &&
        !reserve(&call)) {
        ee_error error;
        PyThreadState *state = bandit_enter(self);
        ee_status status = decide(&call, self, &error);
        bandit_leave(self, state);
        decided = status ? raise_status(status, &error) : list_decisions(&call);
    }
    release(&call);
    return decided;
}
