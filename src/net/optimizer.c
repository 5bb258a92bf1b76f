#include "optimizer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* The values of both papers, which every framework has as its defaults. */
static const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

ee_status optimizer_create(optimizer *self, const optimizer_options *options, size_t count, ee_error *error)
{
    *self = (optimizer){.options = *options, .count = count, .kernels = kernels_best()};
    if (options->kind.pick == OPTIMIZER_SGD) return EE_OK;
    ee_status status = memory_create(&self->first, count, sizeof(float), error);
    if (!status) status = memory_create(&self->second, count, sizeof(float), error);
    if (status) optimizer_destroy(self);
    return status;
}

void optimizer_destroy(optimizer *self)
{
    memory_free(self->first);
    memory_free(self->second);
    *self = (optimizer){0};
}

void optimizer_reset(optimizer *self)
{
    self->steps = 0;
    if (!self->first) return;
    memset(self->first, 0, self->count * sizeof *self->first);
    memset(self->second, 0, self->count * sizeof *self->second);
}

bool optimizer_is_plain(const optimizer *self)
{
    return self->options.kind.pick == OPTIMIZER_SGD && self->options.decay == 0;
}

void optimizer_step(optimizer *self, float *theta, const float *gradient)
{
    double rate = self->options.rate, decay = self->options.decay;
    if (self->options.kind.pick == OPTIMIZER_SGD) {
        float keep = (float)(1 - rate * decay);
        if (decay > 0)
            for (size_t i = 0; i < self->count; i++) theta[i] *= keep;
        self->kernels->add_scaled(theta, -(float)rate, gradient, self->count);
        return;
    }
    bool decoupled = self->options.kind.pick == OPTIMIZER_ADAMW;
    self->steps++;
    double steps = (double)self->steps;
    adam_step step = {
        .beta1 = (float)beta1,
        .beta2 = (float)beta2,
        .rest1 = (float)(1 - beta1),
        .rest2 = (float)(1 - beta2),
        .rate = (float)(rate / (1 - pow(beta1, steps))),
        .correction = (float)(1 / sqrt(1 - pow(beta2, steps))),
        .epsilon = (float)epsilon,
        .l2 = decoupled ? 0 : (float)decay,
        .shrink = decoupled ? (float)(1 - rate * decay) : 1,
    };
    self->kernels->adam(theta, self->first, self->second, gradient, self->count, &step);
}

void optimizer_archive(optimizer *self, archive *a)
{
    archive_u64(a, &self->steps);
    if (!self->first) return;
    archive_floats(a, self->first, self->count);
    archive_floats(a, self->second, self->count);
}
