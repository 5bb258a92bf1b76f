/* f2 as a regression: prior_gain + theta . phi + width |g . phi|, with theta and g from gain_regression.h and phi from
 * initial_features.h; plus f1's recent errors (recent_gains.h).
 *
 * The gain of a sample is r - f1, and training changes f1. So each training recomputes some past gains with the current
 * f1: f2 models what f1 lacks now.
 *
 * The prior gain fades along the phi of each sample, and the width shrinks with the number of samples. g is drawn again
 * for each reward: without that, some seeds never retry an arm after a few bad rewards. The width measures what a
 * regression on phi cannot know yet. f1 generalises better, so the weight of the width falls as well.
 *
 * A pending decision counts as a sample with gain 0 until its reward arrives, so the arm no longer looks new.
 *
 * theta2: that of the regressions, (heads, 2, phi_count), in units of the rewards' spread; then that of the recent
 * gains. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "exploration.h"
#include "gain_regression.h"
#include "initial_features.h"
#include "recent_gains.h"

/* Rewards after which the weight of the width falls as 1 / sqrt(rewards). */
static const double FULL_WIDTH_REWARDS = 1000;

typedef struct regression_exploration {
    exploration base;
    regression_options options;
    option_choice label;
    const network *f1;
    initial_features features;
    gain_regression gains;
    recent_gains recent;
    size_t recent_theta; /* offset in theta2 */
    random_stream refreshing;

    /* Only for training. */
    float *activations; /* those of the features */
    float *phi;         /* (features.count) */
} regression_exploration;

static const option rows[] = {
    OPTION_ROW_REAL(regression_options, prior_gain, "prior_gain", "1", -1e6, 1e6,
                    "gain of an arm unlike any seen before, in units of the rewards' spread"),
    OPTION_ROW_REAL(regression_options, ridge, "ridge", "3", 1e-6, 1e6, "lambda: weight of the prior, in samples"),
    OPTION_ROW_INTEGER(regression_options, refresh, "refresh", "4", 0, 1e6,
                       "past gains that each training recomputes with the current f1"),
    OPTION_ROW_INTEGER(regression_options, units, "units", "200", 1, 4096,
                       "units of f1's last hidden layer that f2 uses, at most"),
    OPTION_ROW_INTEGER(regression_options, recent_units, "recent_units", "64", 0, 4096,
                       "units of f1's last hidden layer from which f2 predicts f1's recent errors; 0: off",
                       .needs = "label=gain"),
    OPTION_ROW_REAL(regression_options, width, "width", "1", 0, 1e6,
                    "weight of f2's random confidence width, in units of the rewards' spread"),
    OPTION_ROW_REAL(regression_options, recall_width, "recall_width", "0.3", 0, 1e6,
                    "weight of the confidence width of a recurring arm's mean reward",
                    .needs = "recall>0 and decision=linear"),
};
const option_table regression_option_table = OPTION_TABLE(rows);

/* ---- making ---- */

static ee_status create_parts(regression_exploration *self, memory *owner, uint64_t seed, ee_error *error)
{
    const network *cut = &self->features.network;
    ee_status status = initial_features_create(&self->features, owner, self->f1, (size_t)self->options.units, error);
    size_t count = self->features.count, recent_units = (size_t)self->options.recent_units;
    if (self->label.pick != LABEL_GAIN) recent_units = 0; /* it gives the size of the error of f1, not its direction */
    gain_regression_setup setup = {
        .heads = self->f1->heads, .dim = count, .lambda = self->options.ridge, .sketched = true, .seed = seed};
    if (!status) status = gain_regression_create(&self->gains, owner, &setup, error);
    if (!status) status = recent_gains_create(&self->recent, owner, self->f1, recent_units, error);
    if (!status) status = memory_create(owner, &self->activations, cut->activation_count, sizeof(float), error);
    if (!status) status = memory_create(owner, &self->phi, count, sizeof(float), error);
    return status;
}

static ee_status create(const exploration_setup *setup, exploration **out, ee_error *error)
{
    const exploration_options *o = setup->options;
    regression_exploration *self;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (status) return status;
    self->base.class = &regression_exploration_class;
    self->options = o->regression;
    self->label = o->label;
    self->f1 = setup->f1;
    self->refreshing = random_named(setup->seed, "refreshing");
    status = create_parts(self, setup->memory, setup->seed, error);
    if (status) return status;
    self->recent_theta = gain_regression_theta_count(&self->gains);
    self->base.theta_count = self->recent_theta + recent_gains_theta_count(&self->recent);
    *out = &self->base;
    return EE_OK;
}

static void start(exploration *base, const float *initial, float *theta2)
{
    regression_exploration *self = (regression_exploration *)base;
    initial_features_set(&self->features, self->f1, initial);
    gain_regression_start(&self->gains, theta2);
}

static void start_column(exploration *base, size_t column, const float *initial)
{
    regression_exploration *self = (regression_exploration *)base;
    initial_features_start_column(&self->features, self->f1, column, initial);
}

/* ---- scoring ---- */

/* In the scratch: the activations of the features, (together, activation_count), then phi, (together, count). */
static float *phi_in(const regression_exploration *self, size_t arms, float *room)
{
    size_t together = arms < PASSED_TOGETHER ? arms : PASSED_TOGETHER;
    return room + together * self->features.network.activation_count;
}

static size_t scratch_count(const exploration *base, size_t arms)
{
    const regression_exploration *self = (const regression_exploration *)base;
    size_t together = arms < PASSED_TOGETHER ? arms : PASSED_TOGETHER;
    return together * (self->features.network.activation_count + self->features.count);
}

/* The floats of the regression of the head of the arm. */
static const float *head_of(const regression_exploration *self, const float *theta2, vector x)
{
    return theta2 + network_head(self->f1, x) * gain_regression_head_count(&self->gains);
}

/* In units of the rewards' spread, without the width and the recent gains. */
static float predicted_gain(const regression_exploration *self, const float *theta2, vector x, const float *phi)
{
    float learned = self->f1->kernels->dot(head_of(self, theta2, x), phi, self->features.count);
    return (float)self->options.prior_gain + learned;
}

static float random_width(const regression_exploration *self, const float *theta2, vector x, const float *phi)
{
    const float *sketch = head_of(self, theta2, x) + self->features.count;
    return fabsf(self->f1->kernels->dot(sketch, phi, self->features.count));
}

/* The weight of the width after this many rewards. Each head has only its share of the samples. */
static float width_weight(const regression_exploration *self, uint64_t rewards)
{
    double fall = sqrt(FULL_WIDTH_REWARDS / fmax(FULL_WIDTH_REWARDS, (double)rewards));
    return (float)(self->options.width * fall / (double)self->f1->heads);
}

static void score(const exploration *base, const parameters *learned, const float *theta2, const passed_arms *passed,
                  float *room, ee_score *scores)
{
    const regression_exploration *self = (const regression_exploration *)base;
    const ee_arms *arms = passed->arms;
    const float *recent = theta2 + self->recent_theta;
    float weight = width_weight(self, learned->round), *phi = phi_in(self, arms->count, room);
    if (passed->count > 1)
        initial_features_compute_many(&self->features, arms->values + passed->first * arms->dim, passed->count, room,
                                      phi);
    else if (!passed->again)
        initial_features_compute_arm(&self->features, arms, passed->first, room, phi);
    for (size_t i = 0; i < passed->count; i++, phi += self->features.count) {
        vector x = vector_of_arm(arms, passed->first + i);
        const float *activations = passed->activations[0] + i * self->f1->activation_count;
        float gain = predicted_gain(self, theta2, x, phi) + recent_gains_expect(&self->recent, recent, x, activations);
        if (weight > 0) gain += weight * random_width(self, theta2, x, phi);
        scores[passed->first + i].exploration = (float)learned->spread * gain;
    }
}

/* ---- learning ---- */

static void solve(regression_exploration *self, double spread, float *theta2)
{
    gain_regression_solve(&self->gains, self->options.prior_gain, spread, theta2);
    recent_gains_solve(&self->recent, spread, theta2 + self->recent_theta);
}

static void await(exploration *base, const observation *o, double spread, const float *theta1, float *theta2)
{
    regression_exploration *self = (regression_exploration *)base;
    initial_features_compute(&self->features, o->x, self->activations, self->phi);
    gain_regression_add(&self->gains, network_head(self->f1, o->x), self->phi);
    recent_gains_await(&self->recent, o->x, theta1);
    solve(self, spread, theta2);
}

static void observe(exploration *base, const training_sample *s, const float *theta1, float *theta2)
{
    regression_exploration *self = (regression_exploration *)base;
    const observation *o = s->o;
    size_t head = network_head(self->f1, o->x);
    float gain = s->reward - o->score.exploitation;
    initial_features_compute(&self->features, o->x, self->activations, self->phi);
    float predicted = predicted_gain(self, theta2, o->x, self->phi);
    recent_gain sample = {o->x, gain, predicted, s->spread, o->awaited};
    recent_gains_observe(&self->recent, &sample, theta1, theta2 + self->recent_theta);
    if (!o->awaited) gain_regression_add(&self->gains, head, self->phi);
    gain_regression_correct(&self->gains, head, self->phi, exploration_label(self->label, gain));
}

/* Refreshes the gain of a sample for the current prediction of f1. */
static void refresh_gain(regression_exploration *self, history *samples, size_t sample, float predicted)
{
    vector x = history_input(samples, sample);
    float reward = history_target(samples, sample);
    float before = exploration_label(self->label, reward - history_predicted(samples, sample));
    initial_features_compute(&self->features, x, self->activations, self->phi);
    gain_regression_correct(&self->gains, network_head(self->f1, x), self->phi,
                            exploration_label(self->label, reward - predicted) - before);
    history_set_predicted(samples, sample, predicted);
}

/* Refreshes the gains of this many samples in one pass through f1. */
static void refresh_gains(regression_exploration *self, exploitation *f1, size_t count, const float *theta1)
{
    size_t samples[BATCH_SAMPLES] = {0};
    float predictions[BATCH_SAMPLES];
    for (size_t i = 0; i < count; i++) samples[i] = (size_t)random_below(&self->refreshing, f1->f1.history.count);
    exploitation_predict_samples(f1, theta1, samples, count, predictions);
    for (size_t i = 0; i < count; i++) refresh_gain(self, &f1->f1.history, samples[i], predictions[i]);
}

static void train(exploration *base, exploitation *f1, const float *theta1, float *theta2)
{
    regression_exploration *self = (regression_exploration *)base;
    size_t left = f1->f1.history.count ? (size_t)self->options.refresh : 0;
    for (size_t count; left; left -= count) {
        count = left < BATCH_SAMPLES ? left : BATCH_SAMPLES;
        refresh_gains(self, f1, count, theta1);
    }
    solve(self, f1->base.parameters.spread, theta2);
}

static size_t copy(const exploration *base, const float *theta2, uint64_t first, float *to)
{
    (void)first;
    memcpy(to, theta2, base->theta_count * sizeof *to);
    return base->theta_count;
}

static void archive_regression(exploration *base, archive *a)
{
    regression_exploration *self = (regression_exploration *)base;
    gain_regression_archive(&self->gains, a);
    recent_gains_archive(&self->recent, a);
    archive_stream(a, &self->refreshing);
}

/* theta2 was (heads, phi_count), then the weight of the recent gains and, for each head, theta and, with alpha, four
 * sketches. */
static size_t earlier_theta_count(const exploration *base, double alpha)
{
    const regression_exploration *self = (const regression_exploration *)base;
    size_t heads = self->f1->heads, recent = self->recent.units, per_head = alpha > 0 ? 5 : 1;
    return heads * self->features.count + (recent ? 1 + heads * per_head * recent : 0);
}

static void restore(exploration *base, double spread, float *theta2)
{
    regression_exploration *self = (regression_exploration *)base;
    gain_regression_restore(&self->gains, self->options.prior_gain, spread, theta2);
    recent_gains_restore(&self->recent, spread, theta2 + self->recent_theta);
}

const exploration_class regression_exploration_class = {
    .create = create,
    .start = start,
    .start_column = start_column,
    .scratch_count = scratch_count,
    .score = score,
    .await = await,
    .observe = observe,
    .train = train,
    .copy = copy,
    .archive = archive_regression,
    .earlier_theta_count = earlier_theta_count,
    .restore = restore,
};
