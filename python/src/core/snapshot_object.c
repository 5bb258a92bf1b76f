#include <stdlib.h>

#include "bandit_methods.h"
#include "deciding.h"
#include "forking.h"
#include "limits_reading.h"
#include "shared/objects.h"
#include "shared/raising.h"

typedef struct snapshot_object {
    PyObject_HEAD bandit_object *bandit; /* which must outlive the snapshot */
    ee_snapshot *snapshot;
    ee_scratch **scratches; /* (capacity) the first `count` are idle; guarded by the GIL */
    size_t count, capacity;
    uint64_t seed;       /* of the next decision */
    size_t calls;        /* in progress; guarded by the GIL */
    unsigned long forks; /* forking_count at the last call */
    bool lost;           /* another thread was inside a call when this process forked */
} snapshot_object;

static PyTypeObject *type;

/* ---- forks ---- */

/* Whether a call was in progress when this process forked. Found out by the first call after the fork: calls in
 * progress then belong to threads of the parent. */
static bool is_lost(snapshot_object *self)
{
    if (self->forks == forking_count()) return self->lost;
    self->forks = forking_count();
    if (self->calls) self->lost = true;
    return self->lost;
}

static int check(snapshot_object *self)
{
    return is_lost(self) ? forking_refuse("Snapshot") : 0;
}

/* ---- scratches: one for each call that is under way ---- */

static ee_scratch *acquire_scratch(snapshot_object *self)
{
    ee_scratch *scratch;
    ee_error error;
    if (check(self)) return NULL;
    ee_status status = EE_OK;
    if (self->count)
        scratch = self->scratches[--self->count];
    else
        status = ee_scratch_create(self->snapshot, 0, &scratch, &error); /* each call seeds it */
    if (status) {
        raise_status(status, &error);
        return NULL;
    }
    self->calls++;
    return scratch;
}

/* Keeps the scratch for later calls, or frees it if there is no memory. */
static void release_scratch(snapshot_object *self, ee_scratch *scratch)
{
    self->calls--;
    if (self->count == self->capacity) {
        size_t capacity = self->capacity ? 2 * self->capacity : 4;
        ee_scratch **grown = realloc(self->scratches, capacity * sizeof(ee_scratch *));
        if (!grown) {
            ee_scratch_free(scratch);
            return;
        }
        self->scratches = grown;
        self->capacity = capacity;
    }
    self->scratches[self->count++] = scratch;
}

/* ---- methods ---- */

/* Takes a scratch and seeds it: with seed, or with the next decision's if seed is NULL or None, which a call that
 * decides uses up. Call it after reading the arms, which may let other threads run. 0, or -1 with an exception set. */
static int acquire_decider(snapshot_object *self, PyObject *seed, bool decides, decider *out)
{
    bool given = seed && seed != Py_None;
    *out = (decider){.bandit = self->bandit, .snapshot = self->snapshot};
    if (given && read_whole(seed, "seed", UINT64_MAX, &out->seed)) return -1;
    out->scratch = acquire_scratch(self);
    if (!out->scratch) return -1;
    if (!given) out->seed = decides ? self->seed++ : self->seed;
    ee_scratch_seed(out->scratch, out->seed);
    return 0;
}

/* values: arms, context, seed, and the argument of call. */
static PyObject *call_with_limits(PyObject *object, PyObject *const *values, limits_arguments limits, arms_call *call)
{
    snapshot_object *self = (snapshot_object *)object;
    PyObject *result = NULL;
    arms_reading reading;
    decider with;
    if (arms_read(values[0], values[1], self->bandit->takes_rounds, &reading)) return NULL;
    if (!limits_read(limits, &reading) && !acquire_decider(self, values[2], call == decider_decide, &with)) {
        result = call(&with, &reading, values[3]);
        release_scratch(self, with.scratch);
    }
    arms_release(&reading);
    return result; /* cppcheck-suppress returnDanglingLifetime ; call returns a new object */
}

static PyObject *call_with_arms(PyObject *object, PyObject *const *values, arms_call *call)
{
    return call_with_limits(object, values, (limits_arguments){NULL, NULL, NULL}, call);
}

static PyObject *decide_rounds(snapshot_object *self, rounds_call *call, PyObject *seed)
{
    decider with;
    if (acquire_decider(self, seed, true, &with)) return NULL;
    PyObject *decisions = decider_decide_rounds(&with, call);
    release_scratch(self, with.scratch);
    return decisions;
}

static const char decide_doc[] =
    "decide($self, /, arms, *, context=None, seed=None, excluded=None, boosts=None, groups=None, shares=None)\n--\n\n"
    "Chooses an arm as the bandit would have at the last update.\n\n"
    "Any number of threads may call it at once. The decision has id 0 and a record; pass it to\n"
    "Bandit.learn(decision, reward). The seed determines all random draws of the call. With None\n"
    "(default) it is the next integer, counting from the snapshot's seed; which thread gets which\n"
    "is not deterministic. The call adds no feature names: use Bandit.learn_names for that.\n"
    "excluded, boosts, groups, shares: see Bandit.decide.\n\n"
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"
    ">>> snapshot = bandit.snapshot()\n"
    ">>> decision = snapshot.decide([[1, 0], [0, 1]])\n"
    ">>> bandit.learn(decision, 1.0)\n"
    ">>> snapshot.update()";

static PyObject *snapshot_decide(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {
        "decide", 1, 1, 7, {"arms", "context", "seed", "excluded", "boosts", "groups", "shares"}};
    PyObject *values[7];
    if (call_arguments(&shape, args, count, names, values)) return NULL;
    limits_arguments limits = {values[4], values[5], values[6]};
    return call_with_limits(self, values, limits, decider_decide);
}

static const char decide_many_doc[] =
    "decide_many($self, /, rounds, *, contexts=None, seed=None)\n--\n\n"
    "Decides several rounds with the model of the last update. See Bandit.decide_many; here the number of rounds is\n"
    "not limited.\n\n"
    "The whole call uses one seed. Each decision has a record.\n\n"
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"
    ">>> bandit.learn_from([[1, 0], [0, 1]], 0, 0.0)\n"
    ">>> bandit.learn_from([[1, 0], [0, 1]], 1, 1.0)\n"
    ">>> snapshot = bandit.snapshot()\n"
    ">>> decisions = snapshot.decide_many([[[1, 0], [0, 2]], [[3, 0], [0, 1], [1, 1]]])\n"
    ">>> [decision.arm for decision in decisions]\n"
    "[1, 0]\n"
    ">>> bandit.learn_many(decisions, [1.0, 0.0])";

static PyObject *snapshot_decide_many(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"decide_many", 1, 1, 3, {"rounds", "contexts", "seed"}};
    snapshot_object *self = (snapshot_object *)object;
    PyObject *values[3], *decisions = NULL;
    rounds_call call;
    if (call_arguments(&shape, args, count, names, values)) return NULL;
    if (!rounds_call_read_many(&call, self->bandit->takes_rounds, values[0], values[1]))
        decisions = decide_rounds(self, &call, values[2]);
    rounds_call_release(&call);
    return decisions;
}

static const char decide_slots_doc[] =
    "decide_slots($self, /, arms, slots=None, *, contexts=None, excluded=None, seed=None)\n--\n\n"
    "Fills several slots, each with a different arm, with the model of the last update. See Bandit.decide_slots.\n\n"
    "The whole call uses one seed. Each slot has a record.\n\n"
    ">>> snapshot = eenet.Bandit('linucb', dim=2).snapshot()\n"
    ">>> first, second = snapshot.decide_slots([[1, 0], [0, 1], [1, 1]], 2)\n"
    ">>> first.arm != second.arm\n"
    "True";

static PyObject *snapshot_decide_slots(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"decide_slots", 1, 2, 5, {"arms", "slots", "contexts", "excluded", "seed"}};
    snapshot_object *self = (snapshot_object *)object;
    PyObject *values[5], *decisions = NULL;
    rounds_call call;
    if (call_arguments(&shape, args, count, names, values)) return NULL;
    if (!rounds_call_read_slots(&call, self->bandit->takes_rounds, values[0], values[1], values[2], values[3]))
        decisions = decide_rounds(self, &call, values[4]);
    rounds_call_release(&call);
    return decisions;
}

static const char score_doc[] =
    "score($self, /, arms, *, context=None, seed=None)\n--\n\n"
    "The scores that decide uses with the same seed; with None (default), those of the next decision.\n\n"
    ">>> snapshot = eenet.Bandit('linucb', dim=2).snapshot()\n"
    ">>> snapshot.score([[1, 0], [0, 1]]).exploitation\n"
    "array([0., 0.], dtype=float32)";

static PyObject *snapshot_score(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"score", 1, 1, 3, {"arms", "context", "seed"}};
    PyObject *values[4] = {NULL};
    return call_arguments(&shape, args, count, names, values) ? NULL : call_with_arms(self, values, decider_score);
}

static const char probabilities_doc[] =
    "probabilities($self, /, arms, *, context=None, seed=None, boosts=None, groups=None, shares=None)\n--\n\n"
    "The probability with which decide would choose each arm, with the model of the last update.\n\n"
    ">>> eenet.Bandit('uniform', dim=1).snapshot().probabilities([[1], [2], [3], [4]])\n"
    "array([0.25, 0.25, 0.25, 0.25])";

static PyObject *snapshot_probabilities(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {
        "probabilities", 1, 1, 6, {"arms", "context", "seed", "boosts", "groups", "shares"}};
    PyObject *values[6];
    if (call_arguments(&shape, args, count, names, values)) return NULL;
    limits_arguments limits = {values[3], values[4], values[5]};
    PyObject *const first[4] = {values[0], values[1], values[2], NULL};
    return call_with_limits(self, first, limits, decider_probabilities);
}

static const char explain_doc[] = "explain($self, /, arms, arm, *, context=None)\n--\n\n"
                                  "What each feature contributes to the expected reward of an arm, with the model of "
                                  "the last update. See Bandit.explain.";

static PyObject *snapshot_explain_arm(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"explain", 2, 2, 3, {"arms", "arm", "context"}};
    PyObject *values[3];
    if (call_arguments(&shape, args, count, names, values)) return NULL;
    return call_with_arms(self, (PyObject *[]){values[0], values[2], NULL, values[1]}, decider_explain);
}

static const char update_doc[] =
    "update($self, /)\n--\n\n"
    "Publishes what the bandit has learned since. Calls in progress finish on the old model.";

static PyObject *snapshot_update_from_bandit(PyObject *object, PyObject *unused)
{
    (void)unused;
    snapshot_object *self = (snapshot_object *)object;
    ee_error error;
    if (check(self) || bandit_check(self->bandit)) return NULL;
    self->calls++;
    PyThreadState *state = bandit_enter(self->bandit);
    ee_status status = ee_snapshot_update(self->snapshot, self->bandit->bandit, &error);
    bandit_leave(self->bandit, state);
    self->calls--;
    if (status) return raise_status(status, &error);
    Py_RETURN_NONE;
}

/* ---- the type ---- */

PyObject *bandit_snapshot(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"snapshot", 0, 1, 1, {"seed"}};
    bandit_object *bandit = (bandit_object *)object;
    PyObject *values[1];
    uint64_t seed = 0;
    if (bandit_arguments(object, &shape, args, count, names, values)) return NULL;
    if (values[0] && read_whole(values[0], "seed", UINT64_MAX, &seed)) return NULL;
    snapshot_object *self = (snapshot_object *)PyType_GenericAlloc(type, 0); /* zeroed and tracked */
    if (!self) return NULL;
    ee_error error;
    Py_INCREF(bandit);
    self->bandit = bandit;
    self->seed = seed;
    self->forks = forking_count();
    PyThreadState *state = bandit_enter(bandit);
    ee_status status = ee_snapshot_create(bandit->bandit, &self->snapshot, &error);
    bandit_leave(bandit, state);
    if (!status) return (PyObject *)self;
    Py_DECREF(self);
    return raise_status(status, &error);
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((snapshot_object *)object)->bandit);
    return 0;
}

static void release(PyObject *object)
{
    snapshot_object *self = (snapshot_object *)object;
    PyTypeObject *heap_type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    while (self->count) ee_scratch_free(self->scratches[--self->count]);
    free(self->scratches);
    if (!is_lost(self)) ee_snapshot_free(self->snapshot); /* before its bandit is released */
    Py_DECREF(self->bandit);
    PyObject_GC_Del(object);
    Py_DECREF(heap_type);
}

static PyObject *refuse(PyTypeObject *of, PyObject *args, PyObject *keywords)
{
    (void)of, (void)args, (void)keywords;
    PyErr_SetString(PyExc_TypeError, "cannot create a Snapshot directly; call Bandit.snapshot");
    return NULL;
}

static PyObject *refuse_pickle(PyObject *object, PyObject *unused)
{
    (void)object, (void)unused;
    PyErr_SetString(PyExc_TypeError, "cannot pickle a Snapshot; pickle the bandit, and take a snapshot of the copy");
    return NULL;
}

static PyMethodDef methods[] = {
    FAST_METHOD("decide", snapshot_decide, 0, decide_doc),
    FAST_METHOD("decide_many", snapshot_decide_many, 0, decide_many_doc),
    FAST_METHOD("decide_slots", snapshot_decide_slots, 0, decide_slots_doc),
    FAST_METHOD("score", snapshot_score, 0, score_doc),
    FAST_METHOD("probabilities", snapshot_probabilities, 0, probabilities_doc),
    FAST_METHOD("explain", snapshot_explain_arm, 0, explain_doc),
    {"update", snapshot_update_from_bandit, METH_NOARGS, update_doc},
    {"__reduce__", refuse_pickle, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static const char snapshot_doc[] = "An immutable copy of a bandit's model, created by Bandit.snapshot.\n\n"
                                   "Any number of threads decide on it in parallel while one thread learns with the\n"
                                   "bandit and calls update. The snapshot keeps its bandit alive.";

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)snapshot_doc}, {Py_tp_methods, methods}, {Py_tp_traverse, traverse},
    {Py_tp_dealloc, release},          {Py_tp_new, refuse},      {0, NULL},
};

static PyType_Spec spec = {
    .name = "eenet.Snapshot",
    .basicsize = sizeof(snapshot_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

int snapshot_add(PyObject *module)
{
    return type_add(module, &spec, &type);
}
