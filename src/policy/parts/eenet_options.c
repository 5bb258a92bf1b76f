#include "eenet_options.h"

#include <math.h>

/* ---- f2, the exploration ---- */

static const option exploration_rows[] = {
    OPTION_ROW_CHOICE(own_options, exploration, "exploration", "ridge", "network|ridge",
                      "f2: a network; or solved exactly, by ridge regression on f1's gradient at theta_0 by its last "
                      "weights"),
    OPTION_ROW_CHOICE(own_options, label, "label", "gain", "gain|abs|relu",
                      "what f2 learns: r - f1, |r - f1|, max(r - f1, 0)"),
};
static const option_table exploration_option_table = OPTION_TABLE(exploration_rows);

static const option regression_rows[] = {
    OPTION_ROW_REAL(own_options, prior_gain, "prior_gain", "1", -1e6, 1e6,
                    "the gain of an arm that is like none before"),
    OPTION_ROW_REAL(own_options, ridge, "ridge", "3", 1e-6, 1e6, "lambda, how many samples the prior is worth"),
    OPTION_ROW_INTEGER(own_options, refresh, "refresh", "8", 0, 1e6,
                       "past gains that each training tells anew, by f1 as it is then"),
    OPTION_ROW_INTEGER(own_options, units, "units", "200", 1, 4096,
                       "of f1's last hidden layer those that f2 sees, at most"),
    OPTION_ROW_INTEGER(own_options, recall, "recall", "16384", 0, 1e8,
                       "arms whose own rewards f2 remembers, at most; 0: none", .needs = "label=gain"),
};
static const option_table regression_option_table = OPTION_TABLE(regression_rows);

static const option network_rows[] = {
    OPTION_ROW_REAL(own_options, label_offset, "label_offset", "0", -1e6, 1e6,
                    "added to f2's labels and taken off its output"),
    OPTION_ROW_INTEGER(own_options, extra_until, "extra_until", "0", 0, 1e9,
                       "rewards with extra samples: where the played arm was not optimal (p_t = 0), the other arms of "
                       "the round; 0: none"),
    OPTION_ROW_REAL(own_options, extra_gain, "extra_gain", "0.1", -1e6, 1e6, "c_r: label of the extra samples",
                    .needs = "extra_until>0"),
};
static const option_table network_option_table = OPTION_TABLE(network_rows);

/* ---- f3, the decision maker ---- */

/* What uses p_t: f3 as a network, and the extra samples of f2. */
#define USES_OPTIMAL "decision=neural|hybrid or extra_until>0"

static const option decision_rows[] = {
    OPTION_ROW_CHOICE(own_options, decision, "decision", "linear", "linear|neural|hybrid",
                      "f3: w1 f1 + w2 f2, a network, or the one and then the other"),
    OPTION_ROW_INTEGER(own_options, hybrid_after, "hybrid_after", "500", 1, 1e9, "rounds that hybrid decides linearly",
                       .needs = "decision=hybrid"),
    OPTION_ROW_REAL(own_options, w1, "w1", "1", -1e6, 1e6, "weight of f1 in the linear f3",
                    .needs = "decision=linear|hybrid"),
    OPTION_ROW_REAL(own_options, w2, "w2", "1", -1e6, 1e6, "weight of f2 in the linear f3",
                    .needs = "decision=linear|hybrid"),
    OPTION_ROW_INTEGER(own_options, w2_late_after, "w2_late_after", "0", 0, 1e9,
                       "rewards after which w2_late takes over; 0: never", .needs = "decision=linear|hybrid"),
    OPTION_ROW_REAL(own_options, w2_late, "w2_late", "0.1", -1e6, 1e6, "weight of f2 after w2_late_after",
                    .needs = "w2_late_after>0"),
    OPTION_ROW_CHOICE(own_options, optimal, "optimal", "range", "binary|range|threshold",
                      "p_t, whether the played arm was optimal: r = high; (r - low) / (high - low); r > threshold",
                      .needs = USES_OPTIMAL),
    OPTION_ROW_REAL(own_options, reward_low, "reward_low", "0", -1e9, 1e9, "smallest reward",
                    .needs = "optimal=range and " USES_OPTIMAL),
    OPTION_ROW_REAL(own_options, reward_high, "reward_high", "1", -1e9, 1e9, "largest reward",
                    .needs = "optimal!=threshold and optimal=binary or decision=neural|hybrid"),
    OPTION_ROW_REAL(own_options, reward_threshold, "reward_threshold", "0.5", -1e9, 1e9,
                    "a larger reward is that of an optimal arm", .needs = "optimal=threshold"),
};
static const option_table decision_option_table = OPTION_TABLE(decision_rows);

/* ---- the draw of parameters ---- */

static const option drawing_rows[] = {
    OPTION_ROW_NUMBERED(own_options, keep, "keep", "last", "last|all|reservoir:N", 1, 1e6,
                        "parameters that decide: the last; or drawn from those of all rounds, or of N rounds",
                        .needs = "exploration=network and features!=lle"),
};
static const option_table drawing_option_table = OPTION_TABLE(drawing_rows);

/* ---- all parts ---- */

#define REGRESSION_TITLE "f2 as a regression"
#define NETWORK_TITLE "f2 as a network"
#define DECISION_TITLE "f3, the decision maker"

static const option_group groups[] = {
    OPTION_GROUP(eenet_options, f1, learner_options, learner_option_table, "f1.", F1_TITLE,
                 .defaults = "width=200 init=paper decay=0.5 batch=64 average=200"),
    OPTION_GROUP(eenet_options, f1, learner_options, arm_learner_option_table, "f1.", F1_TITLE,
                 .defaults = "heads=0 others=0.1 lazy=on"),
    OPTION_GROUP(eenet_options, own, own_options, exploration_option_table, "", "f2, the exploration"),
    OPTION_GROUP(eenet_options, own, own_options, regression_option_table, "", REGRESSION_TITLE,
                 .needs = "exploration=ridge"),
    OPTION_GROUP(eenet_options, own, own_options, network_option_table, "", NETWORK_TITLE,
                 .needs = "exploration=network"),
    OPTION_GROUP(eenet_options, features, feature_options, feature_option_table, "", NETWORK_TITLE,
                 .needs = "exploration=network"),
    OPTION_GROUP(eenet_options, f2, learner_options, learner_option_table, "f2.", NETWORK_TITLE,
                 .needs = "exploration=network"),
    OPTION_GROUP(eenet_options, own, own_options, decision_option_table, "", DECISION_TITLE),
    OPTION_GROUP(eenet_options, f3, learner_options, learner_option_table, "f3.", DECISION_TITLE,
                 .defaults = "layers=3 width=20 loss=cross_entropy", .needs = "decision=neural|hybrid"),
    OPTION_GROUP(eenet_options, own, own_options, drawing_option_table, "", "the draw of parameters"),
    OPTION_GROUP(eenet_options, schedule, schedule, schedule_option_table, "", "when it trains"),
    OPTION_GROUP(eenet_options, common, common_options, problem_option_table, "", "the arms"),
    OPTION_GROUP(eenet_options, common, common_options, scale_option_table, "", "the arms", .defaults = "scale=on"),
    OPTION_GROUP(eenet_options, common, common_options, propensity_option_table, "", "the draw of an arm"),
    OPTION_GROUP(eenet_options, common, common_options, room_option_table, "", "memory"),
};
const option_schema eenet_schema =
    OPTION_SCHEMA("eenet", groups, eenet_options,
                  "exploration prior_gain ridge units recall features f2.width f2.rate f1.width f1.rate f1.decay "
                  "f1.steps f1.batch f1.history decision w2 blocks");

/* A line for each part. A preset names all that it means, so that no change of a default moves it; but for eenet:fast,
 * which is eenet made smaller. eenet:authors says what f3 is where somebody asks for it. */
static const policy_preset presets[] = {
    {"eenet:fast", "EE-Net for those who count microseconds: a smaller f1 and f2",
     "f1.width=100 f1.batch=32\n"
     "units=50 refresh=2"},
    {"eenet:paper", "EE-Net as the paper's Algorithm 1 has it; for arms of length 1",
     "f1.layers=2 f1.width=100 f1.bias=off f1.init=paper f1.front=none f1.heads=1 f1.loss=half f1.training=gd "
     "f1.optimizer=sgd f1.rate=0.0005 f1.decay=0 f1.steps=20 f1.average=0 f1.lazy=off f1.history=all\n"
     "exploration=network label=gain label_offset=0 extra_until=0 features=normalized\n"
     "f2.layers=2 f2.width=100 f2.bias=off f2.init=paper f2.front=none f2.loss=half f2.training=gd f2.optimizer=sgd "
     "f2.rate=0.0005 f2.decay=0 f2.steps=20 f2.average=0 f2.history=all\n"
     "decision=hybrid hybrid_after=500 w1=1 w2=1 w2_late_after=0 optimal=range\n"
     "f3.layers=3 f3.width=20 f3.bias=off f3.init=paper f3.front=none f3.loss=cross_entropy f3.training=gd "
     "f3.optimizer=sgd f3.rate=0.1 f3.decay=0 f3.steps=20 f3.average=0 f3.history=all\n"
     "keep=all\n"
     "train_every=1 train_late_after=1000000000\n"
     "scale=off"},
    {"eenet:authors", "EE-Net as the authors' released code has it",
     "f1.layers=2 f1.width=100 f1.bias=on f1.init=uniform f1.front=none f1.heads=1 f1.loss=squared f1.training=sgd "
     "f1.optimizer=sgd f1.rate=0.01 f1.decay=0 f1.steps=2000 f1.batch=1 f1.order=shuffle f1.stop_loss=0.001 "
     "f1.average=0 f1.lazy=off f1.history=all\n"
     "exploration=network label=gain label_offset=1 extra_until=1000 extra_gain=0.2 features=pooled:2\n"
     "f2.layers=2 f2.width=100 f2.bias=on f2.init=uniform f2.front=conv1d:1:100:50 f2.loss=squared f2.training=sgd "
     "f2.optimizer=adam f2.rate=0.001 f2.decay=0.0001 f2.keep_moments=off f2.steps=2000 f2.batch=1 f2.order=shuffle "
     "f2.stop_loss=0.001 f2.average=0 f2.history=all\n"
     "decision=linear w1=1 w2=0.1 w2_late=0.01 w2_late_after=1001 optimal=binary\n"
     "f3.layers=2 f3.width=20 f3.bias=on f3.init=uniform f3.front=none f3.loss=squared f3.training=sgd "
     "f3.optimizer=sgd f3.rate=0.001 f3.decay=0 f3.steps=1000 f3.batch=1 f3.order=shuffle f3.stop_loss=0.001 "
     "f3.average=0 f3.history=all\n"
     "keep=last\n"
     "train_every=10 train_late_every=100 train_late_after=1000\n"
     "scale=off"},
};
const policy_presets eenet_presets = {presets, sizeof presets / sizeof *presets};

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
    if (o->own.optimal.pick == OPTIMAL_RANGE && o->own.reward_low >= o->own.reward_high)
        return status_fail(error, EE_BAD_OPTION,
                           "options: eenet.reward_low must be below eenet.reward_high, got %g and %g",
                           o->own.reward_low, o->own.reward_high);
    if (o->own.keep.pick != KEEP_ALL) return EE_OK;
    const learner_options *learners[] = {&o->f1, &o->f2, &o->f3};
    int learning = o->own.decision.pick == DECISION_LINEAR ? 2 : 3;
    for (int i = 0; i < learning; i++) {
        if (learners[i]->training.pick == TRAINING_GD && learners[i]->history.pick == HISTORY_ALL) continue;
        return status_fail(error, EE_BAD_OPTION,
                           "options: eenet.keep=all needs f%d.training=gd and f%d.history=all; else take "
                           "keep=reservoir:N",
                           i + 1, i + 1);
    }
    return EE_OK;
}
