#include "kernel_policy.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { MOST_CONTEXT_FLOATS = 1 << 26 };

static const option rows[] = {
    OPTION_ROW_CHOICE(kernel_options, kernel, "kernel", "rbf", kernel_ridge_choices,
                      "kernel k(a, b); rbf: exp(-gamma |a - b|^2)"),
    OPTION_ROW_REAL(kernel_options, gamma, "gamma", "1", 1e-9, 1e9,
                    "kernel parameter: the larger, the less a reward says about other arms"),
    OPTION_ROW_REAL(kernel_options, lambda, "lambda", "1", 1e-6, 1e6, "ridge: variance of the reward noise"),
    OPTION_ROW_REAL(kernel_options, nu, "nu", "0.1", 0, 1e6, "weight of the standard deviation"),
    OPTION_ROW_INTEGER(kernel_options, max_contexts, "max_contexts", "1000", 1, 20000,
                       "rewards to learn; later ones are ignored"),
};

const option_table kernel_option_table = OPTION_TABLE(rows);

ee_status kernel_policy_create(const policy_class *class, const policy_setup *setup, policy **out, ee_error *error)
{
    const kernel_options *options = setup->options;
    kernel_policy *self;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (status) return status;
    self->base.class = class;
    self->width = options->nu / sqrt(options->lambda);
    self->max_contexts = (size_t)options->max_contexts;
    /* Room for dense contexts where that is not much: memory that is not used costs nothing. */
    size_t dim = setup->dim, nonzeros = (size_t)options->common.nonzeros;
    if (dim <= MOST_CONTEXT_FLOATS / (size_t)options->max_contexts) nonzeros = dim;
    self->posterior = kernel_ridge_make(options->kernel.pick, options->gamma, options->lambda, dim, nonzeros);
    size_t doubles = kernel_ridge_state_count(&self->posterior, self->max_contexts);
    status = policy_set_parameters(&self->base, setup, doubles * (sizeof(double) / sizeof(float)), error);
    self->base.parameters.doubles = doubles;
    if (!status) *out = &self->base;
    return status;
}

size_t kernel_policy_count(const parameters *learned)
{
    const kernel_policy *self = (const kernel_policy *)learned->policy;
    return learned->round < self->max_contexts ? (size_t)learned->round : self->max_contexts;
}

const double *kernel_policy_state(const parameters *learned)
{
    return (const double *)(const void *)learned->values; /* what memory_create gives is aligned for any type */
}

size_t kernel_policy_explain_count(const policy *base, size_t entries)
{
    const kernel_policy *self = (const kernel_policy *)base;
    return kernel_ridge_gradient_room(self->max_contexts, entries) * (sizeof(double) / sizeof(float));
}

void kernel_policy_explain(const parameters *learned, vector x, scratch *room, float *gradient)
{
    const kernel_policy *self = (const kernel_policy *)learned->policy;
    kernel_ridge_gradient(&self->posterior, kernel_policy_state(learned), kernel_policy_count(learned), x,
                          (double *)(void *)room->values, gradient);
}

ee_status kernel_policy_reserve(policy *base, const observation *o, ee_error *error)
{
    const kernel_policy *self = (const kernel_policy *)base;
    if (base->parameters.round >= self->max_contexts || kernel_ridge_fits(&self->posterior, o->x)) return EE_OK;
    return status_fail(
        error, EE_BAD_INPUT,
        "learn: the arm has more than %zu non-zero features, the room of %s; create it with a larger option nonzeros",
        self->posterior.stride / 2, base->class->schema->owner);
}

bool kernel_policy_learn(policy *base, const observation *o, float reward)
{
    kernel_policy *self = (kernel_policy *)base;
    size_t count = kernel_policy_count(&base->parameters);
    double *state = (double *)(void *)base->parameters.values;
    if (count < self->max_contexts) kernel_ridge_append(&self->posterior, state, count, o->x, (double)reward);
    base->parameters.round++;
    return true;
}

/* A sample is written once, behind those before it. */
size_t kernel_policy_copy(const policy *base, uint64_t first, float *to)
{
    const kernel_policy *self = (const kernel_policy *)base;
    size_t count = kernel_policy_count(&base->parameters), before = first > 1 ? (size_t)first - 1 : 0;
    if (before > count) before = count;
    size_t start = kernel_ridge_state_count(&self->posterior, before);
    size_t doubles = kernel_ridge_state_count(&self->posterior, count) - start;
    memcpy((double *)(void *)to + start, kernel_policy_state(&base->parameters) + start, doubles * sizeof(double));
    return doubles * (sizeof(double) / sizeof(float));
}

/* All that changes are the parameters, which were read before; scoring follows the indices in them. */
void kernel_policy_archive(policy *base, archive *a)
{
    const kernel_policy *self = (const kernel_policy *)base;
    if (!a->reading || a->status) return;
    const parameters *learned = &base->parameters;
    if (!kernel_ridge_is_sound(&self->posterior, kernel_policy_state(learned), kernel_policy_count(learned)))
        archive_fail(a, EE_BAD_MODEL, "model: a context is not a vector of the model's dimension");
}
