#include "snapshot_object.h"

#include <stdlib.h>

#include "arms_reading.h"
#include "bandit_object.h"
#include "decision_object.h"
#include "engine/explanation.h"
#include "explanation_values.h"
#include "forking.h"
#include "scores_object.h"
#include "shared/call_arguments.h"
#include "shared/raising.h"

typedef struct snapshot_object {
    PyObject_HEAD bandit_object *bandit; /* which lives longer than what was made of it */
    ee_snapshot *snapshot;
    ee_scratch **scratches; /* (capacity) the first `count` are in nobody's hands; the GIL guards them */
    size_t count, capacity;
    uint64_t seed;       /* of the next decision */
    size_t calls;        /* under way; the GIL guards them */
    unsigned long forks; /* forking_count at the last call */
    bool lost;           /* another thread was inside a call when this process forked */
} snapshot_object;

static PyTypeObject *type;

/* ---- forks ---- */

/* The first call after a fork can tell: the calls that are under way then are those of threads that are not here. */
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

/* ---- room to decide in: one for each call that is under way ---- */

static ee_scratch *take_scratch(snapshot_object *self)
{
    ee_scratch *own;
    ee_error error;
    if (self->count) return self->scratches[--self->count];
    ee_status status = ee_scratch_create(self->snapshot, &own, &error);
    if (status) raise_status(status, &error);
    return own;
}

/* One that finds no place among the kept is let go. */
static void give_scratch(snapshot_object *self, ee_scratch *own)
{
    if (self->count == self->capacity) {
        size_t capacity = self->capacity ? 2 * self->capacity : 4;
        ee_scratch **grown = realloc(self->scratches, capacity * sizeof(ee_scratch *));
        if (!grown) {
            ee_scratch_free(own);
            return;
        }
        self->scratches = grown;
        self->capacity = capacity;
    }
    self->scratches[self->count++] = own;
}

/* ---- a call: what it reads, and where it decides ---- */

typedef struct snapshot_call {
    arms_reading reading;
    ee_scratch *scratch;
    uint64_t seed;
} snapshot_call;

/* seed: NULL or None for that of the next decision, which is used up where the call decides. It is read last: reading
 * the arms may let other threads go first. */
static int begin(snapshot_object *self, PyObject *arms, PyObject *context, PyObject *seed, bool decides,
                 snapshot_call *call)
{
    bool given = seed && seed != Py_None;
    if (check(self)) return -1;
    if (given && read_whole(seed, "seed", UINT64_MAX, &call->seed)) return -1;
    if (arms_read(arms, context, self->bandit->takes_rounds, &call->reading)) return -1;
    call->scratch = take_scratch(self);
    if (!call->scratch) {
        arms_release(&call->reading);
        return -1;
    }
    if (!given) call->seed = decides ? self->seed++ : self->seed;
    self->calls++;
    return 0;
}

static void end(snapshot_object *self, snapshot_call *call)
{
    self->calls--;
    give_scratch(self, call->scratch);
    arms_release(&call->reading);
}

/* Needs no GIL. */
static ee_status decide(const snapshot_object *self, snapshot_call *call, ee_decision *made, ee_score *scores,
                        double *probabilities, ee_error *error)
{
    const arms_reading *reading = &call->reading;
    if (reading->round)
        return ee_snapshot_decide_round(self->snapshot, call->scratch, reading->round, call->seed, made, scores,
                                        probabilities, error);
    return ee_snapshot_decide(self->snapshot, call->scratch, &reading->arms, call->seed, made, scores, probabilities,
                              error);
}

/* ---- methods ---- */

static PyObject *record_of(const ee_scratch *own)
{
    const void *bytes;
    size_t size;
    ee_error error;
    ee_status status = ee_scratch_record(own, &bytes, &size, &error);
    if (status) return raise_status(status, &error);
    return PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
}

static PyObject *decide_call(snapshot_object *self, snapshot_call *call)
{
    decision_object *decision = decision_new(arms_read_count(&call->reading));
    if (!decision) return NULL;
    ee_decision made;
    ee_error error;
    PyThreadState *state = PyEval_SaveThread();
    ee_status status = decide(self, call, &made, decision_scores(decision), decision->probabilities, &error);
    PyEval_RestoreThread(state);
    if (!status) {
        decision_set(decision, &made, arms_read_action(&call->reading, made.arm));
        decision->record = record_of(call->scratch);
        if (decision->record) return (PyObject *)decision;
    } else {
        raise_status(status, &error);
    }
    Py_DECREF(decision);
    return NULL;
}

static const char decide_doc[] =
    "decide($self, /, arms, *, context=None, seed=None)\n--\n\n"
    "Chooses an arm by what was published last, as the bandit itself would have then.\n\n"
    "Any number of threads may call it at once. The decision has the id 0 and a record:\n"
    "Bandit.learn(decision, reward) learns by it. All draws of a call follow from its seed;\n"
    "None takes the next whole number, from the snapshot's seed on; which thread gets which is\n"
    "then a matter of chance. A round of named features teaches no names: Bandit.learn_names\n"
    "does, for the same round.\n\n"
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"
    ">>> snapshot = bandit.snapshot()\n"
    ">>> decision = snapshot.decide([[1, 0], [0, 1]])\n"
    ">>> bandit.learn(decision, 1.0)\n"
    ">>> snapshot.update()";

static PyObject *snapshot_decide(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"decide", 1, 1, 3, {"arms", "context", "seed"}};
    snapshot_object *self = (snapshot_object *)object;
    PyObject *values[3];
    snapshot_call call;
    if (call_arguments(&shape, args, count, names, values)) return NULL;
    if (begin(self, values[0], values[1], values[2], true, &call)) return NULL;
    PyObject *decision = decide_call(self, &call);
    end(self, &call);
    return decision;
}

/* Needs no GIL. The library scores a round of named features only while it decides. */
static ee_status score(const snapshot_object *self, snapshot_call *call, ee_score *scores, ee_error *error)
{
    ee_decision ignored;
    if (call->reading.round) return decide(self, call, &ignored, scores, NULL, error);
    return ee_snapshot_score(self->snapshot, call->scratch, &call->reading.arms, call->seed, scores, error);
}

static PyObject *score_call(snapshot_object *self, snapshot_call *call)
{
    scores_object *scores = scores_new(arms_read_count(&call->reading));
    if (!scores) return NULL;
    ee_error error;
    PyThreadState *state = PyEval_SaveThread();
    ee_status status = score(self, call, scores->values, &error);
    PyEval_RestoreThread(state);
    if (!status) return (PyObject *)scores;
    Py_DECREF(scores);
    return raise_status(status, &error);
}

static const char score_doc[] =
    "score($self, /, arms, *, context=None, seed=None)\n--\n\n"
    "The scores that decide sees: with the same seed, and where it is None those of the next decision.\n\n"
    ">>> snapshot = eenet.Bandit('linucb', dim=2).snapshot()\n"
    ">>> snapshot.score([[1, 0], [0, 1]]).exploitation\n"
    "array([0., 0.], dtype=float32)";

static PyObject *snapshot_score(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"score", 1, 1, 3, {"arms", "context", "seed"}};
    snapshot_object *self = (snapshot_object *)object;
    PyObject *values[3];
    snapshot_call call;
    if (call_arguments(&shape, args, count, names, values)) return NULL;
    if (begin(self, values[0], values[1], values[2], false, &call)) return NULL;
    PyObject *scores = score_call(self, &call);
    end(self, &call);
    return scores;
}

static PyObject *explain_round(snapshot_object *self, snapshot_call *call, size_t arm)
{
    explanation *told = NULL;
    ee_error error;
    PyThreadState *state = PyEval_SaveThread();
    ee_status status = snapshot_explain(self->snapshot, call->scratch, NULL, call->reading.round, call->seed,
                                        (int64_t)arm, &told, &error);
    PyEval_RestoreThread(state);
    if (status) return raise_status(status, &error);
    return explained_names(call->reading.round, arm, told->entries, told->entry_count);
}

static PyObject *explain_vector(snapshot_object *self, snapshot_call *call, size_t arm)
{
    size_t count = explained_entries(&call->reading.arms, arm);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(float)));
    if (!bytes) return NULL;
    float *contributions = (float *)(void *)PyBytes_AsString(bytes);
    ee_error error;
    PyThreadState *state = PyEval_SaveThread();
    ee_status status =
        ee_snapshot_explain(self->snapshot, call->scratch, &call->reading.arms, arm, contributions, &error);
    PyEval_RestoreThread(state);
    return explained_array(bytes, status, &error);
}

static const char explain_doc[] = "explain($self, /, arms, arm, *, context=None)\n--\n\n"
                                  "What each feature of an arm adds to the reward that is expected of it, by what was "
                                  "published last; as Bandit.explain.";

static PyObject *snapshot_explain_arm(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"explain", 2, 2, 3, {"arms", "arm", "context"}};
    snapshot_object *self = (snapshot_object *)object;
    PyObject *values[3], *told = NULL;
    snapshot_call call;
    size_t arm;
    if (call_arguments(&shape, args, count, names, values)) return NULL;
    if (begin(self, values[0], values[2], NULL, false, &call)) return NULL;
    if (!explained_read_arm(values[1], arms_read_count(&call.reading), &arm))
        told = call.reading.round ? explain_round(self, &call, arm) : explain_vector(self, &call, arm);
    end(self, &call);
    return told;
}

static const char update_doc[] =
    "update($self, /)\n--\n\n"
    "Publishes what the bandit has learned since. Threads that decide go on meanwhile, on what was there before.";

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

const char bandit_snapshot_doc[] =
    "snapshot($self, /, seed=0)\n--\n\n"
    "What the bandit knows now, for threads: any number of them decide on it while one learns.\n\n"
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"
    ">>> snapshot = bandit.snapshot(seed=1)\n"
    ">>> snapshot.decide([[1, 0], [0, 1]]).id\n"
    "0";

PyObject *bandit_snapshot(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape shape = {"snapshot", 0, 1, 1, {"seed"}};
    bandit_object *bandit = (bandit_object *)object;
    PyObject *values[1];
    uint64_t seed = 0;
    if (bandit_arguments(bandit, &shape, args, count, names, values)) return NULL;
    if (values[0] && read_whole(values[0], "seed", UINT64_MAX, &seed)) return NULL;
    snapshot_object *self = PyObject_GC_New(snapshot_object, type);
    if (!self) return NULL;
    ee_error error;
    Py_INCREF(bandit);
    self->bandit = bandit;
    self->snapshot = NULL;
    self->scratches = NULL;
    self->count = self->capacity = 0;
    self->seed = seed;
    self->calls = 0;
    self->forks = forking_count();
    self->lost = false;
    PyThreadState *state = bandit_enter(bandit);
    ee_status status = ee_snapshot_create(bandit->bandit, &self->snapshot, &error);
    bandit_leave(bandit, state);
    PyObject_GC_Track(self);
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
    PyTypeObject *own = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    while (self->count) ee_scratch_free(self->scratches[--self->count]);
    free(self->scratches);
    if (!is_lost(self)) ee_snapshot_free(self->snapshot); /* before its bandit */
    Py_DECREF(self->bandit);
    PyObject_GC_Del(object);
    Py_DECREF(own);
}

static PyObject *refuse(PyTypeObject *of, PyObject *args, PyObject *keywords)
{
    (void)of, (void)args, (void)keywords;
    PyErr_SetString(PyExc_TypeError, "a Snapshot is made by Bandit.snapshot");
    return NULL;
}

static PyObject *refuse_pickle(PyObject *object, PyObject *unused)
{
    (void)object, (void)unused;
    PyErr_SetString(PyExc_TypeError, "a Snapshot belongs to its process: pickle the bandit, and take a snapshot of it");
    return NULL;
}

static PyMethodDef methods[] = {
    FAST_METHOD("decide", snapshot_decide, 0, decide_doc),
    FAST_METHOD("score", snapshot_score, 0, score_doc),
    FAST_METHOD("explain", snapshot_explain_arm, 0, explain_doc),
    {"update", snapshot_update_from_bandit, METH_NOARGS, update_doc},
    {"__reduce__", refuse_pickle, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static const char snapshot_doc[] = "What a bandit has learned, for threads; made by Bandit.snapshot.\n\n"
                                   "Any number of threads decide on it at once, each on a core of its own, while\n"
                                   "one learns with the bandit and calls update. It keeps its bandit alive.";

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
    type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!type) return -1;
    Py_INCREF(type);
    return PyModule_AddObject(module, "Snapshot", (PyObject *)type);
}
