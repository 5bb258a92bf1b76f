/* The derivative of a network's output by its input: a backward pass goes one layer further than training needs. */
#include <string.h>

#include "network.h"

/* Of a fully connected layer a sparse input asks for its own rows alone. */
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
