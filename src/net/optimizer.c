#include "optimizer.h"

#include <math.h>
#include <string.h>

/* The values of both papers, the defaults of every framework. */
static const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

ee_status optimizer_create(optimizer *self, memory *owner, const optimizer_options *options, size_t count,
                           ee_error *error)
{
    *self = (optimizer){.options = *options, .count = count, .kernels = kernels_best()};
    if (options->kind.pick == OPTIMIZER_SGD) return EE_OK;
    ee_status status = memory_create(owner, &self->first, count, sizeof(float), error);
    if (!status) status = memory_create(owner, &self->second, count, sizeof(float), error);
    return status;
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

/* beta^steps; 0 if 1 - it rounds to 1. */
static double power(double beta, uint64_t steps)
{
    return (double)steps * (1 - beta) > 40 ? 0 : pow(beta, (double)steps);
}

static double decay_now(const optimizer *self)
{
    double until = (double)self->options.decay_until, steps = (double)self->steps;
    return self->options.decay * (steps > until ? sqrt(until / steps) : 1);
}

adam_step optimizer_begin(optimizer *self)
{
    uint64_t steps = ++self->steps;
    self->left = (float)(1 - self->options.rate * decay_now(self));
    if (self->options.kind.pick == OPTIMIZER_SGD) return (adam_step){0};
    /* The bias correction of the moments, applied to the rate. */
    double first = 1 - power(beta1, steps), second = sqrt(1 - power(beta2, steps)), scale = sqrt(1 - beta2);
    double l2 = self->options.kind.pick == OPTIMIZER_ADAM ? decay_now(self) : 0;
    return (adam_step){
        .beta1 = (float)beta1,
        .beta2 = (float)beta2,
        .l2 = (float)(scale * l2),
        .rate = (float)(self->options.rate * (1 - beta1) / scale * second / first),
        .epsilon = (float)(epsilon * second),
    };
}

static void descend(const optimizer *self, float *theta, const gradient_factor *f)
{
    float *biases = f->bias ? theta + f->in * f->out : NULL;
    if (f->input.indices)
        self->kernels->update_sparse(theta, biases, f->input.indices, f->input.values, f->delta, f->input.count,
                                     f->out);
    else
        self->kernels->update(theta, biases, f->input.values, f->delta, f->in, f->out);
}

/* Rows whose input is zero move too; the biases are the last row, with input 1. */
static void adapt_sparse(const optimizer *self, float *theta, float *first, float *second, const gradient_factor *f,
                         const adam_step *step)
{
    for (size_t row = 0, next = 0; row < f->in + f->bias; row++) {
        bool here = next < f->input.count && f->input.indices[next] == row;
        float x = here ? f->input.values[next++] : row < f->in ? 0 : 1;
        size_t start = row * f->out;
        self->kernels->adam(theta + start, first + start, second + start, &x, f->delta, 1, f->out, false, step);
    }
}

static void adapt(const optimizer *self, float *theta, float *first, float *second, const gradient_factor *f,
                  const adam_step *step)
{
    if (f->input.indices)
        adapt_sparse(self, theta, first, second, f, step);
    else
        self->kernels->adam(theta, first, second, f->input.values, f->delta, f->in, f->out, f->bias, step);
}

static bool decays_apart(const optimizer *self)
{
    return self->options.decay > 0 && self->options.kind.pick != OPTIMIZER_ADAM;
}

static void shrink(const optimizer *self, float *theta, size_t count)
{
    for (size_t i = 0; i < count; i++) theta[i] *= self->left;
}

static void move(const optimizer *self, float *theta, const gradient_factor *f, const adam_step *step)
{
    size_t start = f->parameters;
    if (self->options.kind.pick == OPTIMIZER_SGD)
        descend(self, theta + start, f);
    else
        adapt(self, theta + start, self->first + start, self->second + start, f, step);
}

void optimizer_step(optimizer *self, float *theta, const gradient_factor *factors, size_t count)
{
    adam_step step = optimizer_begin(self);
    if (decays_apart(self)) shrink(self, theta, self->count);
    for (size_t i = 0; i < count; i++) move(self, theta, &factors[i], &step);
}

void optimizer_step_part(const optimizer *self, const adam_step *step, float *theta, const float *gradient, span part)
{
    static const float one = 1;
    gradient_factor formed = {part.start, gradient + part.start, part.count, vector_dense(&one, 1), 1, false};
    if (decays_apart(self)) shrink(self, theta + part.start, part.count);
    move(self, theta, &formed, step);
}
