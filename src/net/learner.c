#include "learner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define FIELD(name) offsetof(learner_options, name)

const option learner_option_table[LEARNER_OPTIONS] = {
    {"layers", OPTION_INTEGER, FIELD(network.layers), "2", 1, 16, NULL, "fully connected layers, the output included"},
    {"width", OPTION_INTEGER, FIELD(network.width), "100", 1, 65536, NULL, "units of each hidden layer"},
    {"bias", OPTION_FLAG, FIELD(network.bias), "on", 0, 0, NULL, "biases in every layer"},
    {"init", OPTION_CHOICE, FIELD(network.init), "uniform", 0, 0, "paper|uniform",
     "first weights: N(0,2/m), last layer N(0,1/m); or U(+-1/sqrt(fan in))"},
    {"image", OPTION_TEXT, FIELD(network.image), "none", 0, 0, "none or CHANNELSxHEIGHTxWIDTH",
     "how convolutions see the input, or a block of it"},
    {"front", OPTION_TEXT, FIELD(network.front), "none", 0, 0,
     "none or conv1d:CHANNELS:KERNEL[:STRIDE], conv2d:..., pool:SIZE, relu joined by +",
     "layers before the fully connected ones"},
    {"heads", OPTION_INTEGER, FIELD(network.heads), "1", 1, 65536, NULL,
     "blocks of the input: all layers but the last see the one that is not zero, the last has a row for each"},
    {"loss", OPTION_CHOICE, FIELD(loss), "squared", 0, 0, "squared|half|cross_entropy",
     "what training lowers: (f-y)^2, half of it, cross-entropy on the logit"},
    {"training", OPTION_CHOICE, FIELD(training), "sgd", 0, 0, "gd|sgd",
     "from theta_0 over all samples each time (Algorithm 1), or on from where it is over batches"},
    {"optimizer", OPTION_CHOICE, FIELD(optimizer.kind), "adamw", 0, 0, "sgd|adam|adamw", "how a gradient is used"},
    {"rate", OPTION_REAL, FIELD(optimizer.rate), "0.003", 0, 1000, NULL, "learning rate"},
    {"decay", OPTION_REAL, FIELD(optimizer.decay), "0", 0, 1000, NULL,
     "sgd, adam: L2, added to the gradient; adamw: decoupled weight decay"},
    {"keep_moments", OPTION_FLAG, FIELD(keep_moments), "on", 0, 0, NULL,
     "the optimizer's moments live on from one training to the next"},
    {"steps", OPTION_INTEGER, FIELD(steps), "1", 1, 1e9, NULL, "steps of one training, at most"},
    {"batch", OPTION_INTEGER, FIELD(batch), "16", 1, 1e6, NULL, "samples of one step"},
    {"order", OPTION_CHOICE, FIELD(order), "random", 0, 0, "shuffle|random",
     "passes over all samples in random order; or the newest, then any"},
    {"stop_loss", OPTION_REAL, FIELD(stop_loss), "0", 0, 1e9, NULL,
     "a pass with at most this mean loss ends a training"},
    {"history", OPTION_CHOICE, FIELD(history), "reservoir:10000", 1, 1e9, "all|ring:N|reservoir:N",
     "samples kept: all, the last N, N drawn uniformly from all"},
};

/* ---- making ---- */

static random_stream named_stream(uint64_t seed, const char *name, const char *purpose)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s.%s", name, purpose);
    return random_named(seed, whole);
}

ee_status learner_create(learner *self, const char *name, const learner_options *options, size_t input, size_t nonzeros,
                         uint64_t seed, size_t most_parameters, ee_error *error)
{
    *self = (learner){.options = *options,
                      .init = named_stream(seed, name, "init"),
                      .sampling = named_stream(seed, name, "sampling")};
    ee_status status = network_create(&self->network, name, &options->network, input, error);
    size_t parameters = self->network.parameter_count, activations = self->network.activation_count;
    if (!status && parameters > most_parameters)
        status = status_fail(error, EE_BAD_MODEL, "model: %s has %zu parameters, but the model holds at most %zu", name,
                             parameters, most_parameters);
    random_stream kept = named_stream(seed, name, "history");
    if (!status) status = history_create(&self->history, options->history, input, nonzeros, kept, error);
    if (!status) status = optimizer_create(&self->optimizer, &options->optimizer, parameters, error);
    if (!status) status = memory_create(&self->initial, parameters, sizeof(float), error);
    if (!status) status = memory_create(&self->gradient, parameters, sizeof(float), error);
    if (!status) status = memory_create(&self->activations, activations, sizeof(float), error);
    if (!status) status = memory_create(&self->deltas, activations, sizeof(float), error);
    if (!status && options->order.pick == ORDER_SHUFFLE)
        status = memory_grow(&self->order, &self->order_capacity, self->history.capacity, sizeof(uint32_t), error);
    if (status) learner_destroy(self);
    return status;
}

void learner_destroy(learner *self)
{
    history_destroy(&self->history);
    optimizer_destroy(&self->optimizer);
    memory_free(self->initial);
    memory_free(self->gradient);
    memory_free(self->activations);
    memory_free(self->deltas);
    memory_free(self->order);
    *self = (learner){0};
}

void learner_start(learner *self, float *theta)
{
    network_initialize(&self->network, (network_init)self->options.network.init.pick, &self->init, self->initial);
    memcpy(theta, self->initial, self->network.parameter_count * sizeof *theta);
}

ee_status learner_reserve(learner *self, size_t more, vector x, ee_error *error)
{
    ee_status status = history_reserve(&self->history, more, x, error);
    if (status || self->options.order.pick != ORDER_SHUFFLE) return status;
    return memory_grow(&self->order, &self->order_capacity, self->history.capacity, sizeof(uint32_t), error);
}

void learner_append(learner *self, vector x, float target)
{
    history_append(&self->history, x, target);
}

void learner_clear(learner *self)
{
    history_clear(&self->history);
    self->order_count = 0;
}

/* ---- losses ---- */

double learner_loss_value(learner_loss loss, float output, float target)
{
    double f = output, y = target;
    switch (loss) {
    case LOSS_SQUARED:
        return (f - y) * (f - y);
    case LOSS_HALF:
        return (f - y) * (f - y) / 2;
    case LOSS_CROSS_ENTROPY:
        /* log(1 + exp(f)) - y f, without overflow at either end */
        return (f > 0 ? f : 0) - y * f + log1p(exp(-fabs(f)));
    }
    return 0;
}

float learner_loss_derivative(learner_loss loss, float output, float target)
{
    switch (loss) {
    case LOSS_SQUARED:
        return 2 * (output - target);
    case LOSS_HALF:
        return output - target;
    case LOSS_CROSS_ENTROPY:
        return (float)(1 / (1 + exp(-(double)output))) - target;
    }
    return 0;
}

/* ---- training ---- */

/* Both passes for one sample, whose deltas are multiplied by scale. Returns its loss. */
static double visit(learner *self, vector x, float target, const float *theta, float scale)
{
    learner_loss loss = (learner_loss)self->options.loss.pick;
    float output = network_forward(&self->network, theta, x, self->activations);
    float derivative = learner_loss_derivative(loss, output, target);
    network_backward(&self->network, theta, x, self->activations, scale * derivative, self->deltas);
    return learner_loss_value(loss, output, target);
}

double learner_step(learner *self, vector x, float target, float *theta)
{
    gradient_factor factors[NETWORK_LAYERS];
    double loss = visit(self, x, target, theta, optimizer_scale(&self->optimizer));
    size_t count = network_factors(&self->network, x, self->activations, self->deltas, self->gradient, factors);
    optimizer_step(&self->optimizer, theta, factors, count);
    return loss;
}

static void start_batch(learner *self)
{
    memset(self->gradient, 0, self->network.parameter_count * sizeof *self->gradient);
}

/* share: of the sample's gradient in the batch's */
static double add_to_batch(learner *self, size_t sample, const float *theta, float share)
{
    vector x = history_input(&self->history, sample);
    double loss =
        visit(self, x, history_target(&self->history, sample), theta, share * optimizer_scale(&self->optimizer));
    network_add_gradient(&self->network, x, self->activations, self->deltas, self->gradient);
    return loss;
}

static void end_batch(learner *self, float *theta)
{
    static const float one = 1;
    gradient_factor whole = {self->gradient, self->network.parameter_count, vector_dense(&one, 1), 1, false};
    optimizer_step(&self->optimizer, theta, &whole, 1);
}

void learner_descend(learner *self, size_t samples, float *theta)
{
    memcpy(theta, self->initial, self->network.parameter_count * sizeof *theta);
    optimizer_reset(&self->optimizer);
    float share = self->options.loss.pick == LOSS_CROSS_ENTROPY ? 1 / (float)samples : 1;
    for (int64_t step = 0; samples && step < self->options.steps; step++) {
        start_batch(self);
        for (size_t i = 0; i < samples; i++) add_to_batch(self, i, theta, share);
        end_batch(self, theta);
    }
}

/* The permutation keeps step with the history; samples that are new to it come last, which a shuffle makes good. */
static void refresh_order(learner *self)
{
    for (; self->order_count < self->history.count; self->order_count++)
        self->order[self->order_count] = (uint32_t)self->order_count;
}

/* Which sample is number `turn` of a training. A shuffle is made as it is used: a step of Fisher and Yates for each
 * sample of the first pass, so a training costs its own steps however long the history is. */
static size_t pick_sample(learner *self, uint64_t turn)
{
    size_t count = self->history.count;
    if (self->options.order.pick == ORDER_RANDOM) {
        if (turn == 0 && self->history.newest < count) return self->history.newest;
        return (size_t)random_below(&self->sampling, count);
    }
    size_t place = (size_t)(turn % count);
    if (turn < count) {
        size_t other = place + (size_t)random_below(&self->sampling, count - place);
        uint32_t swapped = self->order[place];
        self->order[place] = self->order[other];
        self->order[other] = swapped;
    }
    return self->order[place];
}

/* Sample number `turn` of a training with `end` of them. The one after it is picked already, and on its way. */
static size_t take_sample(learner *self, uint64_t turn, uint64_t end)
{
    size_t sample = self->next;
    if (turn + 1 == end) return sample;
    self->next = pick_sample(self, turn + 1);
    history_prefetch(&self->history, self->next);
    return sample;
}

static double train_batch(learner *self, uint64_t turn, uint64_t end, float *theta)
{
    size_t batch = (size_t)self->options.batch;
    if (batch == 1) {
        size_t sample = take_sample(self, turn, end);
        return learner_step(self, history_input(&self->history, sample), history_target(&self->history, sample), theta);
    }
    double loss = 0;
    start_batch(self);
    for (size_t i = 0; i < batch; i++)
        loss += add_to_batch(self, take_sample(self, turn + i, end), theta, 1 / (float)batch);
    end_batch(self, theta);
    return loss;
}

void learner_train(learner *self, float *theta)
{
    size_t count = self->history.count;
    if (self->options.training.pick == TRAINING_GD) {
        learner_descend(self, count, theta);
        return;
    }
    if (!count) return;
    if (!self->options.keep_moments) optimizer_reset(&self->optimizer);
    if (self->options.order.pick == ORDER_SHUFFLE) refresh_order(self);
    uint64_t batch = (uint64_t)self->options.batch, end = (uint64_t)self->options.steps * batch, pass_end = count;
    double pass_loss = 0;
    self->next = pick_sample(self, 0);
    for (uint64_t turn = 0; turn < end;) {
        pass_loss += train_batch(self, turn, end, theta);
        turn += batch;
        if (turn < pass_end) continue;
        double mean = pass_loss / (double)(turn + count - pass_end);
        if (self->options.stop_loss > 0 && mean <= self->options.stop_loss) return;
        pass_end = turn + count;
        pass_loss = 0;
    }
}

size_t learner_memory(const learner *self)
{
    return history_memory(&self->history) + memory_size(self->optimizer.first) + memory_size(self->optimizer.second) +
           memory_size(self->initial) + memory_size(self->gradient) + memory_size(self->activations) +
           memory_size(self->deltas) + memory_size(self->order);
}

void learner_archive(learner *self, archive *a)
{
    history_archive(&self->history, a);
    optimizer_archive(&self->optimizer, a);
    archive_stream(a, &self->sampling);
    if (self->options.order.pick != ORDER_SHUFFLE) return;
    if (a->reading && !a->status)
        a->status =
            memory_grow(&self->order, &self->order_capacity, self->history.capacity, sizeof(uint32_t), a->error);
    archive_size(a, &self->order_count, 0, self->history.count, "samples of an order");
    if (!a->status) archive_u32s(a, self->order, self->order_count);
    for (size_t i = 0; a->reading && !a->status && i < self->order_count; i++)
        if (self->order[i] >= self->order_count)
            archive_fail(a, EE_BAD_MODEL, "model: an order names a sample that is not there");
}
