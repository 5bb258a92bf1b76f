#include "network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static size_t entries_of_product(const network *self)
{
    return self->rows * self->columns + self->input - self->rows - self->columns;
}

/* Usually the first layer reads the arm where it lies. In two cases the arm is first laid out in room in front of the
 * activations: a sparse arm, where the layer is not fully connected or sees only a block; and a product that the layer
 * cannot read as one. */
static size_t input_room(const network *self)
{
    if (self->rows) return self->input + (self->layers[0].rows ? 0 : entries_of_product(self));
    return self->heads > 1 || self->layers[0].kind != LAYER_DENSE ? self->block : 0;
}

static ee_status append(network *self, const char *name, layer next, ee_error *error)
{
    if (self->layer_count == NETWORK_LAYERS)
        return status_fail(error, EE_BAD_OPTION, "options: %s has more than %d layers", name, NETWORK_LAYERS);
    size_t biases = next.kind == LAYER_DENSE ? next.out.width : next.out.channels;
    next.parameter_count = next.weight_count + (next.bias ? biases : 0);
    self->layers[self->layer_count++] = next;
    return EE_OK;
}

static ee_status append_dense(network *self, const char *name, shape in, size_t out, bool bias, bool relu,
                              ee_error *error)
{
    layer next = {.kind = LAYER_DENSE, .in = in, .out = {1, 1, out}, .bias = bias, .relu = relu};
    next.weight_count = shape_size(in) * out;
    return append(self, name, next, error);
}

/* Who reads it may not have set it: a preset has a front, and what the network sees may depend on other options. */
static ee_status fail_front(const char *name, const char *part, shape in, ee_error *error)
{
    return status_fail(error, EE_BAD_OPTION,
                       "options: %s.front: %s does not fit its input of %zux%zu; use a smaller one, or %s.front=none",
                       name, part, in.height, in.width, name);
}

static ee_status append_convolution(network *self, const char *name, const char *part, shape in,
                                    const size_t numbers[3], bool flat, bool bias, ee_error *error)
{
    size_t channels = numbers[0], kernel = numbers[1], stride = numbers[2];
    layer next = {.kind = LAYER_CONVOLUTION,
                  .in = in,
                  .kernel_height = flat ? 1 : kernel,
                  .kernel_width = kernel,
                  .stride = stride,
                  .bias = bias};
    if (next.kernel_height > in.height || next.kernel_width > in.width) return fail_front(name, part, in, error);
    next.out = (shape){channels, (in.height - next.kernel_height) / stride + 1, (in.width - kernel) / stride + 1};
    next.weight_count = channels * in.channels * next.kernel_height * kernel;
    return append(self, name, next, error);
}

static ee_status append_pool(network *self, const char *name, const char *part, shape in, size_t kernel,
                             ee_error *error)
{
    layer next = {.kind = LAYER_POOL, .in = in, .kernel_height = in.height == 1 ? 1 : kernel, .kernel_width = kernel};
    if (next.kernel_height > in.height || kernel > in.width) return fail_front(name, part, in, error);
    next.out = (shape){in.channels, in.height / next.kernel_height, in.width / kernel};
    return append(self, name, next, error);
}

/* Small enough that no product of sizes overflows 64 bits. */
enum { LARGEST_NUMBER = 8192 };

/* Reads up to most whole numbers, each behind a mark; returns how many, or 0 when the text is not that. */
static size_t read_numbers(const char *text, char mark, size_t *numbers, size_t most)
{
    size_t count = 0;
    while (*text == mark && count < most) {
        char *end;
        unsigned long value = strtoul(text + 1, &end, 10);
        if (end == text + 1 || text[1] == '-' || text[1] == '+' || value < 1 || value > LARGEST_NUMBER) return 0;
        numbers[count++] = value;
        text = end;
    }
    return *text ? 0 : count;
}

static ee_status append_front(network *self, const char *name, const char *part, shape in, bool bias, ee_error *error)
{
    size_t numbers[3] = {1, 1, 1};
    if (strncmp(part, "conv1d:", 7) == 0 && read_numbers(part + 6, ':', numbers, 3) >= 2) {
        shape flat = in.height == 1 ? in : (shape){1, 1, shape_size(in)};
        return append_convolution(self, name, part, flat, numbers, true, bias, error);
    }
    if (strncmp(part, "conv2d:", 7) == 0 && read_numbers(part + 6, ':', numbers, 3) >= 2)
        return append_convolution(self, name, part, in, numbers, false, bias, error);
    if (strncmp(part, "pool:", 5) == 0 && read_numbers(part + 4, ':', numbers, 1) == 1)
        return append_pool(self, name, part, in, numbers[0], error);
    if (strcmp(part, "relu") == 0 && self->layer_count) {
        self->layers[self->layer_count - 1].relu = true;
        return EE_OK;
    }
    return status_fail(error, EE_BAD_OPTION,
                       "options: %s.front: expected conv1d:CHANNELS:KERNEL[:STRIDE], conv2d:CHANNELS:KERNEL[:STRIDE], "
                       "pool:SIZE or relu (after another), joined by +, got '%s'",
                       name, part);
}

static shape last_shape(const network *self, shape image)
{
    return self->layer_count ? self->layers[self->layer_count - 1].out : image;
}

static ee_status read_image(const char *name, const char *text, size_t input, shape *image, ee_error *error)
{
    *image = (shape){1, 1, input};
    if (strcmp(text, "none") == 0) return EE_OK;
    char marked[OPTION_TEXT_SIZE + 1];
    snprintf(marked, sizeof marked, "x%s", text);
    size_t n[3];
    if (read_numbers(marked, 'x', n, 3) != 3 || n[0] * n[1] * n[2] != input)
        return status_fail(error, EE_BAD_OPTION,
                           "options: %s.image must be CHANNELSxHEIGHTxWIDTH with product %zu, got %s", name, input,
                           text);
    *image = (shape){n[0], n[1], n[2]};
    return EE_OK;
}

static ee_status read_heads(network *self, const char *name, int64_t heads, ee_error *error)
{
    self->heads = heads ? (size_t)heads : 1;
    if (self->input % self->heads != 0)
        return status_fail(error, EE_BAD_OPTION, "options: %s.heads must divide the %zu features of an arm, got %zu",
                           name, self->input, self->heads);
    self->block = self->input / self->heads;
    return EE_OK;
}

/* The first layer reads a product as its factors where each of its kernels lies over whole rows. */
static void read_factors(network *self)
{
    layer *first = &self->layers[0];
    bool flat = first->in.channels == 1 && first->in.height == 1;
    size_t covered = first->kernel_width / self->columns, step = first->stride / self->columns;
    if (!flat || first->kernel_width % self->columns || first->stride % self->columns) return;
    if (covered > MOST_KERNEL_ROWS) return;
    first->rows = self->rows;
    first->columns = self->columns;
    first->covered = covered;
    first->step = step;
    first->within = covered > self->rows ? 0 : (self->rows - covered) / step + 1;
}

/* Most of the parameters are those of the fully connected layers. They come first, where a line of the cache begins. */
static void place_parameters(network *self)
{
    self->parameter_count = 0;
    for (int dense = 1; dense >= 0; dense--) {
        for (size_t i = 0; i < self->layer_count; i++) {
            if ((self->layers[i].kind == LAYER_DENSE) != dense) continue;
            self->layers[i].parameters = self->parameter_count;
            self->parameter_count += self->layers[i].parameter_count;
        }
    }
}

static void place_activations(network *self)
{
    self->activation_count = input_room(self);
    for (size_t i = 0; i < self->layer_count; i++) {
        self->layers[i].output = self->activation_count;
        self->activation_count += shape_size(self->layers[i].out);
    }
}

ee_status network_create(network *self, const char *name, const network_options *options, size_t input, ee_error *error)
{
    *self = (network){.input = input,
                      .members = options->members ? (size_t)options->members : 1,
                      .rows = options->rows,
                      .columns = options->columns,
                      .kernels = kernels_best()};
    shape image = {0};
    ee_status status = read_heads(self, name, options->heads, error);
    size_t seen = self->rows ? entries_of_product(self) : self->block;
    if (!status) status = read_image(name, options->image, seen, &image, error);
    char front[OPTION_TEXT_SIZE];
    snprintf(front, sizeof front, "%s", strcmp(options->front, "none") == 0 ? "" : options->front);
    char *rest = front;
    for (char *part = front; !status && *rest; part = rest) {
        size_t length = strcspn(part, "+");
        rest = part + length + (part[length] == '+');
        part[length] = '\0';
        status = append_front(self, name, part, last_shape(self, image), options->bias, error);
    }
    for (int64_t i = 1; !status && i < options->layers; i++)
        status = append_dense(self, name, last_shape(self, image), (size_t)options->width, options->bias, true, error);
    if (!status)
        status =
            append_dense(self, name, last_shape(self, image), self->heads * self->members, options->bias, false, error);
    if (!status && self->rows) read_factors(self);
    if (!status) place_parameters(self);
    if (!status) place_activations(self);
    return status;
}

/* ---- cutting ---- */

void network_cut(const network *whole, size_t units, network *cut)
{
    *cut = *whole;
    layer *last = &cut->layers[--cut->layer_count - 1];
    if (last->kind == LAYER_DENSE && units < last->out.width) {
        last->out.width = units;
        last->weight_count = shape_size(last->in) * units;
        last->parameter_count = last->weight_count + (last->bias ? units : 0);
    }
    place_parameters(cut);
    place_activations(cut);
}

void network_cut_parameters(const network *whole, const network *cut, const float *theta, float *cut_theta)
{
    for (size_t i = 0; i < cut->layer_count; i++) {
        const layer *from = &whole->layers[i], *to = &cut->layers[i];
        bool is_cut = to->parameter_count < from->parameter_count; /* row by row: the biases are the last */
        size_t rows = is_cut ? shape_size(to->in) + to->bias : 1, row = is_cut ? from->out.width : 0;
        size_t taken = to->parameter_count / rows;
        for (size_t r = 0; r < rows; r++)
            memcpy(cut_theta + to->parameters + r * taken, theta + from->parameters + r * row, taken * sizeof *theta);
    }
}

/* ---- initialising ---- */

ee_status network_store_columns(network *self, const column_room *room, size_t places, network_init init,
                                random_stream stream, ee_error *error)
{
    return initial_rows_make(room, init, places, self->layers[0].out.width, stream, &self->initial, error);
}

size_t network_places(const network *self)
{
    return self->initial ? self->initial->places : self->block;
}

static size_t inputs_of(const network *self, size_t index)
{
    return index || !self->initial ? shape_size(self->layers[index].in) : self->initial->places;
}

void network_initialize(const network *self, network_init init, random_stream *stream, float *theta)
{
    for (size_t i = 0; i < self->layer_count; i++) {
        const layer *l = &self->layers[i];
        if (!l->parameter_count) continue;
        float *weights = theta + l->parameters;
        bool last = i + 1 == self->layer_count;
        size_t area = l->kind == LAYER_CONVOLUTION ? l->kernel_height * l->kernel_width : 1;
        size_t fan_in = l->kind == LAYER_CONVOLUTION ? l->in.channels * area : inputs_of(self, i);
        size_t fan_out = l->kind == LAYER_CONVOLUTION ? l->out.channels * area : l->out.width;
        double scale = initial_scale(init, last, fan_in, fan_out);
        if (i || !self->initial)
            initial_fill(weights, l->weight_count, init, scale, stream);
        else
            *stream = self->initial->after;
        size_t biases = l->parameter_count - l->weight_count;
        if (init != INIT_UNIFORM)
            memset(weights + l->weight_count, 0, biases * sizeof *weights);
        else
            initial_fill(weights + l->weight_count, biases, init, scale, stream);
    }
}

/* ---- passes ---- */

size_t network_head(const network *self, vector input)
{
    if (self->heads == 1) return 0;
    /* a zero that a sparse input names is as one that it does not */
    for (size_t i = 0; i < input.count; i++)
        if (input.values[i] != 0) return (input.indices ? input.indices[i] : i) / self->block;
    return 0;
}

/* The entries of the block that is seen, as they lie in the input. */
static vector entries_seen(const network *self, vector input, size_t first)
{
    if (!input.indices) return vector_dense(input.values + first, self->block);
    if (!input.count) return input; /* whose values may be nowhere */
    size_t start = 0, end = input.count;
    if (self->heads > 1) {
        while (start < end && input.indices[start] < first) start++;
        while (end > start && input.indices[end - 1] - first >= self->block) end--;
    }
    return (vector){input.values + start, input.indices + start, end - start};
}

/* A sparse product is laid out as a dense one, and behind that its entries if they are read. */
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

/* Sparse entries count from the block's beginning once they are in front of the activations: as (block) floats, or
 * before a fully connected layer as (count) indices alone. */
void network_lay_out_input(const network *self, vector input, float *room)
{
    if (self->rows) lay_out_product(self, input, room);
    if (self->rows || !input.indices || !input_room(self)) return;
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
    if (self->rows) return vector_dense(activations + self->input, entries_of_product(self));
    vector seen = entries_seen(self, input, network_head(self, input) * self->block);
    if (!input.indices || !input_room(self)) return seen;
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

/* The input of a layer above the first. */
static vector layer_input(const network *self, size_t index, const float *activations)
{
    const layer *below = &self->layers[index - 1];
    return vector_dense(activations + below->output, shape_size(below->out));
}

void network_forward_layer(const network *self, size_t index, const float *theta, float *activations)
{
    layer_forward(&self->layers[index], self->kernels, theta, layer_input(self, index, activations),
                  activations + self->layers[index].output);
}

const float *network_outputs_above(const network *self, const float *theta, float *activations)
{
    for (size_t i = 1; i < self->layer_count; i++) network_forward_layer(self, i, theta, activations);
    return activations + self->layers[self->layer_count - 1].output;
}

bool network_has_strangers(const network *self, vector input)
{
    bool found = false;
    for (size_t i = 0; self->initial && input.indices && i < input.count; i++) found |= input.indices[i] >= self->input;
    return found;
}

/* Adds an entry without a column to the outputs of the first layer, some of them at a time. */
static void add_stranger(const network *self, size_t place, float value, float *outputs)
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

/* As the kernel would with all rows at hand: the entries are added in their order. */
static void forward_strangers(const network *self, const float *theta, vector input, float *outputs)
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
            add_stranger(self, index - self->input, input.values[i], outputs);
        else
            kernels->forward_sparse(outputs, outputs, weights, &index, &input.values[i], 1, 0, out, out, false);
    }
    if (first->relu) kernels->relu(outputs, out);
}

const float *network_outputs(const network *self, const float *theta, vector input, float *activations)
{
    float *first = activations + self->layers[0].output;
    network_lay_out_input(self, input, activations);
    if (network_has_strangers(self, input))
        forward_strangers(self, theta, input, first);
    else
        layer_forward(&self->layers[0], self->kernels, theta, network_first_input(self, input, activations), first);
    return network_outputs_above(self, theta, activations);
}

size_t network_indices_behind(const network *self, const ee_arms *arms, size_t arm)
{
    enum { CACHED = 1 << 18, WIDEST = 1024 }; /* floats: of a second cache, and of rows of which it holds many */
    const layer *first = &self->layers[0];
    if (!arms->starts || input_room(self)) return 0;
    if (first->weight_count <= CACHED || first->out.width > WIDEST) return 0;
    return vector_indices_behind(arms, arm);
}

const float *network_outputs_of_arm(const network *self, const float *theta, const ee_arms *arms, size_t arm,
                                    float *activations)
{
    vector x = vector_of_arm(arms, arm);
    size_t behind = network_indices_behind(self, arms, arm);
    if (!behind || network_has_strangers(self, x)) return network_outputs(self, theta, x, activations);
    layer_forward_sparse(&self->layers[0], self->kernels, theta, x, behind, activations + self->layers[0].output);
    return network_outputs_above(self, theta, activations);
}

/* A layer with few outputs cannot fill the registers, so passing several inputs at once gains nothing. */
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
            float *own = activations + s * stride;
            vector input = vector_dense(inputs + s * self->input, self->input);
            if (!i) network_lay_out_input(self, input, own);
            input = i ? layer_input(self, i, own) : network_first_input(self, input, own);
            layer_forward(l, self->kernels, theta, input, own + l->output);
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

/* Computes the deltas below the last layer where each head has one output. Often only one has a delta that is not zero.
 */
static void backward_heads(const network *self, const float *theta, const float *outputs, const float *outputs_below,
                           float *below)
{
    const layer *last = &self->layers[self->layer_count - 1];
    size_t count = shape_size(last->in);
    memset(below, 0, count * sizeof *below);
    for (size_t head = 0; head < self->heads; head++) {
        const float *weights = theta + last->parameters + head;
        for (size_t i = 0; outputs[head] != 0 && i < count; i++) below[i] += outputs[head] * weights[i * self->heads];
    }
    if (last[-1].relu) self->kernels->relu_backward(below, 1, below, outputs_below, count);
}

void network_backward(const network *self, const float *theta, vector input, const float *activations,
                      float output_gradient, float *deltas)
{
    float *outputs = deltas + self->layers[self->layer_count - 1].output;
    float *own = outputs + network_head(self, input) * self->members, share = output_gradient / (float)self->members;
    memset(outputs, 0, self->heads * self->members * sizeof *outputs);
    for (size_t i = 0; i < self->members; i++) own[i] = share;
    network_backward_deltas(self, theta, activations, deltas);
}

void network_backward_deltas(const network *self, const float *theta, const float *activations, float *deltas)
{
    network_backward_from(self, self->layer_count - 1, theta, activations, deltas);
}

void network_backward_layer(const network *self, size_t index, const float *theta, const float *activations,
                            float *deltas)
{
    const layer *l = &self->layers[index], *below = l - 1;
    const float *outputs_below = activations + below->output, *own = deltas + l->output;
    if (index + 1 == self->layer_count && self->heads > 1 && self->members == 1)
        backward_heads(self, theta, own, outputs_below, deltas + below->output);
    else
        layer_backward(l, self->kernels, theta, outputs_below, own, deltas + below->output, below->relu);
}

void network_backward_from(const network *self, size_t index, const float *theta, const float *activations,
                           float *deltas)
{
    for (size_t i = index; i > 0; i--) network_backward_layer(self, i, theta, activations, deltas);
}

void network_add_layer_gradient(const network *self, size_t index, const float *activations, const float *deltas,
                                float *gradient)
{
    const layer *l = &self->layers[index];
    layer_add_gradient(l, self->kernels, layer_input(self, index, activations), deltas + l->output,
                       gradient + l->parameters);
}

void network_add_gradient(const network *self, vector input, const float *activations, const float *deltas,
                          float *gradient)
{
    const layer *first = &self->layers[0];
    layer_add_gradient(first, self->kernels, network_first_input(self, input, activations), deltas + first->output,
                       gradient + first->parameters);
    for (size_t i = 1; i < self->layer_count; i++) network_add_layer_gradient(self, i, activations, deltas, gradient);
}

/* ---- factors ---- */

size_t network_formed_count(const network *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->layer_count; i++)
        if (self->layers[i].kind == LAYER_CONVOLUTION) count += self->layers[i].parameter_count;
    return count;
}

/* For a layer that has parameters. */
static void set_shape(const layer *l, gradient_factor *factor)
{
    bool dense = l->kind == LAYER_DENSE;
    factor->parameters = l->parameters;
    factor->out = dense ? l->out.width : l->parameter_count;
    factor->in = dense ? shape_size(l->in) : 1;
    factor->bias = dense && l->bias;
}

size_t network_factor_shapes(const network *self, gradient_factor *factors)
{
    size_t count = 0;
    for (size_t i = 0; i < self->layer_count; i++)
        if (self->layers[i].parameter_count) set_shape(&self->layers[i], &factors[count++]);
    return count;
}

size_t network_factors(const network *self, vector input, const float *activations, const float *deltas, float *formed,
                       gradient_factor *factors)
{
    static const float one = 1;
    size_t count = 0;
    memset(formed, 0, network_formed_count(self) * sizeof *formed);
    for (size_t i = 0; i < self->layer_count; i++) {
        const layer *l = &self->layers[i];
        if (!l->parameter_count) continue;
        gradient_factor *next = &factors[count++];
        vector below = i ? layer_input(self, i, activations) : network_first_input(self, input, activations);
        const float *delta = deltas + l->output;
        set_shape(l, next);
        next->delta = delta;
        next->input = below;
        if (l->kind == LAYER_DENSE) continue;
        layer_add_gradient(l, self->kernels, below, delta, formed);
        next->delta = formed;
        next->input = vector_dense(&one, 1);
        formed += l->parameter_count;
    }
    return count;
}
