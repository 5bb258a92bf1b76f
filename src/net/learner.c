#include "learner.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/float_mode.h"

static const option network_rows[] = {
    OPTION_ROW_INTEGER(learner_options, network.layers, "layers", "2", 1, 16,
                       "fully connected layers, including the output layer"),
    OPTION_ROW_INTEGER(learner_options, network.width, "width", "100", 1, 65536, "units per hidden layer",
                       .needs = "layers>1"),
    OPTION_ROW_FLAG(learner_options, network.bias, "bias", "on", "biases in every layer"),
    OPTION_ROW_CHOICE(learner_options, network.init, "init", "uniform", "paper|uniform|glorot",
                      "initial weights. paper: N(0,2/m), last layer N(0,1/m); uniform: U(+-1/sqrt(fan in)); glorot: "
                      "N(0,2/(fan in + fan out))"),
    OPTION_ROW_TEXT(learner_options, network.front, "front", "none",
                    "none or conv1d:CHANNELS:KERNEL[:STRIDE], conv2d:..., pool:SIZE, relu joined by +",
                    "layers before the fully connected ones"),
    OPTION_ROW_TEXT(learner_options, network.image, "image", "none", "none or CHANNELSxHEIGHTxWIDTH",
                    "shape of the input, or of one block of it, for convolutions", .needs = "front!=none"),
    OPTION_ROW_CHOICE(learner_options, loss, "loss", "squared", "squared|half|cross_entropy",
                      "training loss. squared: (f-y)^2; half: (f-y)^2/2; cross_entropy: on the logit"),
    OPTION_ROW_CHOICE(
        learner_options, training, "training", "sgd", "gd|sgd",
        "gd: from theta_0, over all samples each time (Algorithm 1); sgd: from the current weights, over batches"),
    OPTION_ROW_CHOICE(learner_options, optimizer.kind, "optimizer", "adamw", "sgd|adam|adamw",
                      "optimizer of the gradient steps"),
    OPTION_ROW_REAL(learner_options, optimizer.rate, "rate", "0.003", 0, 1000, "learning rate"),
    OPTION_ROW_REAL(learner_options, optimizer.decay, "decay", "0", 0, 1000,
                    "weight decay. sgd, adam: added to the gradient (L2); adamw: decoupled"),
    OPTION_ROW_INTEGER(learner_options, optimizer.decay_until, "decay_until", "1000000000", 1, 1e9,
                       "steps per head after which decay falls as 1/sqrt(steps)", .needs = "decay>0"),
    OPTION_ROW_FLAG(learner_options, keep_moments, "keep_moments", "on",
                    "keep the optimizer's moments from one training to the next",
                    .needs = "training=sgd and optimizer=adam|adamw"),
    OPTION_ROW_INTEGER(learner_options, steps, "steps", "1", 1, 1e9, "steps per training, at most"),
    OPTION_ROW_INTEGER(learner_options, batch, "batch", "16", 1, 1e6, "samples per step", .needs = "training=sgd"),
    OPTION_ROW_CHOICE(learner_options, order, "order", "random", "shuffle|random",
                      "shuffle: passes over all samples in random order; random: the newest sample, then random ones",
                      .needs = "training=sgd"),
    OPTION_ROW_REAL(learner_options, recent, "recent", "0", 0, 1,
                    "share of each batch drawn from the last 1000 samples; the rest is drawn from all",
                    .needs = "training=sgd and order=random and history!=reservoir"),
    OPTION_ROW_REAL(learner_options, stop_loss, "stop_loss", "0", 0, 1e9,
                    "end a training after a pass whose mean loss is at most this", .needs = "training=sgd and steps>1"),
    OPTION_ROW_INTEGER(
        learner_options, average, "average", "0", 0, 1e9,
        "decide by a running mean of the weights with this half-life in steps; 0: by the latest weights"),
    OPTION_ROW_NUMBERED(learner_options, history, "history", "reservoir:10000", "all|ring:N|reservoir:N", 1, 1e9,
                        "samples to keep. ring: the last N; reservoir: N drawn uniformly from all"),
};
const option_table learner_option_table = OPTION_TABLE(network_rows);

static const option arm_rows[] = {
    OPTION_ROW_INTEGER(learner_options, network.heads, "heads", "1", 0, 65536,
                       "blocks of the features: all layers but the last see only the non-zero block, the last has a "
                       "row per block; 0: same as option blocks"),
    OPTION_ROW_INTEGER(learner_options, committee, "committee", "1", 1, COMMITTEE_MOST,
                       "networks in f1's committee, whose predictions are combined by weights; each has one layer more "
                       "than the one before it"),
    OPTION_ROW_INTEGER(learner_options, deep_width, "deep_width", "128", 1, 65536,
                       "units per hidden layer of all networks but the first", .needs = "committee>1"),
    OPTION_ROW_REAL(learner_options, others, "others", "0", 0, 1000,
                    "weight of the arms not chosen: if the chosen arm's reward is above the minimum, they are learned "
                    "with the minimum",
                    .needs = "exclusive=on"),
    OPTION_ROW_FLAG(learner_options, lazy, "lazy", "off",
                    "skip first-layer weights whose inputs are zero in the whole batch: much faster for sparse arms",
                    .needs = "front=none"),
};
const option_table arm_learner_option_table = OPTION_TABLE(arm_rows);

static const option member_rows[] = {
    OPTION_ROW_INTEGER(learner_options, members.count, "members", "10", 2, 1024,
                       "members of the ensemble: separate outputs on shared layers"),
    OPTION_ROW_REAL(learner_options, members.prior, "prior", "1", 0, 1e6,
                    "how much members differ before they learn, in units of the rewards' spread"),
    OPTION_ROW_REAL(learner_options, members.noise, "noise", "0.1", 0, 1e6,
                    "standard deviation of the noise added to each member's rewards, in units of the rewards' spread"),
    OPTION_ROW_REAL(learner_options, members.rate, "member_rate", "10", 0, 1e6,
                    "learning rate of each member's own weights, as a multiple of f1.rate",
                    .needs = "f1.optimizer=adam|adamw and f1.rate>0 and f1.layers>1"),
    OPTION_ROW_INTEGER(learner_options, members.prior_width, "prior_width", "64", 1, 65536,
                       "units per hidden layer of the prior networks", .needs = "prior>0 and f1.layers>1"),
};
const option_table member_option_table = OPTION_TABLE(member_rows);

/* ---- making ---- */

static random_stream named_stream(uint64_t seed, const char *name, const char *purpose)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s.%s", name, purpose);
    return random_named(seed, whole);
}

/* Whether a step may leave rows of the first weights as they are. A convolution has no such rows. */
static bool leaves_rows(const learner *self)
{
    return self->options.lazy && self->networks[0].layers[0].kind == LAYER_DENSE;
}

/* Whether learner_step does for a batch of one: it moves all rows, and knows one network and its played head alone. */
static bool steps_by_sample(const learner *self)
{
    return !leaves_rows(self) && self->options.others == 0 && !self->members[0] && self->network_count == 1;
}

/* Whether a training is one step of Adam. If the gradient is finite, so is what the step leaves: it is enough to look
 * at the gradient before the step, and nothing has to be copied to take the training back. */
static bool one_step(const learner *self)
{
    const learner_options *o = &self->options;
    bool formed = o->batch > 1 || !steps_by_sample(self);
    return o->training.pick == TRAINING_SGD && o->steps == 1 && formed && o->order.pick == ORDER_RANDOM &&
           o->optimizer.kind.pick != OPTIMIZER_SGD && o->keep_moments;
}

static ee_status create_room(learner *self, ee_error *error)
{
    size_t parameters = self->parameter_count, activations = self->networks[0].activation_count;
    ee_status status = memory_create(self->memory, &self->initial, parameters, sizeof(float), error);
    if (!status) status = memory_create(self->memory, &self->gradient, parameters, sizeof(float), error);
    if (!status) status = memory_create(self->memory, &self->activations, activations, sizeof(float), error);
    if (!status) status = memory_create(self->memory, &self->deltas, activations, sizeof(float), error);
    for (size_t k = 0; !status && k < self->network_count; k++)
        status = batch_create(&self->batches[k], self->memory, &self->networks[k], self->history.rows.stride, error);
    if (!status && self->options.average)
        status = memory_create(self->memory, &self->moving, parameters, sizeof(float), error);
    if (!status && leaves_rows(self))
        status = memory_create(self->memory, &self->row_times, self->networks[0].block, sizeof *self->row_times, error);
    size_t copies = (size_t)(1 + (self->moving != NULL) + 2 * (self->optimizer.first != NULL));
    if (!status && !one_step(self))
        status = memory_create(self->memory, &self->before.values, copies * parameters, sizeof(float), error);
    return status;
}

/* Room for a permutation of the samples, and for how it was before a training. */
static ee_status grow_order(learner *self, ee_error *error)
{
    size_t count = self->history.capacity, size = sizeof(uint32_t);
    if (self->options.order.pick != ORDER_SHUFFLE) return EE_OK;
    ee_status status = memory_grow(self->memory, &self->order, &self->order_capacity, count, size, error);
    return status ? status
                  : memory_grow(self->memory, &self->before.order, &self->before.order_capacity, count, size, error);
}

/* The seed of a network; that of the first is the learner's. */
static uint64_t seed_of(uint64_t seed, const char *name, size_t number)
{
    char purpose[32];
    if (!number) return seed;
    snprintf(purpose, sizeof purpose, "committee.%zu", number);
    random_stream stream = named_stream(seed, name, purpose);
    return random_bits(&stream);
}

/* Makes the options of the first network those of network number k. */
static void deepen(const learner *self, size_t k, network_options *made)
{
    if (!k) return;
    made->layers += (int64_t)k;
    made->width = self->options.deep_width;
}

/* Makes network number k, one layer deeper than the one before. input: the places that an input has. */
static ee_status create_network(learner *self, size_t k, const char *name, size_t input, uint64_t seed, ee_error *error)
{
    network_options made = self->options.network;
    network *net = &self->networks[k];
    deepen(self, k, &made);
    made.members = self->options.members.count;
    ee_status status = network_create(net, name, &made, made.room ? made.room->capacity : input, error);
    self->init[k] = named_stream(seed_of(seed, name, k), name, "init");
    if (!status && made.room)
        status = network_store_columns(net, made.room, input, (network_init)made.init.pick, self->init[k], error);
    self->starts[k] = memory_whole_lines(self->parameter_count);
    self->parameter_count = self->starts[k] + net->parameter_count;
    return status;
}

/* Makes what the members of a network have apart from each other. */
static ee_status create_members(learner *self, size_t k, const char *name, size_t input, uint64_t seed, ee_error *error)
{
    network_options learning = self->options.network;
    deepen(self, k, &learning);
    learning.members = self->options.members.count;
    ee_status status = memory_create(self->memory, &self->members[k], 1, sizeof *self->members[k], error);
    return status ? status
                  : members_create(self->members[k], self->memory, &self->options.members, &learning, input,
                                   self->history.rows.stride, seed_of(seed, name, k), error);
}

learner_options learner_for_problem(const learner_options *options, int64_t blocks, bool exclusive)
{
    learner_options made = *options;
    if (!made.network.heads) made.network.heads = blocks;
    if (!exclusive || made.network.heads == 1) made.others = 0;
    return made;
}

ee_status learner_create(learner *self, memory *owner, const char *name, const learner_options *options, size_t input,
                         size_t nonzeros, uint64_t seed, size_t most_parameters, ee_error *error)
{
    *self = (learner){.memory = owner,
                      .options = *options,
                      .network_count = options->committee ? (size_t)options->committee : 1,
                      .units = {.scale = 1, .low = -FLT_MAX, .high = FLT_MAX},
                      .sampling = named_stream(seed, name, "sampling")};
    if (options->history.pick == HISTORY_RESERVOIR) self->options.recent = 0; /* it does not know which are the last */
    const column_room *room = options->network.room;
    ee_status status = EE_OK;
    for (size_t k = 0; !status && k < self->network_count; k++)
        status = create_network(self, k, name, input, seed, error);
    self->used = room ? 0 : self->networks[0].block;
    if (!status && self->parameter_count > most_parameters)
        status = status_fail(error, EE_BAD_MODEL, "model: %s has %zu parameters, but the model holds at most %zu", name,
                             self->parameter_count, most_parameters);
    random_stream draw = named_stream(seed, name, "history");
    size_t stored = room ? room->capacity : input;
    if (!status)
        status = history_create(&self->history, owner, options->history, stored, nonzeros, options->grows, draw, error);
    self->history.unordered = room != NULL;
    optimizer_options moves = options->optimizer;
    moves.decay_until *= self->networks[0].heads ? (int64_t)self->networks[0].heads : 1;
    if (!status) status = optimizer_create(&self->optimizer, owner, &moves, self->parameter_count, error);
    for (size_t k = 0; !status && options->members.count && k < self->network_count; k++)
        status = create_members(self, k, name, input, seed, error);
    if (!status) status = create_room(self, error);
    return status ? status : grow_order(self, error);
}

void learner_start(learner *self, float *theta)
{
    network_init init = (network_init)self->options.network.init.pick;
    for (size_t k = 0; k < self->network_count; k++)
        network_initialize(&self->networks[k], init, &self->init[k], self->initial + self->starts[k]);
    memcpy(theta, self->initial, self->parameter_count * sizeof *theta);
    if (self->moving) memcpy(self->moving, self->initial, self->parameter_count * sizeof *theta);
}

bool learner_takes_columns(const learner_options *options)
{
    const network_options *net = &options->network;
    if (net->heads != 1 || net->layers < 2 || strcmp(net->front, "none") != 0) return false;
    /* Without decay, a row whose inputs were all zero is as it began also where training goes through all rows. */
    return options->lazy || (options->optimizer.decay == 0 && options->batch > 1);
}

void learner_start_column(learner *self, size_t place, float *theta, uint64_t time)
{
    size_t column = self->used++;
    for (size_t k = 0; k < self->network_count; k++) {
        size_t out = self->networks[k].layers[0].out.width;
        size_t at = self->starts[k] + column * out;
        initial_rows_draw(self->networks[k].initial, place, self->initial + at, out);
        memcpy(theta + at, self->initial + at, out * sizeof *theta);
        if (self->moving) memcpy(self->moving + at, self->initial + at, out * sizeof *theta);
        if (self->members[k]) members_start_column(self->members[k], column, place);
    }
    if (self->row_times) self->row_times[column] = time;
    self->trained = time;
}

ee_status learner_reserve(learner *self, size_t more, vector x, ee_error *error)
{
    ee_status status = history_reserve(&self->history, more, x, error);
    for (size_t k = 0; !status && k < self->network_count; k++)
        status = batch_reserve(&self->batches[k], x.count, error);
    return status ? status : grow_order(self, error);
}

void learner_append(learner *self, vector x, float target)
{
    history_append(&self->history, x, target);
}

void learner_undo(learner *self)
{
    history_undo(&self->history);
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

/* Runs one sample forward and backward, its deltas multiplied by scale. Returns its loss. */
static double visit(learner *self, vector x, float target, const float *theta, float scale)
{
    learner_loss loss = (learner_loss)self->options.loss.pick;
    float output = network_forward(&self->networks[0], theta, x, self->activations);
    float derivative = learner_loss_derivative(loss, output, target);
    network_backward(&self->networks[0], theta, x, self->activations, scale * derivative, self->deltas);
    return learner_loss_value(loss, output, target);
}

/* The weights that a step moves: theta itself, or, with `average`, those that theta is the average of. */
static float *moving_of(learner *self, float *theta)
{
    return self->moving ? self->moving : theta;
}

/* The share of the newest step in the average. At first the average is over the last tenth of all steps, so that the
 * first weights, which are far off, are forgotten soon. */
static float next_share(learner *self)
{
    double early = 1 / (1 + (double)++self->averaged / 10);
    return (float)fmax(early, 1 - exp2(-1 / (double)self->options.average));
}

static void add_to_average(const learner *self, float *theta, span part, float share)
{
    const float *moving = self->moving + part.start;
    float *mean = theta + part.start;
    for (size_t i = 0; i < part.count; i++) mean[i] += share * (moving[i] - mean[i]);
}

double learner_step(learner *self, vector x, float target, float *theta)
{
    gradient_factor factors[NETWORK_LAYERS];
    double loss = visit(self, x, target, moving_of(self, theta), optimizer_scale(&self->optimizer));
    size_t count = network_factors(&self->networks[0], x, self->activations, self->deltas, self->gradient, factors);
    optimizer_step(&self->optimizer, moving_of(self, theta), factors, count);
    memset(self->gradient, 0, network_formed_count(&self->networks[0]) * sizeof *self->gradient);
    span all = {0, self->parameter_count};
    self->trained = self->time;
    if (self->moving) add_to_average(self, theta, all, next_share(self));
    return loss;
}

/* ---- batches ---- */

static float cut_target(const target_units *units, float target)
{
    return target < units->low ? units->low : target > units->high ? units->high : target;
}

float learner_target(const learner *self, float target)
{
    const target_units *units = &self->units;
    return cut_target(units, (target - units->centre) * units->scale);
}

static float target_of(const learner *self, size_t sample)
{
    return learner_target(self, history_target(&self->history, sample));
}

static void take_in(learner *self, size_t sample, float *targets)
{
    vector input = history_input(&self->history, sample);
    targets[self->batches[0].count] = target_of(self, sample);
    for (size_t k = 0; k < self->network_count; k++) {
        batch_add(&self->batches[k], input);
        if (self->members[k]) members_add(self->members[k], input, history_number(&self->history, sample));
    }
}

/* Sets the output deltas of a sample, times scale. The heads that were not played learn that they were worth the least.
 * Returns the loss of the played one. */
static double set_deltas(learner *self, batch *passed, size_t sample, float target, float scale)
{
    learner_loss loss = (learner_loss)self->options.loss.pick;
    const float *outputs = batch_outputs(passed, sample);
    float *deltas = batch_output_deltas(passed, sample);
    float least = self->units.least, others = target != least ? scale * (float)self->options.others : 0;
    size_t played = network_head(passed->network, passed->inputs[sample]);
    for (size_t head = 0; head < passed->network->heads; head++)
        deltas[head] = others != 0 ? others * learner_loss_derivative(loss, outputs[head], least) : 0;
    deltas[played] = scale * learner_loss_derivative(loss, outputs[played], target);
    return learner_loss_value(loss, outputs[played], target);
}

/* The same for the members of one head. priors and noise: NULL where there are none. Returns the mean of their losses.
 */
static double set_members(const learner *self, const float *outputs, const float *priors, const float *noise,
                          float target, float scale, float *deltas)
{
    learner_loss loss = (learner_loss)self->options.loss.pick;
    size_t count = self->networks[0].members;
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        float output = outputs[k] + (priors ? priors[k] : 0);
        float aim = noise ? cut_target(&self->units, target + noise[k]) : target;
        deltas[k] = scale / (float)count * learner_loss_derivative(loss, output, aim);
        sum += learner_loss_value(loss, output, aim);
    }
    return sum / (double)count;
}

/* The same for the members of all heads. */
static double set_member_deltas(learner *self, batch *passed, members *apart, size_t sample, float target, float scale)
{
    const float *outputs = batch_outputs(passed, sample);
    float *deltas = batch_output_deltas(passed, sample), least = self->units.least;
    float others = target != least ? scale * (float)self->options.others : 0;
    size_t heads = passed->network->heads, count = passed->network->members;
    size_t played = network_head(passed->network, passed->inputs[sample]);
    memset(deltas, 0, heads * count * sizeof *deltas);
    for (size_t head = 0; others != 0 && head < heads; head++)
        set_members(self, outputs + head * count, members_priors_of(apart, sample, head), NULL, least, others,
                    deltas + head * count);
    return set_members(self, outputs + played * count, members_priors_of(apart, sample, played),
                       members_noise_of(apart, sample), target, scale, deltas + played * count);
}

/* Runs the samples of the batch forward and backward through a network, each gradient multiplied by scale. Returns the
 * sum of their losses. */
static double pass_network(learner *self, size_t k, const float *targets, const float *theta, float scale)
{
    batch *passed = &self->batches[k];
    members *apart = self->members[k];
    double sum = 0;
    batch_forward(passed, theta + self->starts[k]);
    if (apart) members_forward(apart);
    for (size_t s = 0; s < passed->count; s++)
        sum += apart ? set_member_deltas(self, passed, apart, s, targets[s], scale)
                     : set_deltas(self, passed, s, targets[s], scale);
    if (apart) members_drop(apart);
    batch_backward(passed, theta + self->starts[k], self->gradient + self->starts[k]);
    return sum;
}

/* The same for all networks. share: of each gradient in that of the step. */
static double pass_batch(learner *self, const float *targets, const float *theta, float share)
{
    float scale = share * optimizer_scale(&self->optimizer);
    double sum = 0;
    for (size_t k = 0; k < self->network_count; k++) sum += pass_network(self, k, targets, theta, scale);
    return sum;
}

/* All that a step does to a part of theta, while that part is in the cache. */
static void step_part(learner *self, float *theta, const adam_step *step, float share, span part)
{
    enum { PIECE = 2048 };
    for (size_t end = part.start + part.count; part.start < end; part.start += part.count) {
        part.count = end - part.start < PIECE ? end - part.start : PIECE;
        optimizer_step_part(&self->optimizer, step, moving_of(self, theta), self->gradient, part);
        if (self->moving) add_to_average(self, theta, part, share);
        memset(self->gradient + part.start, 0, part.count * sizeof *self->gradient);
    }
}

/* The parameters that each member of a network has to itself: those of the last layer. Without members, or layers that
 * they share, none. */
static span own_part(const learner *self, size_t k)
{
    const network *net = &self->networks[k];
    const layer *last = &net->layers[net->layer_count - 1];
    if (!self->members[k] || net->layer_count == 1) return (span){self->starts[k] + net->parameter_count, 0};
    return (span){self->starts[k] + last->parameters, last->parameter_count};
}

/* Makes the step of one network. */
static void end_network(learner *self, size_t k, float *theta, adam_step step, float share)
{
    const network *net = &self->networks[k];
    const batch *passed = &self->batches[k];
    size_t start = self->starts[k], end = start + net->parameter_count, width = net->layers[0].out.width;
    for (size_t r = 0; leaves_rows(self) && r < passed->row_count; r++)
        step_part(self, theta, &step, share, (span){start + passed->rows[r] * width, width});
    if (leaves_rows(self)) start += net->block * width;
    span last = own_part(self, k);
    float usual = step.rate;
    step_part(self, theta, &step, share, (span){start, last.start - start});
    if (self->members[k]) step.rate *= (float)self->options.members.rate;
    step_part(self, theta, &step, share, last);
    step.rate = usual;
    step_part(self, theta, &step, share, (span){last.start + last.count, end - last.start - last.count});
}

static void end_batch(learner *self, float *theta)
{
    const batch *first = &self->batches[0];
    self->trained = self->time;
    adam_step step = optimizer_begin(&self->optimizer);
    float share = self->moving ? next_share(self) : 0;
    for (size_t r = 0; self->row_times && r < first->row_count; r++) self->row_times[first->rows[r]] = self->time;
    for (size_t k = 0; k < self->network_count; k++) {
        end_network(self, k, theta, step, share);
        batch_clear_rows(&self->batches[k]);
    }
}

static void descend(learner *self, size_t samples, float *theta)
{
    memcpy(theta, self->initial, self->parameter_count * sizeof *theta);
    if (self->moving) memcpy(self->moving, self->initial, self->parameter_count * sizeof *theta);
    self->averaged = 0;
    self->trained = self->descended = self->time;
    optimizer_reset(&self->optimizer);
    float share = self->options.loss.pick == LOSS_CROSS_ENTROPY ? 1 / (float)samples : 1;
    for (int64_t step = 0; samples && step < self->options.steps; step++) {
        for (size_t i = 0; i < samples;) {
            float targets[BATCH_SAMPLES];
            for (; self->batches[0].count < BATCH_SAMPLES && i < samples; i++) take_in(self, i, targets);
            pass_batch(self, targets, moving_of(self, theta), share);
        }
        end_batch(self, theta);
    }
}

/* Makes the permutation as long as the history. New samples come last, and the shuffle then moves them anywhere. */
static void refresh_order(learner *self)
{
    for (; self->order_count < self->history.count; self->order_count++)
        self->order[self->order_count] = (uint32_t)self->order_count;
}

/* Whether sample number `turn` is one of the share that is drawn from the last samples. */
static bool is_recent(const learner *self, uint64_t turn)
{
    double share = self->options.recent;
    return floor((double)(turn + 1) * share) > floor((double)turn * share);
}

/* Draws any sample, or any of the last. In a ring they lie before the place that the next one takes. */
static size_t draw_sample(learner *self, uint64_t turn)
{
    enum { RECENT = 1000 };
    size_t count = self->history.count;
    if (count <= RECENT || !is_recent(self, turn)) return (size_t)random_below(&self->sampling, count);
    size_t ago = (size_t)random_below(&self->sampling, RECENT), newest = self->history.newest;
    return newest >= ago ? newest - ago : newest + count - ago;
}

/* Picks sample number `turn` of a training. Shuffles only as far as it is used, one step of Fisher and Yates for each
 * sample of the first pass, so a short training is cheap however long the history is. */
static size_t pick_sample(learner *self, uint64_t turn)
{
    size_t count = self->history.count;
    if (self->options.order.pick == ORDER_RANDOM) {
        if (turn == 0 && self->history.newest < count) return self->history.newest;
        return draw_sample(self, turn);
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

/* Returns sample number `turn` of a training of `end` samples, and prefetches the next one. */
static size_t take_sample(learner *self, uint64_t turn, uint64_t end)
{
    size_t sample = self->next;
    if (turn + 1 == end) return sample;
    self->next = pick_sample(self, turn + 1);
    history_prefetch(&self->history, self->next);
    return sample;
}

/* Computes the gradient of the batch that begins with sample number `turn`. Returns the sum of the losses. */
static double pass_samples(learner *self, uint64_t turn, uint64_t end, const float *theta)
{
    size_t size = (size_t)self->options.batch;
    double loss = 0;
    for (size_t i = 0; i < size;) {
        float targets[BATCH_SAMPLES];
        for (; self->batches[0].count < BATCH_SAMPLES && i < size; i++)
            take_in(self, take_sample(self, turn + i, end), targets);
        loss += pass_batch(self, targets, theta, 1 / (float)size);
    }
    return loss;
}

static double train_batch(learner *self, uint64_t turn, uint64_t end, float *theta)
{
    if (self->options.batch == 1 && steps_by_sample(self)) {
        size_t sample = take_sample(self, turn, end);
        return learner_step(self, history_input(&self->history, sample), target_of(self, sample), theta);
    }
    double loss = pass_samples(self, turn, end, moving_of(self, theta));
    end_batch(self, theta);
    return loss;
}

static void train(learner *self, float *theta)
{
    size_t count = self->history.count;
    if (!self->options.keep_moments) optimizer_reset(&self->optimizer);
    if (self->options.order.pick == ORDER_SHUFFLE) refresh_order(self);
    uint64_t size = (uint64_t)self->options.batch, end = (uint64_t)self->options.steps * size, pass_end = count;
    double pass_loss = 0;
    self->next = pick_sample(self, 0);
    for (uint64_t turn = 0; turn < end;) {
        pass_loss += train_batch(self, turn, end, theta);
        turn += size;
        if (turn < pass_end) continue;
        double mean = pass_loss / (double)(turn + count - pass_end) / (double)self->network_count;
        if (self->options.stop_loss > 0 && mean <= self->options.stop_loss) return;
        pass_end = turn + count;
        pass_loss = 0;
    }
}

void learner_outputs(learner *self, size_t k, const float *theta, const size_t *samples, size_t count, float *outputs)
{
    batch *passed = &self->batches[k];
    for (size_t i = 0; i < count; i++) batch_add(passed, history_input(&self->history, samples[i]));
    batch_forward(passed, theta + self->starts[k]);
    for (size_t i = 0; i < count; i++) outputs[i] = batch_output(passed, i);
    batch_drop(passed);
}

/* ---- copying ---- */

static size_t copy_span(const float *theta, span part, float *to)
{
    memcpy(to + part.start, theta + part.start, part.count * sizeof *to);
    return part.count;
}

size_t learner_copy(const learner *self, const float *theta, uint64_t since, float *to)
{
    size_t copied = 0;
    if (since && self->trained < since) return 0;
    if (!since || !self->row_times || self->descended >= since)
        return copy_span(theta, (span){0, self->parameter_count}, to);
    size_t rows = self->networks[0].block;
    for (size_t k = 0; k < self->network_count; k++) {
        size_t width = self->networks[k].layers[0].out.width, start = self->starts[k],
               all = self->networks[k].parameter_count;
        for (size_t row = 0; row < rows; row++)
            if (self->row_times[row] >= since) copied += copy_span(theta, (span){start + row * width, width}, to);
        copied += copy_span(theta, (span){start + rows * width, all - rows * width}, to);
    }
    return copied;
}

/* ---- trainings that can be taken back ---- */

/* A larger parameter means that training has diverged. Two layers of parameters this large still give finite scores. */
static const float LARGEST_PARAMETER = 1e9f;
/* The kernel `adam` squares a gradient. */
static const float LARGEST_GRADIENT = 1e18f;
/* If the loss of every sample is below this, no gradient comes near that limit. */
static const double CALM_LOSS = 1e6;

/* Lists the arrays that a training changes; NULL for those that this learner does not have. */
enum { CHANGED = 4 };
static void changed_by_training(learner *self, float *theta, float *arrays[CHANGED])
{
    arrays[0] = theta;
    arrays[1] = self->moving;
    arrays[2] = self->optimizer.first;
    arrays[3] = self->optimizer.second;
}

/* Saves the arrays, or copies them back. */
static void copy_arrays(learner *self, float *theta, bool back)
{
    size_t count = self->parameter_count;
    float *arrays[CHANGED], *saved = self->before.values;
    changed_by_training(self, theta, arrays);
    for (size_t i = 0; i < CHANGED; i++) {
        if (!arrays[i]) continue;
        memcpy(back ? arrays[i] : saved, back ? saved : arrays[i], count * sizeof *saved);
        saved += count;
    }
}

static void save(learner *self, float *theta)
{
    self->prepared = true;
    self->before.sampling = self->sampling;
    if (!self->before.values) return;
    self->before.averaged = self->averaged;
    self->before.steps = self->optimizer.steps;
    self->before.order_count = self->order_count;
    if (self->order) memcpy(self->before.order, self->order, self->order_count * sizeof *self->order);
    copy_arrays(self, theta, false);
}

void learner_abort(learner *self, float *theta)
{
    if (!self->prepared) return;
    self->prepared = false;
    self->sampling = self->before.sampling;
    memset(self->gradient, 0, self->parameter_count * sizeof *self->gradient);
    for (size_t k = 0; k < self->network_count; k++) batch_clear_rows(&self->batches[k]);
    if (!self->before.values) return;
    self->averaged = self->before.averaged;
    self->optimizer.steps = self->before.steps;
    self->order_count = self->before.order_count;
    if (self->order) memcpy(self->order, self->before.order, self->order_count * sizeof *self->order);
    copy_arrays(self, theta, true);
}

/* After a training: takes it back and returns false if it diverged. */
static bool accept_or_abort(learner *self, float *theta)
{
    size_t count = self->parameter_count;
    const float *second = self->optimizer.second;
    if (vector_is_within(theta, count, LARGEST_PARAMETER) &&
        (!self->moving || vector_is_within(self->moving, count, LARGEST_PARAMETER)) &&
        (!second || vector_is_within(second, count, FLT_MAX)))
        return true;
    learner_abort(self, theta);
    return false;
}

bool learner_prepare_descent(learner *self, size_t samples, float *theta)
{
    save(self, theta);
    descend(self, samples, theta);
    return accept_or_abort(self, theta);
}

bool learner_prepare(learner *self, float *theta)
{
    size_t count = self->history.count;
    if (self->options.training.pick == TRAINING_GD) return learner_prepare_descent(self, count, theta);
    save(self, theta);
    if (!count) return true;
    if (!one_step(self)) {
        train(self, theta);
        return accept_or_abort(self, theta);
    }
    self->next = pick_sample(self, 0);
    float_flags_clear();
    double loss = pass_samples(self, 0, (uint64_t)self->options.batch, moving_of(self, theta));
    bool calm = !float_flags_raised() && loss <= CALM_LOSS * (double)self->options.batch;
    if (calm || vector_is_within(self->gradient, self->parameter_count, LARGEST_GRADIENT)) return true;
    learner_abort(self, theta);
    return false;
}

void learner_commit(learner *self, float *theta)
{
    if (self->prepared && one_step(self) && self->history.count) end_batch(self, theta);
    self->prepared = false;
}

bool learner_train(learner *self, float *theta)
{
    if (!learner_prepare(self, theta)) return false;
    learner_commit(self, theta);
    return true;
}

/* Visits an array like theta, without the rows of columns that no place has. */
static void archive_parameters(const learner *self, float *values, archive *a)
{
    size_t at = 0;
    for (size_t k = 0; self->networks[0].initial && k < self->network_count; k++) {
        size_t out = self->networks[k].layers[0].out.width;
        archive_floats(a, values + at, self->starts[k] + self->used * out - at);
        at = self->starts[k] + self->networks[k].input * out;
    }
    archive_floats(a, values + at, self->parameter_count - at);
}

void learner_archive(learner *self, archive *a)
{
    history_archive(&self->history, a);
    for (size_t i = 0; a->reading && !a->status && i < self->history.count; i++)
        for (size_t k = 0; !a->status && k < self->network_count; k++)
            a->status = batch_reserve(&self->batches[k], history_input(&self->history, i).count, a->error);
    archive_u64(a, &self->optimizer.steps);
    if (self->optimizer.first) archive_parameters(self, self->optimizer.first, a);
    if (self->optimizer.second) archive_parameters(self, self->optimizer.second, a);
    archive_stream(a, &self->sampling);
    if (self->moving) {
        archive_parameters(self, self->moving, a);
        archive_u64(a, &self->averaged);
    }
    if (self->options.order.pick != ORDER_SHUFFLE) return;
    if (a->reading && !a->status) a->status = grow_order(self, a->error);
    archive_size(a, &self->order_count, 0, self->history.count, "samples of an order");
    if (!a->status) archive_u32s(a, self->order, self->order_count);
    for (size_t i = 0; a->reading && !a->status && i < self->order_count; i++)
        if (self->order[i] >= self->order_count)
            archive_fail(a, EE_BAD_MODEL, "model: a sample order names a missing sample");
}
