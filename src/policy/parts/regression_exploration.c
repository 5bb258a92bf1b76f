/* f2 as a regression: prior_gain + theta . phi, theta by gain_regression.h, phi by initial_features.h.
 *
 * The gain of a sample is r - f1, and training moves f1. So each training refreshes some past gains: f1 as it is then
 * predicts those samples again. That way f2 makes up for what f1 lacks now.
 *
 * What came of the very same arm before (recall.h) makes the prediction better.
 *
 * theta2: the regressions', (heads, phi_count), then what is remembered of arms. */
#include <string.h>

#include "base/memory.h"
#include "exploration.h"
#include "gain_regression.h"
#include "initial_features.h"
#include "recall.h"

enum { RECENT = 256 }; /* a copy that is more rewards behind than this copies all places */

typedef struct regression_exploration {
    exploration base;
    regression_options options;
    option_choice label;
    const network *f1;
    initial_features features;
    gain_regression gains;
    size_t recall_start; /* where in theta2 */
    size_t recall_arms;
    random_stream refreshing;

    /* The places of the last arms that were remembered, that of reward number n at n % RECENT, for copy(). */
    size_t recent[RECENT];
    uint64_t rewards; /* the number of the last one */

    /* For training alone. */
    float *f1_activations, *activations; /* f1's, and those of the features */
    float *phi;                          /* (features.count) */
} regression_exploration;

static const option rows[] = {
    OPTION_ROW_REAL(regression_options, prior_gain, "prior_gain", "1", -1e6, 1e6,
                    "the gain of an arm that is like none before"),
    OPTION_ROW_REAL(regression_options, ridge, "ridge", "3", 1e-6, 1e6, "lambda, how many samples the prior is worth"),
    OPTION_ROW_INTEGER(regression_options, refresh, "refresh", "8", 0, 1e6,
                       "past gains that each training computes again, with f1 as it is then"),
    OPTION_ROW_INTEGER(regression_options, units, "units", "200", 1, 4096,
                       "of f1's last hidden layer those that f2 sees, at most"),
    OPTION_ROW_INTEGER(regression_options, recall, "recall", "16384", 0, 1e8,
                       "arms whose own rewards f2 remembers, at most; 0: none", .needs = "label=gain"),
};
const option_table regression_option_table = OPTION_TABLE(rows);

/* ---- making ---- */

static ee_status create_parts(regression_exploration *self, memory *owner, ee_error *error)
{
    const network *cut = &self->features.network;
    ee_status status = initial_features_create(&self->features, owner, self->f1, (size_t)self->options.units, error);
    size_t count = self->features.count;
    if (!status)
        status = gain_regression_create(&self->gains, owner, self->f1->heads, count, self->options.ridge, error);
    if (!status) status = memory_create(owner, &self->f1_activations, self->f1->activation_count, sizeof(float), error);
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
    status = create_parts(self, setup->memory, error);
    if (status) return status;
    /* Rewards say nothing of the size of a gain, or of its positive part. */
    self->recall_arms = o->label.pick == LABEL_GAIN ? (size_t)o->regression.recall : 0;
    self->recall_start = self->gains.heads * self->gains.dim;
    self->base.theta_count = self->recall_start + recall_count(self->recall_arms);
    *out = &self->base;
    return EE_OK;
}

static void start(exploration *base, const float *initial, float *theta2)
{
    regression_exploration *self = (regression_exploration *)base;
    (void)theta2; /* zeros */
    initial_features_set(&self->features, self->f1, initial);
}

/* ---- scoring ---- */

/* In the room: the activations of the features, (together, activation_count), then phi, (together, count). */
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

/* The gain by the regression alone. */
static float regressed_gain(const regression_exploration *self, const float *theta2, vector x, const float *phi)
{
    size_t count = self->features.count;
    float learned = self->f1->kernels->dot(theta2 + network_head(self->f1, x) * count, phi, count);
    return (float)self->options.prior_gain + learned;
}

static void score(const exploration *base, const float *theta1, const float *theta2, const passed_arms *passed,
                  float *room, ee_score *scores)
{
    const regression_exploration *self = (const regression_exploration *)base;
    const ee_arms *arms = passed->arms;
    float *phi = phi_in(self, arms->count, room);
    (void)theta1;
    if (passed->count > 1)
        initial_features_compute_many(&self->features, arms->values + passed->first * arms->dim, passed->count, room,
                                      phi);
    else if (!passed->again)
        initial_features_compute_arm(&self->features, arms, passed->first, room, phi);
    for (size_t i = 0; i < passed->count; i++, phi += self->features.count) {
        ee_score *own = &scores[passed->first + i];
        vector x = vector_of_arm(arms, passed->first + i);
        float expected = own->exploitation + regressed_gain(self, theta2, x, phi);
        own->exploration =
            recall_expect(theta2 + self->recall_start, self->recall_arms, x, expected) - own->exploitation;
    }
}

/* ---- learning ---- */

static void observe(exploration *base, const lesson *l, float *theta2)
{
    regression_exploration *self = (regression_exploration *)base;
    const observation *o = l->o;
    float predicted = o->score.exploitation;
    float target = exploration_label(self->label, l->reward - predicted) - (float)self->options.prior_gain;
    initial_features_compute(&self->features, o->x, self->activations, self->phi);
    size_t place = recall_add(theta2 + self->recall_start, self->recall_arms, o->x,
                              predicted + regressed_gain(self, theta2, o->x, self->phi), l->reward);
    self->rewards = l->round + 1;
    self->recent[self->rewards % RECENT] = place;
    gain_regression_add(&self->gains, network_head(self->f1, o->x), self->phi, target);
}

/* Refreshes the gain of a sample: predicts it again with f1 as it is now. */
static void refresh_gain(regression_exploration *self, history *samples, size_t sample, const float *theta1)
{
    vector x = history_input(samples, sample);
    float reward = history_target(samples, sample);
    float now = network_forward(self->f1, theta1, x, self->f1_activations);
    float before = exploration_label(self->label, reward - history_predicted(samples, sample));
    initial_features_compute(&self->features, x, self->activations, self->phi);
    gain_regression_correct(&self->gains, network_head(self->f1, x), self->phi,
                            exploration_label(self->label, reward - now) - before);
    history_set_predicted(samples, sample, now);
}

static void train(exploration *base, learner *f1, const float *theta1, float *theta2)
{
    regression_exploration *self = (regression_exploration *)base;
    size_t count = f1->history.count;
    for (int64_t i = 0; i < self->options.refresh && count; i++)
        refresh_gain(self, &f1->history, (size_t)random_below(&self->refreshing, count), theta1);
    gain_regression_solve(&self->gains, theta2);
}

static size_t copy(const exploration *base, const float *theta2, uint64_t first, float *to)
{
    const regression_exploration *self = (const regression_exploration *)base;
    const float *places = theta2 + self->recall_start;
    size_t copied = self->recall_start;
    memcpy(to, theta2, copied * sizeof *to);
    to += self->recall_start;
    copied += recall_copy_sums(places, self->recall_arms, to);
    if (!self->recall_arms || first > self->rewards) return copied;
    if (!first || self->rewards - first >= RECENT) return copied + recall_copy_places(places, self->recall_arms, to);
    for (; first <= self->rewards; first++) copied += recall_copy_place(places, self->recent[first % RECENT], to);
    return copied;
}

static void archive_regression(exploration *base, archive *a)
{
    regression_exploration *self = (regression_exploration *)base;
    gain_regression_archive(&self->gains, a);
    archive_stream(a, &self->refreshing);
}

const exploration_class regression_exploration_class = {
    .create = create,
    .start = start,
    .scratch_count = scratch_count,
    .score = score,
    .observe = observe,
    .train = train,
    .copy = copy,
    .archive = archive_regression,
};
