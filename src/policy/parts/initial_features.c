#include "initial_features.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

ee_status initial_features_create(initial_features *self, memory *owner, const network *f1, size_t units,
                                  ee_error *error)
{
    *self = (initial_features){0};
    if (f1->layer_count < 2)
        return status_fail(
            error, EE_BAD_OPTION,
            "options: f1.layers must be at least 2 with eenet.exploration=ridge, got 1; or use exploration=network");
    network_cut(f1, units, &self->network);
    /* A convolution is not cut, since its units share their weights: its first outputs are used. */
    size_t outputs = shape_size(self->network.layers[self->network.layer_count - 1].out);
    self->count = units < outputs ? units : outputs;
    size_t count = self->network.parameter_count;
    ee_status status = memory_create(owner, &self->theta, count, sizeof(float), error);
    if (!status) memory_take_large_pages(self->theta, count * sizeof(float));
    return status;
}

void initial_features_set(initial_features *self, const network *f1, const float *theta_0)
{
    network_cut_parameters(f1, &self->network, theta_0, self->theta);
}

void initial_features_start_column(initial_features *self, const network *f1, size_t column, const float *theta_0)
{
    size_t whole = f1->layers[0].out.width, seen = self->network.layers[0].out.width;
    memcpy(self->theta + column * seen, theta_0 + column * whole, seen * sizeof *theta_0);
}

static void scale_units(const initial_features *self, const float *units, float *phi)
{
    float square = self->network.kernels->dot(units, units, self->count);
    float scale = square > 0 ? 1 / sqrtf(square) : 0;
    for (size_t i = 0; i < self->count; i++) phi[i] = scale * units[i];
}

void initial_features_compute(const initial_features *self, vector x, float *activations, float *phi)
{
    scale_units(self, network_outputs(&self->network, self->theta, x, activations), phi);
}

void initial_features_compute_arm(const initial_features *self, const ee_arms *arms, size_t arm, float *activations,
                                  float *phi)
{
    scale_units(self, network_outputs_of_arm(&self->network, self->theta, arms, arm, activations), phi);
}

void initial_features_compute_many(const initial_features *self, const float *inputs, size_t count, float *activations,
                                   float *phi)
{
    const network *net = &self->network;
    const float *units = activations + net->layers[net->layer_count - 1].output;
    network_outputs_of_many(net, self->theta, inputs, count, activations);
    for (size_t i = 0; i < count; i++) scale_units(self, units + i * net->activation_count, phi + i * self->count);
}
