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

float optimizer_scale(const optimizer *self)
{
    /* With this scale Adam's second moment needs no factor 1 - beta2. */
    return (float)(self->options.kind.pick == OPTIMIZER_SGD ? -self->options.rate : sqrt(1 - beta2));
}

adam_step optimizer_begin(optimizer *self)
{
    double steps = (double)++self->steps;
    if (self->options.kind.pick == OPTIMIZER_SGD) return (adam_step){0};
    /* What corrects the second moment for its start at 0 divides the rate and epsilon in place of each root. */
    double scale = sqrt(1 - beta2), correction = 1 / sqrt(1 - pow(beta2, steps));
    double l2 = self->options.kind.pick == OPTIMIZER_ADAM ? self->options.decay : 0;
    return (adam_step){
        .beta1 = (float)beta1,
        .beta2 = (float)beta2,
        .l2 = (float)(scale * l2),
        .rate = (float)(self->options.rate * (1 - beta1) / scale / (1 - pow(beta1, steps)) / correction),
        .epsilon = (float)(epsilon / correction),
    };
}

static void descend(const optimizer *self, float *theta, const gradient_factor *f)
{
    if (f->input.indices)
        self->kernels->update_sparse(theta, f->input.indices, f->input.values, f->delta, f->input.count, f->out);
    else
        self->kernels->update(theta, f->input.values, f->delta, f->in, f->out);
    if (f->bias) self->kernels->add_scaled(theta + f->in * f->out, 1, f->delta, f->out);
}

/* Rows whose input is zero move too. */
static void adapt_sparse(const optimizer *self, float *theta, float *first, float *second, const gradient_factor *f,
                         const adam_step *step)
{
    for (size_t row = 0, next = 0; row < f->in; row++) {
        bool here = next < f->input.count && f->input.indices[next] == row;
        float x = here ? f->input.values[next++] : 0;
        size_t start = row * f->out;
        self->kernels->adam(theta + start, first + start, second + start, &x, f->delta, 1, f->out, step);
    }
}

static void adapt(const optimizer *self, float *theta, float *first, float *second, const gradient_factor *f,
                  const adam_step *step)
{
    static const float one = 1;
    size_t weights = f->in * f->out;
    if (f->input.indices)
        adapt_sparse(self, theta, first, second, f, step);
    else
        self->kernels->adam(theta, first, second, f->input.values, f->delta, f->in, f->out, step);
    if (f->bias)
        self->kernels->adam(theta + weights, first + weights, second + weights, &one, f->delta, 1, f->out, step);
}

static bool decays_apart(const optimizer *self)
{
    return self->options.decay > 0 && self->options.kind.pick != OPTIMIZER_ADAM;
}

static void shrink(const optimizer *self, float *theta, size_t count)
{
    float keep = (float)(1 - self->options.rate * self->options.decay);
    for (size_t i = 0; i < count; i++) theta[i] *= keep;
}

static void move(const optimizer *self, float *theta, size_t start, const gradient_factor *f, const adam_step *step)
{
    if (self->options.kind.pick == OPTIMIZER_SGD)
        descend(self, theta + start, f);
    else
        adapt(self, theta + start, self->first + start, self->second + start, f, step);
}

void optimizer_step(optimizer *self, float *theta, const gradient_factor *factors, size_t count)
{
    adam_step step = optimizer_begin(self);
    if (decays_apart(self)) shrink(self, theta, self->count);
    for (size_t i = 0, start = 0; i < count; i++) {
        move(self, theta, start, &factors[i], &step);
        start += (factors[i].in + factors[i].bias) * factors[i].out;
    }
}

void optimizer_step_part(const optimizer *self, const adam_step *step, float *theta, const float *gradient, span part)
{
    static const float one = 1;
    gradient_factor formed = {gradient + part.start, part.count, vector_dense(&one, 1), 1, false};
    if (decays_apart(self)) shrink(self, theta + part.start, part.count);
    move(self, theta, part.start, &formed, step);
}

void optimizer_archive(optimizer *self, archive *a)
{
    archive_u64(a, &self->steps);
    if (!self->first) return;
    archive_floats(a, self->first, self->count);
    archive_floats(a, self->second, self->count);
}
