#include "layer.h"

#include <string.h>

/* ---- convolution ---- */

/* A convolution is a sum over pairs of an input row and a row of the kernel. The three passes walk the same pairs. */
typedef struct convolution {
    const layer *layer;
    const kernel_table *kernels;
    const float *input, *weights, *delta;
    float *output, *input_delta, *gradient;
} convolution;

typedef void (*row_pass)(const convolution *c, size_t out, size_t in, size_t weight);

static void walk_rows(const convolution *c, row_pass pass)
{
    const layer *l = c->layer;
    for (size_t o = 0; o < l->out.channels; o++) {
        for (size_t y = 0; y < l->out.height; y++) {
            size_t out = (o * l->out.height + y) * l->out.width;
            for (size_t i = 0; i < l->in.channels; i++) {
                for (size_t k = 0; k < l->kernel_height; k++) {
                    size_t in = (i * l->in.height + y * l->stride + k) * l->in.width;
                    size_t weight = ((o * l->in.channels + i) * l->kernel_height + k) * l->kernel_width;
                    pass(c, out, in, weight);
                }
            }
        }
    }
}

/* With stride 1 a row is long and the kernel short: loop over the kernel, vectorise over the row. Else the reverse. */
static bool along_row(const layer *l)
{
    return l->stride == 1 && l->kernel_width <= l->out.width;
}

static void forward_row(const convolution *c, size_t out, size_t in, size_t weight)
{
    const layer *l = c->layer;
    if (along_row(l)) {
        for (size_t k = 0; k < l->kernel_width; k++)
            c->kernels->add_scaled(c->output + out, c->weights[weight + k], c->input + in + k, l->out.width);
        return;
    }
    c->kernels->backward(c->output + out, c->input + in, c->weights + weight, l->out.width, l->kernel_width, l->stride);
}

static void backward_row(const convolution *c, size_t out, size_t in, size_t weight)
{
    const layer *l = c->layer;
    if (along_row(l)) {
        for (size_t k = 0; k < l->kernel_width; k++)
            c->kernels->add_scaled(c->input_delta + in + k, c->weights[weight + k], c->delta + out, l->out.width);
        return;
    }
    for (size_t x = 0; x < l->out.width; x++)
        c->kernels->add_scaled(c->input_delta + in + x * l->stride, c->delta[out + x], c->weights + weight,
                               l->kernel_width);
}

static void gradient_row(const convolution *c, size_t out, size_t in, size_t weight)
{
    const layer *l = c->layer;
    if (along_row(l)) {
        for (size_t k = 0; k < l->kernel_width; k++)
            c->gradient[weight + k] += c->kernels->dot(c->delta + out, c->input + in + k, l->out.width);
        return;
    }
    c->kernels->forward(c->gradient + weight, c->input + in, c->delta + out, l->out.width, l->kernel_width, l->stride);
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
    walk_rows(&c, forward_row);
}

static void convolution_backward(const layer *l, const kernel_table *kernels, const float *theta, const float *delta,
                                 float *input_delta)
{
    memset(input_delta, 0, shape_size(l->in) * sizeof *input_delta);
    convolution c = {
        .layer = l, .kernels = kernels, .weights = theta + l->parameters, .delta = delta, .input_delta = input_delta};
    walk_rows(&c, backward_row);
}

static void convolution_add_gradient(const layer *l, const kernel_table *kernels, const float *input,
                                     const float *delta, float *gradient)
{
    convolution c = {.layer = l, .kernels = kernels, .input = input, .delta = delta, .gradient = gradient};
    walk_rows(&c, gradient_row);
    if (!l->bias) return;
    size_t area = l->out.height * l->out.width;
    for (size_t o = 0; o < l->out.channels; o++)
        for (size_t i = 0; i < area; i++) gradient[l->weight_count + o] += delta[o * area + i];
}

/* ---- max-pooling ---- */

/* The place in input of the largest entry of one kernel, the first of equal ones. */
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

static void dense_forward(const layer *l, const kernel_table *kernels, const float *theta, vector input, float *output)
{
    const float *weights = theta + l->parameters;
    size_t out = l->out.width;
    if (l->bias)
        memcpy(output, weights + l->weight_count, out * sizeof *output);
    else
        memset(output, 0, out * sizeof *output);
    if (input.indices)
        kernels->forward_sparse(output, weights, input.indices, input.values, input.count, out);
    else
        kernels->forward(output, weights, input.values, input.count, out, out);
}

static void dense_add_gradient(const layer *l, const kernel_table *kernels, vector input, const float *delta,
                               float *gradient)
{
    size_t out = l->out.width;
    if (input.indices)
        kernels->update_sparse(gradient, input.indices, input.values, delta, input.count, out);
    else
        kernels->update(gradient, input.values, delta, input.count, out);
    if (l->bias) kernels->add_scaled(gradient + l->weight_count, 1, delta, out);
}

/* ---- any ---- */

void layer_forward(const layer *self, const kernel_table *kernels, const float *theta, vector input, float *output)
{
    switch (self->kind) {
    case LAYER_DENSE:
        dense_forward(self, kernels, theta, input, output);
        break;
    case LAYER_CONVOLUTION:
        convolution_forward(self, kernels, theta, input.values, output);
        break;
    case LAYER_POOL:
        pool_forward(self, input.values, output);
        break;
    }
    if (self->relu) kernels->relu(output, shape_size(self->out));
}

void layer_backward(const layer *self, const kernel_table *kernels, const float *theta, const float *input,
                    const float *delta, float *input_delta)
{
    switch (self->kind) {
    case LAYER_DENSE:
        memset(input_delta, 0, shape_size(self->in) * sizeof *input_delta);
        kernels->backward(input_delta, theta + self->parameters, delta, shape_size(self->in), self->out.width,
                          self->out.width);
        break;
    case LAYER_CONVOLUTION:
        convolution_backward(self, kernels, theta, delta, input_delta);
        break;
    case LAYER_POOL:
        pool_backward(self, input, delta, input_delta);
        break;
    }
}

void layer_add_gradient(const layer *self, const kernel_table *kernels, vector input, const float *delta,
                        float *gradient)
{
    if (self->kind == LAYER_DENSE) dense_add_gradient(self, kernels, input, delta, gradient + self->parameters);
    if (self->kind == LAYER_CONVOLUTION)
        convolution_add_gradient(self, kernels, input.values, delta, gradient + self->parameters);
}
