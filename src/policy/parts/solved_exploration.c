#include "solved_exploration.h"

#include "base/memory.h"

/* As much room as f1's history has. */
static ee_status grow_told(solved_exploration *self, ee_error *error)
{
    return memory_grow(&self->told, &self->told_capacity, self->f1->history.capacity, sizeof(float), error);
}

ee_status solved_exploration_create(solved_exploration *self, const own_options *options, const learner *f1,
                                    uint64_t seed, ee_error *error)
{
    *self = (solved_exploration){.options = *options, .f1 = f1, .refreshing = random_named(seed, "refreshing")};
    const network *whole = &f1->network, *cut = &self->features.network;
    ee_status status = start_features_create(&self->features, whole, (size_t)options->units, error);
    size_t count = self->features.count;
    if (!status) status = gain_regression_create(&self->gains, whole->heads, count, options->ridge, error);
    if (!status) status = memory_create(&self->activations, whole->activation_count, sizeof(float), error);
    if (!status) status = memory_create(&self->first_activations, cut->activation_count, sizeof(float), error);
    if (!status) status = memory_create(&self->phi, count, sizeof(float), error);
    if (!status) status = grow_told(self, error);
    if (status) solved_exploration_destroy(self);
    return status;
}

void solved_exploration_destroy(solved_exploration *self)
{
    start_features_destroy(&self->features);
    gain_regression_destroy(&self->gains);
    memory_free(self->told);
    memory_free(self->activations);
    memory_free(self->first_activations);
    memory_free(self->phi);
    *self = (solved_exploration){0};
}

void solved_exploration_start(solved_exploration *self)
{
    start_features_set(&self->features, &self->f1->network, self->f1->initial);
}

/* What is remembered of arms stands behind the regressions. */
static size_t recall_start(const solved_exploration *self)
{
    return self->gains.heads * self->gains.dim;
}

/* Arms that are remembered. Rewards say nothing of the size of a gain, or of its positive part. */
static size_t recall_arms(const solved_exploration *self)
{
    return self->options.label.pick == LABEL_GAIN ? (size_t)self->options.recall : 0;
}

size_t solved_exploration_count(const solved_exploration *self)
{
    return recall_start(self) + recall_count(recall_arms(self));
}

ee_status solved_exploration_reserve(solved_exploration *self, ee_error *error)
{
    return grow_told(self, error);
}

/* f2 of an arm by the regression alone. */
static float regressed_gain(const solved_exploration *self, const float *theta, vector x, const float *phi)
{
    const network *f1 = &self->f1->network;
    size_t count = self->features.count;
    float learned = f1->kernels->dot(theta + network_head(f1, x) * count, phi, count);
    return (float)self->options.prior_gain + learned;
}

void solved_exploration_add(solved_exploration *self, vector x, float reward, float expected, float *theta)
{
    const history *samples = &self->f1->history;
    if (samples->newest < samples->count) self->told[samples->newest] = expected;
    float target = eenet_label(&self->options, reward - expected) - (float)self->options.prior_gain;
    start_features_compute(&self->features, x, self->first_activations, self->phi);
    recall_add(theta + recall_start(self), recall_arms(self), x, expected + regressed_gain(self, theta, x, self->phi),
               reward);
    gain_regression_add(&self->gains, network_head(&self->f1->network, x), self->phi, target);
}

static void tell_anew(solved_exploration *self, const float *theta1, size_t sample)
{
    const network *f1 = &self->f1->network;
    vector x = history_input(&self->f1->history, sample);
    float reward = history_target(&self->f1->history, sample);
    float now = network_forward(f1, theta1, x, self->activations);
    float before = eenet_label(&self->options, reward - self->told[sample]);
    start_features_compute(&self->features, x, self->first_activations, self->phi);
    gain_regression_correct(&self->gains, network_head(f1, x), self->phi,
                            eenet_label(&self->options, reward - now) - before);
    self->told[sample] = now;
}

void solved_exploration_train(solved_exploration *self, const float *theta1, float *theta)
{
    size_t samples = self->f1->history.count;
    for (int64_t i = 0; i < self->options.refresh && samples; i++)
        tell_anew(self, theta1, (size_t)random_below(&self->refreshing, samples));
    gain_regression_solve(&self->gains, theta);
}

float solved_exploration_gain(const solved_exploration *self, const float *theta, vector x, const float *phi,
                              float exploitation)
{
    float expected = exploitation + regressed_gain(self, theta, x, phi);
    return recall_expect(theta + recall_start(self), recall_arms(self), x, expected) - exploitation;
}

size_t solved_exploration_memory(const solved_exploration *self)
{
    return gain_regression_memory(&self->gains) + memory_size(self->features.theta) + memory_size(self->told) +
           memory_size(self->activations) + memory_size(self->first_activations) + memory_size(self->phi);
}

void solved_exploration_archive(solved_exploration *self, archive *a)
{
    gain_regression_archive(&self->gains, a);
    archive_stream(a, &self->refreshing);
    if (a->reading && !a->status) a->status = grow_told(self, a->error);
    if (!a->status) archive_floats(a, self->told, self->f1->history.count);
}
