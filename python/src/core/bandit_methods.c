/* The methods of Bandit, a row each. */
#include "bandit_deciding.h"
#include "bandit_docs.h"
#include "bandit_keeping.h"
#include "bandit_learning.h"
#include "bandit_naming.h"
#include "bandit_object.h"
#include "shared/call_arguments.h"
#include "snapshot_object.h"

PyMethodDef bandit_methods[] = {
    FAST_METHOD("decide", bandit_decide, 0, BANDIT_DECIDE_DOC),
    FAST_METHOD("decide_many", bandit_decide_many, 0, BANDIT_DECIDE_MANY_DOC),
    FAST_METHOD("decide_slots", bandit_decide_slots, 0, BANDIT_DECIDE_SLOTS_DOC),
    FAST_METHOD("score", bandit_score, 0, BANDIT_SCORE_DOC),
    FAST_METHOD("probabilities", bandit_probabilities, 0, BANDIT_PROBABILITIES_DOC),
    FAST_METHOD("explain", bandit_explain, 0, bandit_explain_doc),
    FAST_METHOD("learn", bandit_learn, 0, BANDIT_LEARN_DOC),
    FAST_METHOD("learn_many", bandit_learn_many, 0, BANDIT_LEARN_MANY_DOC),
    FAST_METHOD("learn_from", bandit_learn_from, 0, BANDIT_LEARN_FROM_DOC),
    FAST_METHOD("learn_record", bandit_learn_record, 0, BANDIT_LEARN_RECORD_DOC),
    FAST_METHOD("take_record", bandit_take_record, 0, BANDIT_TAKE_RECORD_DOC),
    FAST_METHOD("learn_names", bandit_learn_names, 0, bandit_learn_names_doc),
    FAST_METHOD("forget", bandit_forget, 0, BANDIT_FORGET_DOC),
    FAST_METHOD("set_time", bandit_set_time, 0, BANDIT_SET_TIME_DOC),
    FAST_METHOD("feature", bandit_feature, 0, BANDIT_FEATURE_DOC),
    FAST_METHOD("snapshot", bandit_snapshot, 0, bandit_snapshot_doc),
    FAST_METHOD("save", bandit_save, 0, BANDIT_SAVE_DOC),
    FAST_METHOD("load", bandit_load, METH_CLASS, BANDIT_LOAD_DOC),
    {"to_bytes", bandit_to_bytes, METH_NOARGS, BANDIT_TO_BYTES_DOC},
    FAST_METHOD("from_bytes", bandit_from_bytes, METH_CLASS, BANDIT_FROM_BYTES_DOC),
    {"__reduce__", bandit_reduce, METH_NOARGS, NULL},
    {"__sizeof__", bandit_sizeof, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
