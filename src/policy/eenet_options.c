#include "eenet_options.h"

#define REGRESSION_TITLE "f2 as a regression"
#define NETWORK_TITLE "f2 as a network"
#define DECISION_TITLE "f3, the decision maker"

static const option_group groups[] = {
    F1_GROUPS,
    OPTION_GROUP(eenet_options, exploration, exploration_options, exploration_option_table, "", "f2, exploration"),
    OPTION_GROUP(eenet_options, exploration.regression, regression_options, regression_option_table, "",
                 REGRESSION_TITLE, .needs = "exploration=ridge"),
    OPTION_GROUP(eenet_options, exploration.network, network_exploration_options, network_exploration_option_table, "",
                 NETWORK_TITLE, .needs = "exploration=network"),
    OPTION_GROUP(eenet_options, exploration.network.features, feature_options, feature_option_table, "", NETWORK_TITLE,
                 .needs = "exploration=network"),
    OPTION_GROUP(eenet_options, exploration.network.f2, learner_options, learner_option_table, "f2.", NETWORK_TITLE,
                 .needs = "exploration=network"),
    OPTION_GROUP(eenet_options, decision, decision_options, decision_option_table, "", DECISION_TITLE),
    OPTION_GROUP(eenet_options, decision.f3, learner_options, learner_option_table, "f3.", DECISION_TITLE,
                 .defaults = "layers=3 width=20 loss=cross_entropy", .needs = "decision=neural|hybrid"),
    OPTION_GROUP(eenet_options, drawing, drawing_options, drawing_option_table, "", "drawing parameters"),
    LEARNING_GROUPS,
    COMMON_GROUPS(eenet_options, exploitation.common, "scale=on", .needs = "decision=linear"),
};
const option_schema eenet_schema =
    OPTION_SCHEMA("eenet", groups, eenet_options,
                  "exploration prior_gain width ridge units recall features f2.width f2.rate f1.width f1.rate f1.decay "
                  "f1.steps f1.batch f1.history decision w2 blocks");

/* One line per part. eenet:paper and eenet:authors set everything that they depend on, so that a new default does not
 * change them; eenet:fast is a smaller eenet and follows its defaults. The f3 options of eenet:authors have an effect
 * only if a user sets `decision`. */
const policy_preset eenet_presets[EENET_PRESETS] = {
    {"eenet:fast", "EE-Net for low latency: smaller f1 and f2",
     "f1.committee=1 f1.width=128\n"
     "units=64 refresh=2 recent_units=32"},
    {"eenet:paper", "EE-Net as in the paper's Algorithm 1; for arms of length 1",
     "f1.committee=1 f1.layers=2 f1.width=100 f1.bias=off f1.init=paper f1.front=none f1.heads=1 f1.loss=half "
     "f1.training=gd "
     "f1.optimizer=sgd f1.rate=0.0005 f1.decay=0 f1.decay_until=1000000000 f1.steps=20 f1.recent=0 f1.average=0 "
     "f1.lazy=off f1.history=all\n"
     "exploration=network label=gain label_offset=0 extra_until=0 features=normalized\n"
     "f2.layers=2 f2.width=100 f2.bias=off f2.init=paper f2.front=none f2.loss=half f2.training=gd f2.optimizer=sgd "
     "f2.rate=0.0005 f2.decay=0 f2.steps=20 f2.average=0 f2.history=all\n"
     "decision=hybrid hybrid_after=500 w1=1 w2=1 w2_late_after=0 optimal=range\n"
     "f3.layers=3 f3.width=20 f3.bias=off f3.init=paper f3.front=none f3.loss=cross_entropy f3.training=gd "
     "f3.optimizer=sgd f3.rate=0.1 f3.decay=0 f3.steps=20 f3.average=0 f3.history=all\n"
     "keep=all\n"
     "train_every=1 train_late_after=1000000000\n"
     "standardize=off scale=off recall=0"},
    {"eenet:authors", "EE-Net as in the authors' released code",
     "f1.committee=1 f1.layers=2 f1.width=100 f1.bias=on f1.init=uniform f1.front=none f1.heads=1 f1.loss=squared "
     "f1.training=sgd "
     "f1.optimizer=sgd f1.rate=0.01 f1.decay=0 f1.decay_until=1000000000 f1.steps=2000 f1.batch=1 f1.order=shuffle "
     "f1.recent=0 f1.stop_loss=0.001 "
     "f1.average=0 f1.lazy=off f1.history=all\n"
     "exploration=network label=gain label_offset=1 extra_until=1000 extra_gain=0.2 features=authors\n"
     "f2.layers=2 f2.width=100 f2.bias=on f2.init=uniform f2.front=conv1d:1:100:50 f2.loss=squared f2.training=sgd "
     "f2.optimizer=adam f2.rate=0.001 f2.decay=0.0001 f2.keep_moments=off f2.steps=2000 f2.batch=1 f2.order=shuffle "
     "f2.stop_loss=0.002 f2.average=0 f2.history=all\n"
     "decision=linear w1=1 w2=0.1 w2_late=0.01 w2_late_after=1001 hybrid_after=501 optimal=binary\n"
     "f3.layers=2 f3.width=20 f3.bias=on f3.init=uniform f3.front=none f3.loss=squared f3.training=sgd "
     "f3.optimizer=adam f3.rate=0.001 f3.decay=0 f3.steps=1000 f3.batch=1 f3.order=shuffle f3.stop_loss=0.001 "
     "f3.average=0 f3.history=all\n"
     "keep=last\n"
     "train_every=10 train_late_every=100 train_late_after=1000\n"
     "standardize=off scale=off recall=0 propensity=first"},
};

ee_status eenet_check(const eenet_options *o, ee_error *error)
{
    if (o->drawing.keep.pick != DRAWING_ALL) return EE_OK;
    const learner_options *learners[] = {&o->exploitation.f1, &o->exploration.network.f2, &o->decision.f3};
    int learning = o->decision.kind.pick == DECISION_LINEAR ? 2 : 3;
    for (int i = 0; i < learning; i++) {
        if (learners[i]->training.pick == TRAINING_GD && learners[i]->history.pick == HISTORY_ALL) continue;
        return status_fail(error, EE_BAD_OPTION,
                           "options: eenet.keep=all needs f%d.training=gd and f%d.history=all; or use keep=reservoir:N",
                           i + 1, i + 1);
    }
    return EE_OK;
}
