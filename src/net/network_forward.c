/* Forward passes of a network. */
#include <string.h>

#include "network.h"

size_t network_head(const network *self, vector input)
{
    if (self->heads == 1) return 0;
    /* an explicit zero counts as a missing entry */
    for (size_t i = 0; i < input.count; i++)
        if (input.values[i] != 0) return (input.indices ? input.indices[i] : i) / self->block;
    return 0;
}

/* The entries of the block that is seen, in the input. */
static vector entries_seen(const network *self, vector input, size_t first)
{
    if (!input.indices) return vector_dense(input.values + first, self->block);
    if (!input.count) return input; /* its values may be NULL */
    size_t start = 0, end = input.count;
    if (self->heads > 1) {
        while (start < end && input.indices[start] < first) start++;
        while (end > start && input.indices[end - 1] - first >= self->block) end--;
    }
    return (vector){input.values + start, input.indices + start, end - start};
}

/* A sparse product is expanded; its entries follow if they are read. */
static void lay_out_product(const network *self, vector input, float *room)
{
    if (input.indices) vector_expand(input, room, self->input);
    if (self->layers[0].rows) return;
    const float *rows = input.indices ? room : input.values, *columns = rows + self->rows;
    const float *others = columns + self->columns;
    room += self->input;
    for (size_t a = 0; a < self->rows; a++)
        for (size_t b = 0; b < self->columns; b++) *room++ = rows[a] * columns[b];
    memcpy(room, others, (self->input - self->rows - self->columns) * sizeof *room);
}

/* At the start of the activations, sparse entries are relative to the block: as (block) floats or, for a fully
 * connected layer, only as (count) indices. */
void network_lay_out_input(const network *self, vector input, float *room)
{
    if (self->rows) lay_out_product(self, input, room);
    if (self->rows || !input.indices || !self->layers[0].output) return;
    size_t first = network_head(self, input) * self->block;
    vector seen = entries_seen(self, input, first);
    if (self->layers[0].kind == LAYER_DENSE) {
        uint32_t *indices = (uint32_t *)(void *)room;
        for (size_t i = 0; i < seen.count; i++) indices[i] = (uint32_t)(seen.indices[i] - first);
        return;
    }
    memset(room, 0, self->block * sizeof *room);
    for (size_t i = 0; i < seen.count; i++) room[seen.indices[i] - first] = seen.values[i];
}

vector network_first_input(const network *self, vector input, const float *activations)
{
    if (self->layers[0].rows) return input.indices ? vector_dense(activations, self->input) : input;
    if (self->rows) return vector_dense(activations + self->input, shape_size(self->layers[0].in));
    vector seen = entries_seen(self, input, network_head(self, input) * self->block);
    if (!input.indices || !self->layers[0].output) return seen;
    if (self->layers[0].kind != LAYER_DENSE) return vector_dense(activations, self->block);
    seen.indices = (const uint32_t *)(const void *)activations;
    return seen;
}

bool network_sees_same(const network *self, vector a, vector b)
{
    if (self->heads == 1 || !a.indices != !b.indices) return false;
    size_t first_a = network_head(self, a) * self->block, first_b = network_head(self, b) * self->block;
    a = entries_seen(self, a, first_a);
    b = entries_seen(self, b, first_b);
    if (a.count != b.count) return false;
    if (a.count && memcmp(a.values, b.values, a.count * sizeof *a.values) != 0) return false;
    bool same = true;
    for (size_t i = 0; a.indices && i < a.count; i++) same &= a.indices[i] - first_a == b.indices[i] - first_b;
    return same;
}

void network_forward_layer(const network *self, size_t index, const float *theta, float *activations)
{
    layer_forward(&self->layers[index], self->kernels, theta, network_hidden_input(self, index, activations),
                  activations + self->layers[index].output);
}

/* The outputs of the first layer must be set. */
static const float *outputs_above(const network *self, const float *theta, float *activations)
{
    for (size_t i = 1; i < self->layer_count; i++) network_forward_layer(self, i, theta, activations);
    return activations + self->layers[self->layer_count - 1].output;
}

bool network_has_missing_columns(const network *self, vector input)
{
    bool found = false;
    for (size_t i = 0; self->initial && input.indices && i < input.count; i++) found |= input.indices[i] >= self->input;
    return found;
}

/* Adds an entry without a column to the outputs of the first layer, in parts. */
static void add_missing_column(const network *self, size_t place, float value, float *outputs)
{
    enum { TOGETHER = 1024 };
    static const uint32_t only = 0;
    float row[TOGETHER];
    size_t out = self->layers[0].out.width;
    random_stream stream = initial_rows_stream(self->initial, place);
    for (size_t j = 0; j < out; j += TOGETHER) {
        size_t width = out - j < TOGETHER ? out - j : TOGETHER;
        initial_rows_draw_on(self->initial, &stream, row, width);
        self->kernels->forward_sparse(outputs + j, outputs + j, row, &only, &value, 1, 0, width, width, false);
    }
}

/* Like the kernel with all rows stored: the entries are added in order. */
static void forward_missing_columns(const network *self, const float *theta, vector input, float *outputs)
{
    const layer *first = &self->layers[0];
    const float *weights = theta + first->parameters;
    const kernel_table *kernels = self->kernels;
    size_t out = first->out.width;
    if (first->bias)
        memcpy(outputs, weights + first->weight_count, out * sizeof *outputs);
    else
        memset(outputs, 0, out * sizeof *outputs);
    for (size_t i = 0; i < input.count; i++) {
        uint32_t index = input.indices[i];
        if (index >= self->input)
            add_missing_column(self, index - self->input, input.values[i], outputs);
        else
            kernels->forward_sparse(outputs, outputs, weights, &index, &input.values[i], 1, 0, out, out, false);
    }
    if (first->relu) kernels->relu(outputs, out);
}

const float *network_outputs(const network *self, const float *theta, vector input, float *activations)
{
    float *first = activations + self->layers[0].output;
    network_lay_out_input(self, input, activations);
    if (network_has_missing_columns(self, input))
        forward_missing_columns(self, theta, input, first);
    else
        layer_forward(&self->layers[0], self->kernels, theta, network_first_input(self, input, activations), first);
    return outputs_above(self, theta, activations);
}

size_t network_indices_behind(const network *self, const ee_arms *arms, size_t arm)
{
    enum {
        CACHED = 1 << 18,
        WIDEST = 1024
    }; /* floats: of a second cache, and of the longest row of which it holds many */
    const layer *first = &self->layers[0];
    if (!arms->starts || self->layers[0].output) return 0;
    if (first->weight_count <= CACHED || first->out.width > WIDEST) return 0;
    return vector_indices_behind(arms, arm);
}

const float *network_outputs_of_arm(const network *self, const float *theta, const ee_arms *arms, size_t arm,
                                    float *activations)
{
    vector x = vector_of_arm(arms, arm);
    size_t behind = network_indices_behind(self, arms, arm);
    if (!behind || network_has_missing_columns(self, x)) return network_outputs(self, theta, x, activations);
    layer_forward_sparse(&self->layers[0], self->kernels, theta, x, behind, activations + self->layers[0].output);
    return outputs_above(self, theta, activations);
}

/* A layer with few outputs does not fill the registers, so several inputs at once gain nothing. */
static bool gains_from_many(const network *self, size_t index)
{
    const layer *l = &self->layers[index];
    return l->kind == LAYER_DENSE && (l->out.width == 1 || l->out.width >= 16) && (index || self->heads == 1);
}

void network_outputs_of_many(const network *self, const float *theta, const float *inputs, size_t count,
                             float *activations)
{
    size_t stride = self->activation_count;
    for (size_t i = 0; i < self->layer_count; i++) {
        const layer *l = &self->layers[i];
        const_matrix below = {inputs, self->input, 1};
        if (i) below = (const_matrix){activations + self->layers[i - 1].output, stride, 1};
        if (gains_from_many(self, i)) {
            layer_forward_many(l, self->kernels, theta, below, count, (matrix){activations + l->output, stride, 1});
            continue;
        }
        for (size_t s = 0; s < count; s++) {
            float *sample = activations + s * stride;
            vector input = vector_dense(inputs + s * self->input, self->input);
            if (!i) network_lay_out_input(self, input, sample);
            input = i ? network_hidden_input(self, i, sample) : network_first_input(self, input, sample);
            layer_forward(l, self->kernels, theta, input, sample + l->output);
        }
    }
}

const float *network_members(const network *self, vector input, const float *activations)
{
    return activations + self->layers[self->layer_count - 1].output + network_head(self, input) * self->members;
}

float network_output(const network *self, vector input, const float *activations)
{
    const float *outputs = network_members(self, input, activations);
    if (self->members == 1) return outputs[0];
    double sum = 0;
    for (size_t i = 0; i < self->members; i++) sum += (double)outputs[i];
    return (float)(sum / (double)self->members);
}

float network_forward(const network *self, const float *theta, vector input, float *activations)
{
    network_outputs(self, theta, input, activations);
    return network_output(self, input, activations);
}
