#include "eenet_options.h"

#define PART(name) offsetof(eenet_options, name)
const option_group eenet_groups[EENET_GROUPS] = {
    {"", exploration_option_table, EXPLORATION_OPTIONS, PART(exploration), NULL},
    {"", regression_option_table, REGRESSION_OPTIONS, PART(exploration.regression), NULL},
    {"", network_exploration_option_table, NETWORK_EXPLORATION_OPTIONS, PART(exploration.network), NULL},
    {"", decision_option_table, DECISION_OPTIONS, PART(decision), NULL},
    {"", drawing_option_table, DRAWING_OPTIONS, PART(drawing), NULL},
    {"", feature_option_table, FEATURE_OPTIONS, PART(exploration.network.features), NULL},
    {"", schedule_option_table, SCHEDULE_OPTIONS, PART(exploitation.schedule), NULL},
    {"f1.", learner_option_table, LEARNER_OPTIONS, PART(exploitation.f1), F1_DEFAULTS},
    {"f2.", learner_option_table, LEARNER_OPTIONS, PART(exploration.network.f2), NULL},
    {"f3.", learner_option_table, LEARNER_OPTIONS, PART(decision.f3), "layers=3 width=20 loss=cross_entropy"},
    {"", common_option_table, COMMON_OPTIONS, PART(exploitation.common), SCALE_DEFAULT},
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

ee_status eenet_check(const eenet_options *o, ee_error *error)
{
    keep_kind keep = (keep_kind)o->drawing.keep.pick;
    const network_exploration_options *second = &o->exploration.network;
    if (keep == KEEP_LAST) return EE_OK;
    if (o->exploration.kind.pick == EXPLORATION_RIDGE)
        return status_fail(error, EE_BAD_OPTION, "options: eenet.exploration=ridge needs keep=last");
    if (second->features.kind.pick == FEATURES_LLE)
        return status_fail(
            error, EE_BAD_OPTION,
            "options: eenet.features=lle needs keep=last: parameters of f2 from before a fit are of no use after it");
    if (keep == KEEP_RESERVOIR) return EE_OK;
    const learner_options *learners[] = {&o->exploitation.f1, &second->f2, &o->decision.f3};
    for (int i = 0; i < 3; i++) {
        if (learners[i]->training.pick == TRAINING_GD && learners[i]->history.pick == HISTORY_ALL) continue;
        return status_fail(error, EE_BAD_OPTION,
                           "options: eenet.keep=all needs f%d.training=gd and f%d.history=all; else take "
                           "keep=reservoir:N",
                           i + 1, i + 1);
    }
    return EE_OK;
}
