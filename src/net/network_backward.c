/* Backward passes of a network, and gradients: by the parameters, as factors, and by the input. */
#include <string.h>

#include "network.h"

/* Computes the deltas below the last layer if each head has one output. Often only one delta is not zero. */
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
    float *chosen = outputs + network_head(self, input) * self->members, share = output_gradient / (float)self->members;
    memset(outputs, 0, self->heads * self->members * sizeof *outputs);
    for (size_t i = 0; i < self->members; i++) chosen[i] = share;
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
    const float *outputs_below = activations + below->output, *delta = deltas + l->output;
    if (index + 1 == self->layer_count && self->heads > 1 && self->members == 1)
        backward_heads(self, theta, delta, outputs_below, deltas + below->output);
    else
        layer_backward(l, self->kernels, theta, outputs_below, delta, deltas + below->output, below->relu);
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
    layer_add_gradient(l, self->kernels, network_hidden_input(self, index, activations), deltas + l->output,
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

/* ---- by the parameters, as factors ---- */

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
        vector below = i ? network_hidden_input(self, i, activations) : network_first_input(self, input, activations);
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

/* ---- by the input: a backward pass goes one layer further than training needs ---- */

/* A sparse input of a fully connected layer needs only its own rows. */
static void gradient_of_rows(const network *self, const float *theta, vector input, size_t first, const float *delta,
                             float *room, float *gradient)
{
    const layer *l = &self->layers[0];
    size_t out = l->out.width;
    for (size_t i = 0; i < input.count; i++) {
        size_t index = input.indices[i];
        if (self->initial && index >= self->input) {
            initial_rows_draw(self->initial, index - self->input, room, out);
            gradient[i] = self->kernels->dot(room, delta, out);
        }
        if (index < first || index - first >= self->block) continue;
        gradient[i] = self->kernels->dot(theta + l->parameters + (index - first) * out, delta, out);
    }
}

size_t network_gradient_room(const network *self)
{
    if (self->layers[0].kind != LAYER_DENSE) return self->block;
    return self->initial ? self->layers[0].out.width : 0;
}

void network_input_gradient(const network *self, const float *theta, vector input, const float *activations,
                            const float *deltas, float *room, float *gradient)
{
    const layer *l = &self->layers[0];
    const float *delta = deltas + l->output;
    size_t first = network_head(self, input) * self->block;
    if (!input.count) return;
    memset(gradient, 0, input.count * sizeof *gradient);
    if (input.indices && l->kind == LAYER_DENSE) {
        gradient_of_rows(self, theta, input, first, delta, room, gradient);
        return;
    }
    const float *seen = network_first_input(self, input, activations).values;
    layer_backward(l, self->kernels, theta, seen, delta, input.indices ? room : gradient + first, false);
    for (size_t i = 0; input.indices && i < input.count; i++)
        if (input.indices[i] >= first && input.indices[i] - first < self->block)
            gradient[i] = room[input.indices[i] - first];
}
