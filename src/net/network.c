#include "network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static size_t entries_of_product(const network *self)
{
    return self->rows * self->columns + self->input - self->rows - self->columns;
}

/* Usually the first layer reads the arm in place. In two cases the arm is first copied to the start of the activations:
 * a sparse arm, if the layer is not fully connected or sees only a block; and a product that the layer cannot read as
 * factors. */
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

/* The user may not have set it: presets have a front, and the input may depend on other options. */
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

/* Reads up to most whole numbers, each after a mark. Returns their number, or 0 if the text is anything else. */
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

/* The first layer reads a product as its factors if each kernel covers whole rows. */
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

/* The parameters of fully connected layers come first, at the start of a cache line: they are the most. */
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
        bool is_cut = to->parameter_count < from->parameter_count; /* row by row; the biases are the last row */
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
