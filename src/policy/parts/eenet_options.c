#include "eenet_options.h"

#include <math.h>

#define FIELD(name) offsetof(own_options, name)
static const option own_option_table[] = {
    {"exploration", OPTION_CHOICE, FIELD(exploration), "ridge", 0, 0, "network|ridge",
     "f2: a network; or solved exactly, by ridge regression on f1's gradient at theta_0 by its last weights"},
    {"prior_gain", OPTION_REAL, FIELD(prior_gain), "1", -1e6, 1e6, NULL,
     "ridge: the gain of an arm that is like none before"},
    {"ridge", OPTION_REAL, FIELD(ridge), "3", 1e-6, 1e6, NULL, "ridge: lambda, how many samples the prior is worth"},
    {"refresh", OPTION_INTEGER, FIELD(refresh), "8", 0, 1e6, NULL,
     "ridge: past gains that each training tells anew, by f1 as it is then"},
    {"units", OPTION_INTEGER, FIELD(units), "200", 1, 4096, NULL,
     "ridge: of f1's last hidden layer those that f2 sees, at most"},
    {"recall", OPTION_INTEGER, FIELD(recall), "16384", 0, 1e8, NULL,
     "ridge, label=gain: arms whose own rewards f2 remembers, at most; 0: none"},
    {"label", OPTION_CHOICE, FIELD(label), "gain", 0, 0, "gain|abs|relu",
     "what f2 learns: r - f1, |r - f1|, max(r - f1, 0)"},
    {"label_offset", OPTION_REAL, FIELD(label_offset), "0", -1e6, 1e6, NULL,
     "added to f2's labels and taken off its output"},
    {"extra_gain", OPTION_REAL, FIELD(extra_gain), "0.1", -1e6, 1e6, NULL,
     "c_r: label of the arms that were not played, where the played one was not optimal (p_t = 0)"},
    {"extra_until", OPTION_INTEGER, FIELD(extra_until), "0", 0, 1e9, NULL, "rewards with such extra samples; 0: none"},
    {"decision", OPTION_CHOICE, FIELD(decision), "linear", 0, 0, "linear|neural|hybrid",
     "f3: w1 f1 + w2 f2, a network, or the one and then the other"},
    {"hybrid_after", OPTION_INTEGER, FIELD(hybrid_after), "500", 0, 1e9, NULL, "rounds that hybrid decides linearly"},
    {"w1", OPTION_REAL, FIELD(w1), "1", -1e6, 1e6, NULL, "weight of f1 in the linear f3"},
    {"w2", OPTION_REAL, FIELD(w2), "1", -1e6, 1e6, NULL, "weight of f2 in the linear f3"},
    {"w2_late", OPTION_REAL, FIELD(w2_late), "0.1", -1e6, 1e6, NULL, "weight of f2 after w2_late_after"},
    {"w2_late_after", OPTION_INTEGER, FIELD(w2_late_after), "0", 0, 1e9, NULL,
     "rewards after which w2_late takes over; 0: never"},
    {"optimal", OPTION_CHOICE, FIELD(optimal), "range", 0, 0, "binary|range|threshold",
     "p_t, what f3 learns: r = high; (r - low) / (high - low); r > threshold"},
    {"reward_low", OPTION_REAL, FIELD(reward_low), "0", -1e9, 1e9, NULL, "smallest reward"},
    {"reward_high", OPTION_REAL, FIELD(reward_high), "1", -1e9, 1e9, NULL, "largest reward"},
    {"reward_threshold", OPTION_REAL, FIELD(reward_threshold), "0.5", -1e9, 1e9, NULL, "for optimal=threshold"},
    {"keep", OPTION_CHOICE, FIELD(keep), "last", 1, 1e6, "last|all|reservoir:N",
     "parameters that decide: the last; or drawn from those of all rounds, or of N rounds"},
};

const option_group eenet_groups[EENET_GROUPS] = {
    {"", own_option_table, sizeof own_option_table / sizeof *own_option_table, offsetof(eenet_options, own), NULL},
    {"", feature_option_table, FEATURE_OPTIONS, offsetof(eenet_options, features), NULL},
    {"", schedule_option_table, SCHEDULE_OPTIONS, offsetof(eenet_options, schedule), NULL},
    {"f1.", learner_option_table, LEARNER_OPTIONS, offsetof(eenet_options, f1),
     "heads=0 width=200 init=paper decay=0.5 others=0.1 batch=64 average=200 lazy=on"},
    {"f2.", learner_option_table, LEARNER_OPTIONS, offsetof(eenet_options, f2), NULL},
    {"f3.", learner_option_table, LEARNER_OPTIONS, offsetof(eenet_options, f3), "layers=3 width=20 loss=cross_entropy"},
    {"", common_option_table, COMMON_OPTIONS, offsetof(eenet_options, common), "scale=on"},
};

/* A preset names all that it means, so that no change of a default moves it; but for eenet:fast, which is eenet made
 * smaller. */
const policy_preset eenet_presets[EENET_PRESETS] = {
    {"eenet:fast", "EE-Net for those who count microseconds: a smaller f1 and f2",
     "units=50 refresh=2 f1.width=100 f1.batch=32"},
    {"eenet:paper", "EE-Net as the paper's Algorithm 1 has it; for arms of length 1",
     "scale=off exploration=network features=normalized label=gain label_offset=0 extra_until=0 decision=hybrid "
     "hybrid_after=500 "
     "w1=1 w2=1 w2_late_after=0 "
     "optimal=range keep=all train_every=1 train_late_every=1 "
     "f1.layers=2 f1.width=100 f1.bias=off f1.init=paper f1.front=none f1.heads=1 f1.others=0 f1.average=0 f1.lazy=off "
     "f1.loss=half f1.training=gd f1.optimizer=sgd "
     "f1.rate=0.0005 f1.decay=0 f1.steps=20 f1.history=all "
     "f2.layers=2 f2.width=100 f2.bias=off f2.init=paper f2.front=none f2.loss=half f2.training=gd f2.optimizer=sgd "
     "f2.rate=0.0005 f2.decay=0 f2.steps=20 f2.history=all "
     "f3.layers=3 f3.width=20 f3.bias=off f3.init=paper f3.front=none f3.loss=cross_entropy f3.training=gd "
     "f3.optimizer=sgd f3.rate=0.1 f3.decay=0 f3.steps=20 f3.history=all"},
    {"eenet:authors", "EE-Net as the authors' released code has it",
     "scale=off exploration=network features=pooled:2 label=gain label_offset=1 extra_gain=0.2 extra_until=1000 "
     "decision=linear "
     "w1=1 w2=0.1 "
     "w2_late=0.01 w2_late_after=1001 optimal=binary keep=last train_every=10 train_late_every=100 "
     "train_late_after=1000 "
     "f1.layers=2 f1.width=100 f1.bias=on f1.init=uniform f1.front=none f1.heads=1 f1.others=0 f1.average=0 "
     "f1.lazy=off "
     "f1.loss=squared f1.training=sgd "
     "f1.optimizer=sgd "
     "f1.rate=0.01 f1.decay=0 f1.steps=2000 f1.batch=1 f1.order=shuffle f1.stop_loss=0.001 f1.history=all "
     "f2.layers=2 f2.width=100 f2.bias=on f2.init=uniform f2.front=conv1d:1:100:50 f2.loss=squared f2.training=sgd "
     "f2.optimizer=adam f2.rate=0.001 f2.decay=0.0001 f2.keep_moments=off f2.steps=2000 f2.batch=1 f2.order=shuffle "
     "f2.stop_loss=0.001 f2.history=all "
     "f3.layers=2 f3.width=20 f3.bias=on f3.init=uniform f3.front=none f3.loss=squared f3.training=sgd "
     "f3.optimizer=sgd "
     "f3.rate=0.001 f3.decay=0 f3.steps=1000 f3.batch=1 f3.order=shuffle f3.stop_loss=0.001 f3.history=all"},
};

float eenet_label(const own_options *o, float gain)
{
    switch ((label_kind)o->label.pick) {
    case LABEL_GAIN:
        break;
    case LABEL_ABS:
        gain = fabsf(gain);
        break;
    case LABEL_RELU:
        gain = gain > 0 ? gain : 0;
        break;
    }
    return gain + (float)o->label_offset;
}

ee_status eenet_check(const eenet_options *o, ee_error *error)
{
    if (o->own.reward_low >= o->own.reward_high)
        return status_fail(error, EE_BAD_OPTION,
                           "options: eenet.reward_low must be below eenet.reward_high, got %g and %g",
                           o->own.reward_low, o->own.reward_high);
    if (o->own.keep.pick != KEEP_LAST && o->features.kind.pick == FEATURES_LLE)
        return status_fail(
            error, EE_BAD_OPTION,
            "options: eenet.features=lle needs keep=last: parameters of f2 from before a fit are of no use "
            "after it");
    if (o->own.exploration.pick == EXPLORATION_RIDGE && (o->own.keep.pick != KEEP_LAST || o->own.extra_until))
        return status_fail(error, EE_BAD_OPTION, "options: eenet.exploration=ridge needs keep=last and extra_until=0");
    if (o->own.keep.pick != KEEP_ALL) return EE_OK;
    const learner_options *learners[] = {&o->f1, &o->f2, &o->f3};
    for (int i = 0; i < 3; i++) {
        if (learners[i]->training.pick == TRAINING_GD && learners[i]->history.pick == HISTORY_ALL) continue;
        return status_fail(error, EE_BAD_OPTION,
                           "options: eenet.keep=all needs f%d.training=gd and f%d.history=all; else take "
                           "keep=reservoir:N",
                           i + 1, i + 1);
    }
    return EE_OK;
}
