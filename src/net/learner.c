#include "learner.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* ---- making ---- */

static random_stream named_stream(uint64_t seed, const char *name, const char *purpose)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s.%s", name, purpose);
    return random_named(seed, whole);
}

/* Derives how a training runs from the options. The members must exist. */
static void set_training(learner *self)
{
    const learner_options *o = &self->options;
    self->leaves_rows = o->lazy && self->networks[0].layers[0].kind == LAYER_DENSE;
    self->steps_rows = o->grows && !self->leaves_rows && learner_takes_columns(o);
    self->steps_by_sample = !self->leaves_rows && o->others == 0 && !self->members[0] && self->network_count == 1;
    bool formed = o->batch > 1 || !self->steps_by_sample;
    self->is_one_step = o->training.pick == TRAINING_SGD && o->steps == 1 && formed && o->order.pick == ORDER_RANDOM &&
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
    if (!status && self->leaves_rows)
        status = memory_create(self->memory, &self->row_times, self->networks[0].block, sizeof *self->row_times, error);
    size_t copies = (size_t)(1 + (self->moving != NULL) + 2 * (self->optimizer.first != NULL));
    if (!status && !self->is_one_step)
        status = memory_create(self->memory, &self->before.values, copies * parameters, sizeof(float), error);
    return status;
}

/* Memory for a permutation of the samples, and for its state before a training. */
static ee_status grow_order(learner *self, ee_error *error)
{
    size_t count = self->history.capacity, size = sizeof(uint32_t);
    if (self->options.order.pick != ORDER_SHUFFLE) return EE_OK;
    ee_status status = memory_grow(self->memory, &self->order, &self->order_capacity, count, size, error);
    return status ? status
                  : memory_grow(self->memory, &self->before.order, &self->before.order_capacity, count, size, error);
}

/* The seed of a network; the first has that of the learner. */
static uint64_t seed_of(uint64_t seed, const char *name, size_t number)
{
    char purpose[32];
    if (!number) return seed;
    snprintf(purpose, sizeof purpose, "committee.%zu", number);
    random_stream stream = named_stream(seed, name, purpose);
    return random_bits(&stream);
}

/* Changes the options of the first network to those of network number k. */
static void deepen(const learner *self, size_t k, network_options *made)
{
    if (!k) return;
    made->layers += (int64_t)k;
    made->width = self->options.deep_width;
}

/* Creates network number k, one layer deeper than the previous one. input is the number of places of an input. */
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

/* Creates the priors and noise of the members of a network. */
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

ee_status learner_create(learner *self, memory *owner, const char *name, const learner_options *options, size_t input,
                         size_t nonzeros, uint64_t seed, size_t most_parameters, ee_error *error)
{
    *self = (learner){.memory = owner,
                      .options = *options,
                      .network_count = options->committee ? (size_t)options->committee : 1,
                      .units = {.scale = 1, .low = -FLT_MAX, .high = FLT_MAX},
                      .sampling = named_stream(seed, name, "sampling")};
    if (options->history.pick == HISTORY_RESERVOIR)
        self->options.recent = 0; /* a reservoir does not know which samples are the latest */
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
    set_training(self);
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

/* ---- saving and loading ---- */

/* Visits an array like theta, without the rows of unused columns. */
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
