#include "layer.h"

#include <string.h>

/* ---- convolution ---- */

/* A convolution is a sum over pairs of a row of the output, or its delta, and a row of the input, with a row of the
 * kernel. The three passes go through the same pairs. */
typedef struct convolution {
    const layer *layer;
    const kernel_table *kernels;
    const float *input, *weights, *delta;
    float *output, *input_delta, *gradient;
} convolution;

static size_t input_at(const layer *l, size_t in_channel, size_t y)
{
    return (in_channel * l->in.height + y) * l->in.width;
}

static size_t output_at(const layer *l, size_t out_channel, size_t y)
{
    return (out_channel * l->out.height + y) * l->out.width;
}

static size_t weight_at(const layer *l, size_t out_channel, size_t in_channel, size_t k)
{
    return ((out_channel * l->in.channels + in_channel) * l->kernel_height + k) * l->kernel_width;
}

/* For any stride: one row of the output at a time. */

typedef void (*row_pass)(const convolution *c, size_t out, size_t in, size_t weight);

static void walk_rows(const convolution *c, row_pass pass)
{
    const layer *l = c->layer;
    for (size_t o = 0; o < l->out.channels; o++)
        for (size_t y = 0; y < l->out.height; y++)
            for (size_t i = 0; i < l->in.channels; i++)
                for (size_t k = 0; k < l->kernel_height; k++)
                    pass(c, output_at(l, o, y), input_at(l, i, y * l->stride + k), weight_at(l, o, i, k));
}

static void forward_row(const convolution *c, size_t out, size_t in, size_t weight)
{
    const layer *l = c->layer;
    c->kernels->backward(c->output + out, c->input + in, c->weights + weight, l->out.width, l->kernel_width, l->stride);
}

static void backward_row(const convolution *c, size_t out, size_t in, size_t weight)
{
    const layer *l = c->layer;
    for (size_t x = 0; x < l->out.width; x++)
        c->kernels->add_scaled(c->input_delta + in + x * l->stride, c->delta[out + x], c->weights + weight,
                               l->kernel_width);
}

static void gradient_row(const convolution *c, size_t out, size_t in, size_t weight)
{
    const layer *l = c->layer;
    float *gradient = c->gradient + weight;
    c->kernels->forward(gradient, gradient, c->input + in, c->delta + out, l->out.width, l->kernel_width, l->stride,
                        false);
}

/* For stride 1: many rows at a time. Output rows padded to the length of the input rows line up with the input as one
 * long vector, at one offset for each weight. */

enum { WIDE_ROOM = 2048, WIDEST_KERNEL = 64 }; /* floats on the stack: enough for a channel of a small image */

typedef struct wide_rows {
    size_t channel, first, count; /* of the output */
    size_t length;                /* of all of them, from the first entry to the last */
    float values[WIDE_ROOM];      /* as many zeros as backward_wide reads, the rows, and as many zeros again */
} wide_rows;

static size_t margin(const layer *l)
{
    return l->kernel_width - 1;
}

static size_t wide_rows_at_once(const layer *l)
{
    if (l->stride != 1 || l->kernel_width > WIDEST_KERNEL) return 0;
    return (WIDE_ROOM - 2 * margin(l)) / l->in.width;
}

/* values is a whole output or delta */
static void spread(const layer *l, const float *values, wide_rows *rows)
{
    memset(rows->values, 0, (rows->length + 2 * margin(l)) * sizeof *rows->values);
    for (size_t r = 0; r < rows->count; r++)
        memcpy(rows->values + margin(l) + r * l->in.width, values + output_at(l, rows->channel, rows->first + r),
               l->out.width * sizeof *values);
}

typedef void (*wide_pass)(const convolution *c, wide_rows *rows);

static void walk_wide(const convolution *c, wide_pass pass)
{
    const layer *l = c->layer;
    size_t most = wide_rows_at_once(l);
    wide_rows rows;
    for (rows.channel = 0; rows.channel < l->out.channels; rows.channel++) {
        for (rows.first = 0; rows.first < l->out.height; rows.first += rows.count) {
            size_t left = l->out.height - rows.first;
            rows.count = left < most ? left : most;
            rows.length = (rows.count - 1) * l->in.width + l->out.width;
            pass(c, &rows);
        }
    }
}

static void forward_wide(const convolution *c, wide_rows *rows)
{
    const layer *l = c->layer;
    float *sums = rows->values + margin(l);
    spread(l, c->output, rows);
    for (size_t i = 0; i < l->in.channels; i++)
        for (size_t k = 0; k < l->kernel_height; k++)
            c->kernels->forward(sums, sums, c->input + input_at(l, i, rows->first + k),
                                c->weights + weight_at(l, rows->channel, i, k), l->kernel_width, rows->length, 1,
                                false);
    for (size_t r = 0; r < rows->count; r++)
        memcpy(c->output + output_at(l, rows->channel, rows->first + r), sums + r * l->in.width,
               l->out.width * sizeof *sums);
}

static void backward_wide(const convolution *c, wide_rows *rows)
{
    const layer *l = c->layer;
    float mirrored[WIDEST_KERNEL];
    spread(l, c->delta, rows);
    for (size_t i = 0; i < l->in.channels; i++) {
        for (size_t k = 0; k < l->kernel_height; k++) {
            const float *weights = c->weights + weight_at(l, rows->channel, i, k);
            for (size_t x = 0; x < l->kernel_width; x++) mirrored[x] = weights[margin(l) - x];
            float *sums = c->input_delta + input_at(l, i, rows->first + k);
            c->kernels->forward(sums, sums, rows->values, mirrored, l->kernel_width, rows->length + margin(l), 1,
                                false);
        }
    }
}

static void gradient_wide(const convolution *c, wide_rows *rows)
{
    const layer *l = c->layer;
    spread(l, c->delta, rows);
    for (size_t i = 0; i < l->in.channels; i++)
        for (size_t k = 0; k < l->kernel_height; k++)
            c->kernels->backward(c->gradient + weight_at(l, rows->channel, i, k),
                                 c->input + input_at(l, i, rows->first + k), rows->values + margin(l), l->kernel_width,
                                 rows->length, 1);
}

static void walk(const convolution *c, wide_pass wide, row_pass row)
{
    if (wide_rows_at_once(c->layer))
        walk_wide(c, wide);
    else
        walk_rows(c, row);
}

/* A product as input: each kernel covers whole rows. It is multiplied with the columns once per row, and the result is
 * scaled by the factor of that row. The last kernels also cover the values after the product. */

/* What an output covers: rows of the product from `row` on, then this many of the others from `other` on. */
typedef struct product_window {
    size_t row, rows, other, others;
} product_window;

static product_window window_of(const layer *l, size_t output)
{
    size_t row = output * l->step, rows = row < l->rows ? l->rows - row : 0;
    return (product_window){row, rows, row > l->rows ? (row - l->rows) * l->columns : 0,
                            l->kernel_width - rows * l->columns};
}

static void forward_product(const convolution *c)
{
    const layer *l = c->layer;
    const kernel_table *kernels = c->kernels;
    const float *rows = c->input, *columns = rows + l->rows, *others = columns + l->columns;
    for (size_t o = 0; o < l->out.channels; o++) {
        const float *weights = c->weights + o * l->kernel_width;
        float *output = c->output + o * l->out.width, sums[MOST_KERNEL_ROWS] = {0};
        kernels->backward(sums, weights, columns, l->covered, l->columns, l->columns);
        kernels->backward(output, rows, sums, l->within, l->covered, l->step);
        for (size_t i = l->within; i < l->out.width; i++) {
            product_window w = window_of(l, i);
            if (w.rows) output[i] += kernels->dot(rows + w.row, sums, w.rows);
            output[i] += kernels->dot(others + w.other, weights + l->kernel_width - w.others, w.others);
        }
    }
}

static void gradient_product(const convolution *c)
{
    const layer *l = c->layer;
    const kernel_table *kernels = c->kernels;
    const float *rows = c->input, *columns = rows + l->rows, *others = columns + l->columns;
    for (size_t o = 0; o < l->out.channels; o++) {
        const float *delta = c->delta + o * l->out.width;
        float *gradient = c->gradient + o * l->kernel_width, sums[MOST_KERNEL_ROWS];
        kernels->forward(sums, NULL, rows, delta, l->within, l->covered, l->step, false);
        for (size_t i = l->within; i < l->out.width; i++) {
            product_window w = window_of(l, i);
            if (w.rows) kernels->add_scaled(sums, delta[i], rows + w.row, w.rows);
            kernels->add_scaled(gradient + l->kernel_width - w.others, delta[i], others + w.other, w.others);
        }
        kernels->update(gradient, NULL, sums, columns, l->covered, l->columns);
    }
}

static void convolution_forward(const layer *l, const kernel_table *kernels, const float *theta, const float *input,
                                float *output)
{
    const float *weights = theta + l->parameters;
    size_t area = l->out.height * l->out.width;
    for (size_t o = 0; o < l->out.channels; o++) {
        float bias = l->bias ? weights[l->weight_count + o] : 0;
        for (size_t i = 0; i < area; i++) output[o * area + i] = bias;
    }
    convolution c = {.layer = l, .kernels = kernels, .input = input, .weights = weights, .output = output};
    if (l->rows)
        forward_product(&c);
    else
        walk(&c, forward_wide, forward_row);
}

static void convolution_backward(const layer *l, const kernel_table *kernels, const float *theta, const float *delta,
                                 float *input_delta)
{
    memset(input_delta, 0, shape_size(l->in) * sizeof *input_delta);
    convolution c = {
        .layer = l, .kernels = kernels, .weights = theta + l->parameters, .delta = delta, .input_delta = input_delta};
    walk(&c, backward_wide, backward_row);
}

static void convolution_add_gradient(const layer *l, const kernel_table *kernels, const float *input,
                                     const float *delta, float *gradient)
{
    convolution c = {.layer = l, .kernels = kernels, .input = input, .delta = delta, .gradient = gradient};
    if (l->rows)
        gradient_product(&c);
    else
        walk(&c, gradient_wide, gradient_row);
    if (!l->bias) return;
    size_t area = l->out.height * l->out.width;
    for (size_t o = 0; o < l->out.channels; o++)
        for (size_t i = 0; i < area; i++) gradient[l->weight_count + o] += delta[o * area + i];
}

/* ---- max-pooling ---- */

/* The index in input of the maximum of one kernel; the first of equal ones. */
static size_t pool_place(const layer *l, const float *input, size_t channel, size_t y, size_t x)
{
    size_t corner = (channel * l->in.height + y * l->kernel_height) * l->in.width + x * l->kernel_width;
    size_t largest = corner;
    for (size_t i = 0; i < l->kernel_height; i++) {
        for (size_t j = 0; j < l->kernel_width; j++) {
            size_t place = corner + i * l->in.width + j;
            if (input[place] > input[largest]) largest = place;
        }
    }
    return largest;
}

static void pool_forward(const layer *l, const float *input, float *output)
{
    for (size_t c = 0; c < l->out.channels; c++)
        for (size_t y = 0; y < l->out.height; y++)
            for (size_t x = 0; x < l->out.width; x++) *output++ = input[pool_place(l, input, c, y, x)];
}

static void pool_backward(const layer *l, const float *input, const float *delta, float *input_delta)
{
    memset(input_delta, 0, shape_size(l->in) * sizeof *input_delta);
    for (size_t c = 0; c < l->out.channels; c++)
        for (size_t y = 0; y < l->out.height; y++)
            for (size_t x = 0; x < l->out.width; x++) input_delta[pool_place(l, input, c, y, x)] += *delta++;
}

/* ---- fully connected ---- */

static const float *biases_of(const layer *l, const float *weights)
{
    return l->bias ? weights + l->weight_count : NULL;
}

static void dense_forward(const layer *l, const kernel_table *kernels, const float *weights, vector x, size_t behind,
                          float *output)
{
    const float *biases = biases_of(l, weights);
    size_t out = l->out.width;
    if (x.indices)
        kernels->forward_sparse(output, biases, weights, x.indices, x.values, x.count, behind, out, out, l->relu);
    else
        kernels->forward(output, biases, weights, x.values, x.count, out, out, l->relu);
}

static void dense_backward(const layer *l, const kernel_table *kernels, const float *theta, const float *delta,
                           float *input_delta)
{
    memset(input_delta, 0, shape_size(l->in) * sizeof *input_delta);
    kernels->backward(input_delta, theta + l->parameters, delta, shape_size(l->in), l->out.width, l->out.width);
}

static void dense_add_gradient(const layer *l, const kernel_table *kernels, vector input, const float *delta,
                               float *gradient)
{
    size_t out = l->out.width;
    float *biases = l->bias ? gradient + l->weight_count : NULL;
    if (input.indices)
        kernels->update_sparse(gradient, biases, input.indices, input.values, delta, input.count, out);
    else
        kernels->update(gradient, biases, input.values, delta, input.count, out);
}

/* ---- any ---- */

void layer_forward_sparse(const layer *self, const kernel_table *kernels, const float *theta, vector input,
                          size_t behind, float *output)
{
    dense_forward(self, kernels, theta + self->parameters, input, behind, output);
}

void layer_forward(const layer *self, const kernel_table *kernels, const float *theta, vector input, float *output)
{
    switch (self->kind) {
    case LAYER_DENSE:
        dense_forward(self, kernels, theta + self->parameters, input, 0, output);
        return;
    case LAYER_CONVOLUTION:
        convolution_forward(self, kernels, theta, input.values, output);
        break;
    case LAYER_POOL:
        pool_forward(self, input.values, output);
        break;
    }
    if (self->relu) kernels->relu(output, shape_size(self->out));
}

void layer_forward_many(const layer *self, const kernel_table *kernels, const float *theta, const_matrix inputs,
                        size_t count, matrix outputs)
{
    const float *weights = theta + self->parameters;
    kernels->forward_many(outputs, biases_of(self, weights), weights, inputs, count, shape_size(self->in),
                          self->out.width, self->relu);
}

void layer_backward(const layer *self, const kernel_table *kernels, const float *theta, const float *input,
                    const float *delta, float *input_delta, bool relu)
{
    size_t in = shape_size(self->in);
    if (self->kind == LAYER_DENSE && self->out.width == 1 && relu) {
        kernels->relu_backward(input_delta, delta[0], theta + self->parameters, input, in);
        return;
    }
    switch (self->kind) {
    case LAYER_DENSE:
        dense_backward(self, kernels, theta, delta, input_delta);
        break;
    case LAYER_CONVOLUTION:
        convolution_backward(self, kernels, theta, delta, input_delta);
        break;
    case LAYER_POOL:
        pool_backward(self, input, delta, input_delta);
        break;
    }
    if (relu) kernels->relu_backward(input_delta, 1, input_delta, input, in);
}

void layer_add_gradient(const layer *self, const kernel_table *kernels, vector input, const float *delta,
                        float *gradient)
{
    if (self->kind == LAYER_DENSE) dense_add_gradient(self, kernels, input, delta, gradient);
    if (self->kind == LAYER_CONVOLUTION) convolution_add_gradient(self, kernels, input.values, delta, gradient);
}

void layer_backward_many(const layer *self, const kernel_table *kernels, const float *theta, const_matrix inputs,
                         const_matrix deltas, size_t count, matrix input_deltas, bool relu)
{
    size_t in = shape_size(self->in);
    for (size_t s = 0; s < count; s++) memset(input_deltas.values + s * input_deltas.row, 0, in * sizeof(float));
    kernels->backward_many(input_deltas, theta + self->parameters, deltas, count, in, self->out.width);
    for (size_t s = 0; relu && s < count; s++) {
        float *delta = input_deltas.values + s * input_deltas.row;
        kernels->relu_backward(delta, 1, delta, inputs.values + s * inputs.row, in);
    }
}

/* At least as long as the longest vector: then a sum has the order of the rows, as add_scaled row by row. */
enum { LEAST_SUMMED = 16 };

void layer_sum_rows(const kernel_table *kernels, float *sums, const_matrix rows, const float *weights, size_t count,
                    size_t width)
{
    if (width >= LEAST_SUMMED) {
        kernels->forward(sums, sums, rows.values, weights, count, width, rows.row, false);
        return;
    }
    for (size_t r = 0; r < count; r++) kernels->add_scaled(sums, weights[r], rows.values + r * rows.row, width);
}

void layer_add_bias_gradient(const layer *self, const kernel_table *kernels, const_matrix deltas, size_t count,
                             float *gradient)
{
    enum { TOGETHER = 16 };
    static const float ones[TOGETHER] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (size_t s = 0; s < count; s += TOGETHER) {
        const_matrix part = {deltas.values + s * deltas.row, deltas.row, deltas.column};
        layer_sum_rows(kernels, gradient + self->weight_count, part, ones, count - s < TOGETHER ? count - s : TOGETHER,
                       self->out.width);
    }
}

void layer_add_gradient_many(const layer *self, const kernel_table *kernels, const_matrix inputs, const_matrix deltas,
                             size_t count, float *gradient)
{
    size_t out = self->out.width;
    kernels->multiply((matrix){gradient, out, 1}, (const_matrix){inputs.values, inputs.column, inputs.row}, deltas,
                      shape_size(self->in), count, out);
    if (self->bias) layer_add_bias_gradient(self, kernels, deltas, count, gradient);
}
