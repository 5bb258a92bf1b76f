#include "batch.h"

#include <string.h>

enum {
    LONGEST_DENSE = 4096, /* longest inputs that are copied to the matrix */
    OUTPUTS_TOGETHER = 64,
    /* With fewer samples, or a smaller layer, a matrix product gains little. Sums keep the order of a single sample. */
    LEAST_SAMPLES = 4,
    LEAST_WEIGHTS = 1024,
    /* Pairs of rows pay off if at least one in this many entries is not zero: then adjacent rows share enough
     * samples. */
    SPARSEST_PAIRED = 8,
    LEAST_PAIRED = 16, /* outputs: see forward_pair */
    NOT_LISTED = 2     /* touched, but not yet listed */
};

static bool is_dense_first(const batch *self)
{
    return self->network->layers[0].kind == LAYER_DENSE;
}

static const layer *last_layer(const batch *self)
{
    return &self->network->layers[self->network->layer_count - 1];
}

static ee_status reserve_entries(batch *self, size_t count, ee_error *error)
{
    memory *owner = self->memory;
    ee_status status = memory_grow(owner, &self->samples, &self->sample_capacity, count, sizeof(uint32_t), error);
    if (!status) status = memory_grow(owner, &self->values, &self->value_capacity, count, sizeof(float), error);
    return status;
}

/* Pairs are for sparse inputs of many entries with ascending indices. */
static bool may_use_pairs(const batch *self)
{
    const network *net = self->network;
    return self->dense && !net->initial && net->block % 2 == 0 && net->layers[0].out.width >= LEAST_PAIRED &&
           self->usual_entries * SPARSEST_PAIRED >= BATCH_SAMPLES * net->block;
}

static ee_status create_pairs(batch *self, ee_error *error)
{
    size_t most = self->usual_entries, pairs = self->network->block / 2;
    ee_status status = memory_create(self->memory, &self->pair_samples, most, sizeof(uint32_t), error);
    if (!status) status = memory_create(self->memory, &self->pair_values, 2 * most, sizeof(float), error);
    if (!status) status = memory_create(self->memory, &self->pair_ends, pairs, sizeof(uint32_t), error);
    return status;
}

ee_status batch_create(batch *self, memory *owner, const network *net, size_t entries, ee_error *error)
{
    *self = (batch){.memory = owner, .network = net};
    size_t activations = BATCH_SAMPLES * net->activation_count, block = net->block;
    ee_status status = memory_create(owner, &self->activations, activations, sizeof(float), error);
    if (!status) status = memory_create(owner, &self->deltas, activations, sizeof(float), error);
    if (status || !is_dense_first(self)) return status;
    if (net->heads > 1 && net->members == 1 && net->layer_count > 1)
        status = memory_create(owner, &self->heads, last_layer(self)->weight_count, sizeof(float), error);
    if (status) return status;
    if (network_places(net) <= LONGEST_DENSE)
        status = memory_create(owner, &self->dense, BATCH_SAMPLES * block, sizeof(float), error);
    if (!status) status = memory_create(owner, &self->rows, block, sizeof *self->rows, error);
    if (!status) status = memory_create(owner, &self->touched, block, 1, error);
    if (!status) status = memory_create(owner, &self->ends, block, sizeof *self->ends, error);
    self->usual_entries = BATCH_SAMPLES * (entries < block ? entries : block);
    if (!status && may_use_pairs(self)) status = create_pairs(self, error);
    return status ? status : reserve_entries(self, self->usual_entries, error);
}

ee_status batch_reserve(batch *self, size_t entries, ee_error *error)
{
    if (!is_dense_first(self)) return EE_OK;
    return reserve_entries(self, entries < self->network->block ? entries : self->network->block, error);
}

static float *activations_of(const batch *self, size_t sample)
{
    return self->activations + sample * self->network->activation_count;
}

static float *deltas_of(const batch *self, size_t sample)
{
    return self->deltas + sample * self->network->activation_count;
}

/* The outputs of a layer, and their deltas, of all samples. */
static matrix outputs_of(const batch *self, size_t index)
{
    return (matrix){self->activations + self->network->layers[index].output, self->network->activation_count, 1};
}

static matrix output_deltas_of(const batch *self, size_t index)
{
    return (matrix){self->deltas + self->network->layers[index].output, self->network->activation_count, 1};
}

static const_matrix read_only(matrix m)
{
    return (const_matrix){m.values, m.row, m.column};
}

/* Whether all samples go through a layer above the first at once. Not the last one: it has few outputs, often with one
 * delta. */
static bool passes_at_once(const batch *self, size_t index)
{
    const layer *l = &self->network->layers[index];
    return l->kind == LAYER_DENSE && index + 1 < self->network->layer_count && self->count >= LEAST_SAMPLES &&
           l->weight_count >= LEAST_WEIGHTS;
}

void batch_add(batch *self, vector input)
{
    self->inputs[self->count++] = input;
}

/* ---- inputs ---- */

static void lay_out_inputs(batch *self)
{
    self->entry_count = 0;
    for (size_t s = 0; s < self->count; s++) {
        network_lay_out_input(self->network, self->inputs[s], activations_of(self, s));
        self->seen[s] = network_first_input(self->network, self->inputs[s], activations_of(self, s));
        self->entry_count += self->seen[s].count;
    }
}

static void touch(batch *self, size_t row)
{
    if (self->touched[row]) return;
    self->touched[row] = 1;
    self->ends[row] = 0;
    self->rows[self->row_count++] = (uint32_t)row;
}

/* If few entries are zero, computing with the zeros is cheaper than looking up the others. */
static bool is_worth_dense(const batch *self)
{
    return self->dense && 2 * self->entry_count >= self->count * network_places(self->network);
}

static void lay_side_by_side(batch *self)
{
    size_t block = self->network->block;
    for (size_t s = 0; s < self->count; s++) vector_expand(self->seen[s], self->dense + s * block, block);
    for (size_t row = 0; row < block; row++)
        for (size_t s = 0; s < self->count && !self->touched[row]; s++)
            if (self->dense[s * block + row] != 0) touch(self, row);
}

/* The end of the samples that are sorted together with sample `first`: see usual_entries. */
static size_t end_of_part(const batch *self, size_t first)
{
    if (self->entry_count <= self->usual_entries) return self->count;
    size_t entries = self->seen[first].count, end = first + 1;
    while (end < self->count && (entries += self->seen[end].count) <= self->usual_entries) end++;
    return end;
}

/* Counts the entries of each row in the samples first to last - 1; then `ends` are the starts, and advance with each
 * entry. */
static void sort_by_row(batch *self, size_t first, size_t last)
{
    for (size_t r = 0; r < self->row_count; r++) self->ends[self->rows[r]] = 0;
    for (size_t s = first; s < last; s++) {
        vector x = self->seen[s];
        for (size_t i = 0; i < x.count; i++) {
            size_t row = x.indices ? x.indices[i] : i;
            if (x.values[i] == 0) continue;
            touch(self, row);
            self->ends[row]++;
        }
    }
    uint32_t next = 0;
    for (size_t r = 0; r < self->row_count; r++) {
        uint32_t *end = &self->ends[self->rows[r]], count = *end;
        *end = next;
        next += count;
    }
    for (size_t s = first; s < last; s++) {
        vector x = self->seen[s];
        for (size_t i = 0; i < x.count; i++) {
            if (x.values[i] == 0) continue;
            uint32_t at = self->ends[x.indices ? x.indices[i] : i]++;
            self->samples[at] = (uint32_t)s;
            self->values[at] = x.values[i];
        }
    }
}

/* ---- inputs by pairs of rows ---- */

static bool is_worth_pairs(const batch *self)
{
    if (!self->pair_samples || self->entry_count > self->usual_entries) return false;
    for (size_t s = 0; s < self->count; s++)
        if (!self->inputs[s].indices) return false;
    return SPARSEST_PAIRED * self->entry_count >= self->count * self->network->block;
}

/* The entries of a sample in the two rows of a pair are adjacent: the second joins the first. */
static void put_pairs(batch *self, uint32_t sample)
{
    vector x = self->seen[sample];
    size_t before = self->network->block, at = 0;
    for (size_t i = 0; i < x.count; i++) {
        size_t row = x.indices[i], pair = row / 2;
        if (x.values[i] == 0) continue;
        if (pair != before) {
            at = self->pair_ends[pair]++;
            self->pair_samples[at] = sample;
            self->pair_values[2 * at] = self->pair_values[2 * at + 1] = 0;
        }
        self->pair_values[2 * at + row % 2] = x.values[i];
        before = pair;
    }
}

/* Lists the touched rows in order, so that later passes go through memory in order. */
static void list_rows(batch *self)
{
    for (size_t row = 0; row < self->network->block; row++) {
        if (self->touched[row] != NOT_LISTED) continue;
        self->touched[row] = 0;
        touch(self, row);
    }
}

/* Like sort_by_row. */
static void sort_by_pair(batch *self)
{
    uint32_t *ends = self->pair_ends, next = 0;
    size_t pairs = self->network->block / 2;
    memset(ends, 0, pairs * sizeof *ends);
    for (size_t s = 0; s < self->count; s++) {
        vector x = self->seen[s];
        size_t before = pairs;
        for (size_t i = 0; i < x.count; i++) {
            size_t row = x.indices[i];
            if (x.values[i] == 0) continue;
            if (!self->touched[row]) self->touched[row] = NOT_LISTED;
            ends[row / 2] += row / 2 != before;
            before = row / 2;
        }
    }
    list_rows(self);
    for (size_t p = 0; p < pairs; p++) {
        uint32_t count = ends[p];
        ends[p] = next;
        next += count;
    }
    for (size_t s = 0; s < self->count; s++) put_pairs(self, (uint32_t)s);
}

/* ---- forward ---- */

/* A few outputs for all samples, then the next few: their weights stay in the cache from sample to sample. */
static void forward_entries(batch *self, const float *weights)
{
    const network *net = self->network;
    const layer *first = &net->layers[0];
    const kernel_table *kernels = net->kernels;
    size_t out = first->out.width;
    for (size_t j = 0; j < out; j += OUTPUTS_TOGETHER) {
        size_t width = out - j < OUTPUTS_TOGETHER ? out - j : OUTPUTS_TOGETHER;
        const float *biases = first->bias ? weights + first->weight_count + j : NULL;
        for (size_t s = 0; s < self->count; s++) {
            float *outputs = activations_of(self, s) + first->output + j;
            vector x = self->seen[s];
            if (x.indices)
                kernels->forward_sparse(outputs, biases, weights + j, x.indices, x.values, x.count, 0, width, out,
                                        first->relu);
            else
                kernels->forward(outputs, biases, weights + j, x.values, x.count, width, out, first->relu);
        }
    }
}

static void forward_first(batch *self, const float *theta)
{
    const network *net = self->network;
    const layer *first = &net->layers[0];
    lay_out_inputs(self);
    self->uses_dense = is_worth_dense(self);
    if (self->uses_dense) {
        lay_side_by_side(self);
        layer_forward_many(first, net->kernels, theta, (const_matrix){self->dense, net->block, 1}, self->count,
                           (matrix){self->activations + first->output, net->activation_count, 1});
    } else {
        forward_entries(self, theta + first->parameters);
    }
}

static void forward_above(batch *self, size_t index, const float *theta)
{
    const network *net = self->network;
    if (passes_at_once(self, index)) {
        layer_forward_many(&net->layers[index], net->kernels, theta, read_only(outputs_of(self, index - 1)),
                           self->count, outputs_of(self, index));
        return;
    }
    for (size_t s = 0; s < self->count; s++) network_forward_layer(net, index, theta, activations_of(self, s));
}

void batch_forward(batch *self, const float *theta)
{
    const network *net = self->network;
    if (!is_dense_first(self)) {
        for (size_t s = 0; s < self->count; s++) network_outputs(net, theta, self->inputs[s], activations_of(self, s));
        return;
    }
    forward_first(self, theta);
    for (size_t i = 1; i < net->layer_count; i++) forward_above(self, i, theta);
}

float batch_output(const batch *self, size_t sample)
{
    return network_output(self->network, self->inputs[sample], activations_of(self, sample));
}

const float *batch_outputs(const batch *self, size_t sample)
{
    return activations_of(self, sample) + last_layer(self)->output;
}

float *batch_output_deltas(batch *self, size_t sample)
{
    return deltas_of(self, sample) + last_layer(self)->output;
}

/* ---- backward ---- */

static void gradient_dense(batch *self, float *weights)
{
    const network *net = self->network;
    size_t out = net->layers[0].out.width, block = net->block;
    net->kernels->multiply((matrix){weights, out, 1}, (const_matrix){self->dense, 1, block},
                           (const_matrix){self->deltas + net->layers[0].output, net->activation_count, 1}, block,
                           self->count, out);
}

/* Adds to each row the deltas of the samples first to last - 1 that have an entry in it. */
static void gradient_entries(batch *self, float *weights, size_t first, size_t last)
{
    const network *net = self->network;
    const float *deltas = self->deltas + net->layers[0].output;
    size_t out = net->layers[0].out.width;
    sort_by_row(self, first, last);
    for (size_t j = 0; j < out; j += OUTPUTS_TOGETHER) {
        size_t width = out - j < OUTPUTS_TOGETHER ? out - j : OUTPUTS_TOGETHER, start = 0;
        for (size_t r = 0; r < self->row_count; r++) {
            size_t row = self->rows[r], end = self->ends[row];
            if (start == end) continue;
            float *sums = weights + row * out + j;
            net->kernels->forward_sparse(sums, sums, deltas + j, self->samples + start, self->values + start,
                                         end - start, 0, width, net->activation_count, false);
            start = end;
        }
    }
}

/* Like gradient_entries, two rows at a time. */
static void gradient_pairs(batch *self, float *weights)
{
    const network *net = self->network;
    const float *deltas = self->deltas + net->layers[0].output;
    const uint32_t *ends = self->pair_ends;
    size_t out = net->layers[0].out.width;
    sort_by_pair(self);
    for (size_t j = 0, width; j < out; j += width) {
        size_t start = 0;
        width = out - j < OUTPUTS_TOGETHER + LEAST_PAIRED ? out - j : OUTPUTS_TOGETHER;
        for (size_t p = 0; p < net->block / 2; start = ends[p++]) {
            float *sums = weights + 2 * p * out + j;
            if (start == ends[p]) continue;
            net->kernels->forward_pair((matrix){sums, out, 1}, (const_matrix){sums, out, 1}, deltas + j,
                                       self->pair_samples + start, self->pair_values + 2 * start, ends[p] - start,
                                       width, net->activation_count, false);
        }
    }
}

static void gradient_first(batch *self, float *gradient)
{
    const layer *first = &self->network->layers[0];
    float *weights = gradient + first->parameters;
    if (self->uses_dense) {
        gradient_dense(self, weights);
    } else if (is_worth_pairs(self)) {
        gradient_pairs(self, weights);
    } else {
        for (size_t s = 0, end; s < self->count; s = end) {
            end = end_of_part(self, s);
            gradient_entries(self, weights, s, end);
        }
    }
    if (first->bias)
        layer_add_bias_gradient(first, self->network->kernels, read_only(output_deltas_of(self, 0)), self->count,
                                weights);
}

/* below += the deltas of the heads times their weights. Often only one delta is not zero. */
static void add_heads(const batch *self, const float *deltas, float *restrict below)
{
    size_t count = shape_size(last_layer(self)->in);
    const float *restrict weights = self->heads;
    for (size_t head = 0; head < self->network->heads; head++, weights += count) {
        float delta = deltas[head];
        for (size_t i = 0; delta != 0 && i < count; i++) below[i] += delta * weights[i];
    }
}

/* The deltas below the last layer if each head has one output. */
static void backward_heads(batch *self, const float *theta)
{
    const network *net = self->network;
    const layer *last = last_layer(self), *under = last - 1;
    const float *weights = theta + last->parameters;
    size_t count = shape_size(last->in);
    for (size_t i = 0; i < count; i++)
        for (size_t head = 0; head < net->heads; head++) self->heads[head * count + i] = *weights++;
    for (size_t s = 0; s < self->count; s++) {
        float *below = deltas_of(self, s) + under->output;
        memset(below, 0, count * sizeof *below);
        add_heads(self, deltas_of(self, s) + last->output, below);
        if (under->relu) net->kernels->relu_backward(below, 1, below, activations_of(self, s) + under->output, count);
    }
}

static bool has_one_output(const layer *l)
{
    return l->kind == LAYER_DENSE && l->out.width == 1;
}

/* The gradient of a layer with one output: the sum over the samples of inputs times deltas. */
static void gradient_one_output(const batch *self, size_t index, float *gradient)
{
    const layer *l = &self->network->layers[index];
    float column[BATCH_SAMPLES];
    const_matrix inputs = read_only(outputs_of(self, index - 1)), deltas = read_only(output_deltas_of(self, index));
    for (size_t s = 0; s < self->count; s++) column[s] = deltas.values[s * deltas.row];
    layer_sum_rows(self->network->kernels, gradient, inputs, column, self->count, l->weight_count);
    for (size_t s = 0; l->bias && s < self->count; s++) gradient[l->weight_count] += column[s];
}

/* Computes the deltas below a layer, and adds the gradient of its parameters. */
static void backward_above(batch *self, size_t index, const float *theta, float *gradient)
{
    const network *net = self->network;
    const layer *l = &net->layers[index];
    const_matrix inputs = read_only(outputs_of(self, index - 1)), deltas = read_only(output_deltas_of(self, index));
    if (passes_at_once(self, index)) {
        layer_backward_many(l, net->kernels, theta, inputs, deltas, self->count, output_deltas_of(self, index - 1),
                            l[-1].relu);
        layer_add_gradient_many(l, net->kernels, inputs, deltas, self->count, gradient + l->parameters);
        return;
    }
    bool of_heads = self->heads && index + 1 == net->layer_count;
    if (of_heads) backward_heads(self, theta);
    for (size_t s = 0; !of_heads && s < self->count; s++)
        network_backward_layer(net, index, theta, activations_of(self, s), deltas_of(self, s));
    if (has_one_output(l)) {
        gradient_one_output(self, index, gradient + l->parameters);
        return;
    }
    for (size_t s = 0; s < self->count; s++)
        network_add_layer_gradient(net, index, activations_of(self, s), deltas_of(self, s), gradient);
}

/* For a first layer that is not a matrix product of the batch. */
static void backward_one_by_one(batch *self, const float *theta, float *gradient)
{
    for (size_t s = 0; s < self->count; s++) {
        network_backward_deltas(self->network, theta, activations_of(self, s), deltas_of(self, s));
        network_add_gradient(self->network, self->inputs[s], activations_of(self, s), deltas_of(self, s), gradient);
    }
}

void batch_backward(batch *self, const float *theta, float *gradient)
{
    if (is_dense_first(self)) {
        for (size_t i = self->network->layer_count; i-- > 1;) backward_above(self, i, theta, gradient);
        gradient_first(self, gradient);
    } else {
        backward_one_by_one(self, theta, gradient);
    }
    self->count = 0;
}

void batch_drop(batch *self)
{
    self->count = 0;
    batch_clear_rows(self);
}

void batch_clear_rows(batch *self)
{
    for (size_t r = 0; r < self->row_count; r++) self->touched[self->rows[r]] = 0;
    self->row_count = 0;
}
