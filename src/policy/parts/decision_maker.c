#include "decision_maker.h"

#include "base/memory.h"

/* p_t is used by a neural f3 and for the extra samples of f2. */
#define USES_OPTIMAL "decision=neural|hybrid or extra_until>0"

static const option rows[] = {
    OPTION_ROW_CHOICE(decision_options, kind, "decision", "linear", "linear|neural|hybrid",
                      "f3. linear: w1 f1 + w2 f2; neural: a network; hybrid: linear, then neural"),
    OPTION_ROW_INTEGER(decision_options, hybrid_after, "hybrid_after", "500", 1, 1e9,
                       "rounds after which hybrid switches from linear to neural", .needs = "decision=hybrid"),
    OPTION_ROW_REAL(decision_options, w1, "w1", "1", -1e6, 1e6, "weight of f1 in the linear f3",
                    .needs = "decision=linear|hybrid"),
    OPTION_ROW_REAL(decision_options, w2, "w2", "0.7", -1e6, 1e6, "weight of f2 in the linear f3",
                    .needs = "decision=linear|hybrid"),
    OPTION_ROW_INTEGER(decision_options, w2_late_after, "w2_late_after", "0", 0, 1e9,
                       "rewards after which w2_late replaces w2; 0: never", .needs = "decision=linear|hybrid"),
    OPTION_ROW_REAL(decision_options, w2_late, "w2_late", "0.1", -1e6, 1e6, "weight of f2 after w2_late_after",
                    .needs = "w2_late_after>0"),
    OPTION_ROW_CHOICE(decision_options, optimal, "optimal", "range", "binary|range|threshold",
                      "p_t, whether the chosen arm was optimal. binary: r = high; range: (r - low) / (high - low); "
                      "threshold: r > threshold",
                      .needs = USES_OPTIMAL),
    OPTION_ROW_REAL(decision_options, reward_low, "reward_low", "0", -1e9, 1e9, "smallest reward",
                    .needs = "optimal=range and " USES_OPTIMAL),
    OPTION_ROW_REAL(decision_options, reward_high, "reward_high", "1", -1e9, 1e9, "largest reward",
                    .needs = "optimal!=threshold and optimal=binary or decision=neural|hybrid"),
    OPTION_ROW_REAL(decision_options, reward_threshold, "reward_threshold", "0.5", -1e9, 1e9,
                    "an arm with a larger reward counts as optimal", .needs = "optimal=threshold"),
};
const option_table decision_option_table = OPTION_TABLE(rows);

enum { SEEN = 2 }; /* f1 and f2 */

ee_status decision_maker_create(decision_maker *self, memory *owner, const decision_options *options, double offset,
                                uint64_t seed, size_t most_parameters, ee_error *error)
{
    *self = (decision_maker){.options = *options, .offset = (float)offset};
    if (options->optimal.pick == OPTIMAL_RANGE && options->reward_low >= options->reward_high)
        return status_fail(error, EE_BAD_OPTION,
                           "options: eenet.reward_low must be below eenet.reward_high, got %g and %g",
                           options->reward_low, options->reward_high);
    return learner_create(&self->f3, owner, "f3", &options->f3, SEEN, 1, seed, most_parameters, error);
}

size_t decision_maker_theta_count(const decision_maker *self)
{
    return self->f3.parameter_count;
}

size_t decision_maker_scratch_count(const decision_maker *self)
{
    return self->f3.networks[0].activation_count;
}

/* The current round is number round + 1. */
static bool decides_neurally(const decision_options *o, uint64_t round)
{
    return o->kind.pick == DECISION_NEURAL || (o->kind.pick == DECISION_HYBRID && round >= (uint64_t)o->hybrid_after);
}

float decision_maker_linear(const decision_maker *self, uint64_t round, ee_score score)
{
    const decision_options *o = &self->options;
    bool late = o->w2_late_after && round >= (uint64_t)o->w2_late_after;
    return (float)o->w1 * score.exploitation + (float)(late ? o->w2_late : o->w2) * score.exploration;
}

void decision_maker_score(const decision_maker *self, const float *theta3, uint64_t round, float *room,
                          ee_score *scores, size_t count)
{
    if (!decides_neurally(&self->options, round)) {
        for (size_t i = 0; i < count; i++) scores[i].score = decision_maker_linear(self, round, scores[i]);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        float seen[SEEN] = {scores[i].exploitation, scores[i].exploration + self->offset};
        scores[i].score = network_forward(&self->f3.networks[0], theta3, vector_dense(seen, SEEN), room);
    }
}

float decision_maker_optimal(const decision_maker *self, double reward)
{
    const decision_options *o = &self->options;
    double share = (reward - o->reward_low) / (o->reward_high - o->reward_low);
    switch ((optimal_kind)o->optimal.pick) {
    case OPTIMAL_BINARY:
        return reward >= o->reward_high ? 1 : 0;
    case OPTIMAL_RANGE:
        return (float)(share < 0 ? 0 : share > 1 ? 1 : share);
    case OPTIMAL_THRESHOLD:
        return reward > o->reward_threshold ? 1 : 0;
    }
    return 0;
}

bool decision_maker_learns(const decision_maker *self)
{
    return self->options.kind.pick != DECISION_LINEAR;
}

ee_status decision_maker_reserve(decision_maker *self, ee_error *error)
{
    static const float zeros[SEEN] = {0};
    return learner_reserve(&self->f3, 1, vector_dense(zeros, SEEN), error);
}

void decision_maker_take(decision_maker *self, ee_score score, float optimal)
{
    float seen[SEEN] = {score.exploitation, score.exploration + self->offset};
    if (decision_maker_learns(self)) learner_append(&self->f3, vector_dense(seen, SEEN), optimal);
}

bool decision_maker_prepare(decision_maker *self, float *theta3)
{
    return !decision_maker_learns(self) || learner_prepare(&self->f3, theta3);
}

bool decision_maker_descend(decision_maker *self, size_t rounds, float *theta3)
{
    return learner_prepare_descent(&self->f3, rounds, theta3);
}

void decision_maker_train(decision_maker *self, float *theta3)
{
    learner_commit(&self->f3, theta3);
}

void decision_maker_undo(decision_maker *self, float *theta3)
{
    learner_abort(&self->f3, theta3);
    learner_undo(&self->f3);
}
