#include "bandit_methods.h"

#include "bandit_docs.h"
#include "deciding.h"
#include "limits_reading.h"

static PyObject *call_with_limits(PyObject *object, PyObject *arms, PyObject *context, limits_arguments limits,
                                  PyObject *argument, arms_call *call)
{
    decider self = {.bandit = (bandit_object *)object};
    arms_reading reading;
    if (arms_read(arms, context, self.bandit->takes_rounds, &reading)) return NULL;
    PyObject *result = limits_read(limits, &reading) ? NULL : call(&self, &reading, argument);
    arms_release(&reading);
    return result; /* cppcheck-suppress returnDanglingLifetime ; call returns a new object */
}

static PyObject *call_with_arms(PyObject *object, PyObject *arms, PyObject *context, PyObject *argument,
                                arms_call *call)
{
    return call_with_limits(object, arms, context, (limits_arguments){NULL, NULL, NULL}, argument, call);
}

static PyObject *bandit_decide(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"decide", 1, 1, 6, {"arms", "context", "excluded", "boosts", "groups", "shares"}};
    PyObject *values[6];
    if (bandit_arguments(self, &SHAPE, args, count, names, values)) return NULL;
    limits_arguments limits = {values[3], values[4], values[5]};
    return call_with_limits(self, values[0], values[1], limits, values[2], decider_decide);
}

static PyObject *bandit_score(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"score", 1, 1, 2, {"arms", "context"}};
    PyObject *values[2];
    if (bandit_arguments(self, &SHAPE, args, count, names, values)) return NULL;
    return call_with_arms(self, values[0], values[1], NULL, decider_score);
}

static PyObject *bandit_probabilities(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"probabilities", 1, 1, 5, {"arms", "context", "boosts", "groups", "shares"}};
    PyObject *values[5];
    if (bandit_arguments(self, &SHAPE, args, count, names, values)) return NULL;
    limits_arguments limits = {values[2], values[3], values[4]};
    return call_with_limits(self, values[0], values[1], limits, NULL, decider_probabilities);
}

static PyObject *bandit_explain(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"explain", 2, 2, 3, {"arms", "arm", "context"}};
    PyObject *values[3];
    if (bandit_arguments(self, &SHAPE, args, count, names, values)) return NULL;
    return call_with_arms(self, values[0], values[2], values[1], decider_explain);
}

static PyObject *bandit_decide_many(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"decide_many", 1, 1, 2, {"rounds", "contexts"}};
    decider self = {.bandit = (bandit_object *)object};
    PyObject *values[2], *decisions = NULL;
    rounds_call call;
    if (bandit_arguments(object, &SHAPE, args, count, names, values)) return NULL;
    if (!rounds_call_read_many(&call, self.bandit->takes_rounds, values[0], values[1]))
        decisions = decider_decide_rounds(&self, &call);
    rounds_call_release(&call);
    return decisions;
}

static PyObject *bandit_decide_slots(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static const call_shape SHAPE = {"decide_slots", 1, 2, 4, {"arms", "slots", "contexts", "excluded"}};
    decider self = {.bandit = (bandit_object *)object};
    PyObject *values[4], *decisions = NULL;
    rounds_call call;
    if (bandit_arguments(object, &SHAPE, args, count, names, values)) return NULL;
    if (!rounds_call_read_slots(&call, self.bandit->takes_rounds, values[0], values[1], values[2], values[3]))
        decisions = decider_decide_rounds(&self, &call);
    rounds_call_release(&call);
    return decisions;
}

PyMethodDef bandit_methods[] = {
    FAST_METHOD("decide", bandit_decide, 0, BANDIT_DECIDE_DOC),
    FAST_METHOD("decide_many", bandit_decide_many, 0, BANDIT_DECIDE_MANY_DOC),
    FAST_METHOD("decide_slots", bandit_decide_slots, 0, BANDIT_DECIDE_SLOTS_DOC),
    FAST_METHOD("score", bandit_score, 0, BANDIT_SCORE_DOC),
    FAST_METHOD("probabilities", bandit_probabilities, 0, BANDIT_PROBABILITIES_DOC),
    FAST_METHOD("explain", bandit_explain, 0, BANDIT_EXPLAIN_DOC),
    FAST_METHOD("learn", bandit_learn, 0, BANDIT_LEARN_DOC),
    FAST_METHOD("learn_many", bandit_learn_many, 0, BANDIT_LEARN_MANY_DOC),
    FAST_METHOD("learn_from", bandit_learn_from, 0, BANDIT_LEARN_FROM_DOC),
    FAST_METHOD("learn_record", bandit_learn_record, 0, BANDIT_LEARN_RECORD_DOC),
    FAST_METHOD("take_record", bandit_take_record, 0, BANDIT_TAKE_RECORD_DOC),
    FAST_METHOD("learn_names", bandit_learn_names, 0, BANDIT_LEARN_NAMES_DOC),
    FAST_METHOD("forget", bandit_forget, 0, BANDIT_FORGET_DOC),
    FAST_METHOD("set_time", bandit_set_time, 0, BANDIT_SET_TIME_DOC),
    FAST_METHOD("feature", bandit_feature, 0, BANDIT_FEATURE_DOC),
    FAST_METHOD("snapshot", bandit_snapshot, 0, BANDIT_SNAPSHOT_DOC),
    FAST_METHOD("save", bandit_save, 0, BANDIT_SAVE_DOC),
    FAST_METHOD("load", bandit_load, METH_CLASS, BANDIT_LOAD_DOC),
    {"to_bytes", bandit_to_bytes, METH_NOARGS, BANDIT_TO_BYTES_DOC},
    FAST_METHOD("from_bytes", bandit_from_bytes, METH_CLASS, BANDIT_FROM_BYTES_DOC),
    {"__reduce__", bandit_reduce, METH_NOARGS, NULL},
    {"__sizeof__", bandit_sizeof, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
