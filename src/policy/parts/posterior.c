#include "posterior.h"

#include <math.h>

#include "base/memory.h"

/* A factorisation costs what as many updates as the block has features cost: hardly more than a thousand. */
static const option rows[] = {
    OPTION_ROW_REAL(posterior_options, lambda, "lambda", "1", 1e-6, 1e6, "A starts as lambda times the identity"),
    OPTION_ROW_INTEGER(posterior_options, refresh, "refresh", "1000", 1, 1e9,
                       "updates of a block of features between factorisations"),
};
const option_table posterior_option_table = OPTION_TABLE(rows);

enum { FLOATS_PER_DOUBLE = sizeof(double) / sizeof(float), FLOATS_PER_SIZE = sizeof(size_t) / sizeof(float) };

ee_status posterior_create(const policy_class *class, const policy_setup *setup, double width, policy **out,
                           ee_error *error)
{
    const posterior_options *options = setup->options;
    posterior *self;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (status) return status;
    size_t dim = setup->room ? setup->room->capacity : setup->dim;
    *self = (posterior){.base.class = class, .dim = dim, .features = dim, .width = width};
    status = policy_set_parameters(&self->base, setup, ridge_state_count(dim) * FLOATS_PER_DOUBLE, error);
    if (!status)
        status = ridge_create(setup->memory, dim, options->lambda, (size_t)options->refresh, &self->ridge, error);
    if (!status && setup->room) {
        self->features = dim + setup->dim;
        status = policy_store_columns(&self->base, setup, error);
        if (!status) status = ridge_store_columns(self->ridge, setup->memory, setup->dim, error);
    }
    if (!status && self->base.units.on)
        status = memory_create(setup->memory, &self->seen, dim, sizeof *self->seen, error);
    if (status) return status;
    self->base.parameters.spread = reward_units_spread(&self->base.units);
    self->base.parameters.unsaved = (ridge_state_count(dim) - ridge_saved_count(dim)) * FLOATS_PER_DOUBLE;
    self->base.parameters.doubles = ridge_saved_count(dim);
    ridge_start(self->ridge, (double *)(void *)self->base.parameters.values);
    *out = &self->base;
    return EE_OK;
}

void posterior_start_column(policy *self, size_t place)
{
    ridge_add_column(((posterior *)self)->ridge, (double *)(void *)self->parameters.values, place);
}

void posterior_archive_columns(policy *self, archive *a)
{
    ridge_archive_columns(((posterior *)self)->ridge, (double *)(void *)self->parameters.values, a);
}

const double *posterior_state(const parameters *learned)
{
    return (const double *)(const void *)learned->values;
}

double posterior_mean(const parameters *learned, vector x)
{
    const posterior *self = (const posterior *)learned->policy;
    return learned->centre + ridge_mean(posterior_state(learned), self->dim, x);
}

size_t posterior_pack_count(size_t dim, size_t arms)
{
    /* Where they are packed, at most half of the features are there, each with its index. */
    return dim * arms + (arms + 1) * FLOATS_PER_SIZE;
}

ee_arms posterior_pack(const ee_arms *arms, float *room)
{
    size_t total = arms->count * arms->dim, filled = 0;
    if (arms->starts) return *arms;
    for (size_t i = 0; i < total; i++) filled += arms->values[i] != 0;
    if (filled > total / 2) return *arms;
    size_t *starts = (size_t *)(void *)room, end = 0;
    float *values = room + (arms->count + 1) * FLOATS_PER_SIZE;
    uint32_t *indices = (uint32_t *)(void *)(values + filled);
    for (size_t arm = 0; arm < arms->count; arm++) {
        const float *x = arms->values + arm * arms->dim;
        starts[arm] = end;
        for (size_t i = 0; i < arms->dim; i++) {
            if (x[i] == 0) continue;
            values[end] = x[i];
            indices[end++] = (uint32_t)i;
        }
    }
    starts[arms->count] = end;
    return ee_arms_sparse(starts, indices, values, arms->count, arms->dim);
}

void posterior_explain(const parameters *learned, vector x, scratch *room, float *gradient)
{
    (void)room;
    ridge_gradient(posterior_state(learned), ((const posterior *)learned->policy)->dim, x, gradient);
}

ee_status posterior_reserve(policy *self, const observation *o, ee_error *error)
{
    (void)self;
    (void)o;
    (void)error;
    return EE_OK;
}

static void count_as_seen(posterior *self, vector x)
{
    for (size_t i = 0; self->seen && i < x.count; i++) self->seen[x.indices ? x.indices[i] : i] += (double)x.values[i];
}

/* With its own prediction as the reward the estimate stays, and what is uncertain of it shrinks. */
float posterior_await(policy *self, const observation *o)
{
    posterior *own = (posterior *)self;
    double *state = (double *)(void *)self->parameters.values, y = ridge_mean(state, own->dim, o->x);
    float expected = (float)(self->parameters.centre + y);
    if (!isfinite(expected)) expected = 0;
    y = (double)expected - self->parameters.centre;
    ridge_observe(own->ridge, state, o->x, y, self->parameters.round + 1);
    /* Before any reward there is no centre: what is expected then is the one to come, from which y is 0. */
    if (self->parameters.round > 0) count_as_seen(own, o->x);
    return expected;
}

/* Has the parameters know the units of the rewards as they are now. */
static void set_units(posterior *self, double *state)
{
    const double steps = 20; /* of the centre in a spread: fewer lag behind, and each costs the square of a block */
    parameters *own = &self->base.parameters;
    double off = reward_units_centre(&self->base.units) - own->centre;
    own->spread = reward_units_spread(&self->base.units);
    if (!self->seen || fabs(off) * steps <= own->spread) return;
    ridge_shift(self->ridge, state, self->seen, -off, own->round);
    own->centre += off;
}

bool posterior_learn(policy *self, const observation *o, float reward)
{
    posterior *own = (posterior *)self;
    double *state = (double *)(void *)self->parameters.values;
    uint64_t round = ++self->parameters.round;
    set_units(own, state);
    double y = (double)reward - self->parameters.centre;
    bool counted = o->awaited && o->awaited_at > 0;
    if (counted)
        ridge_correct(own->ridge, state, o->x, (double)reward - (double)o->expected, round);
    else if (o->awaited)
        ridge_correct(own->ridge, state, o->x, y, round);
    else
        ridge_observe(own->ridge, state, o->x, y, round);
    if (!counted) count_as_seen(own, o->x);
    return true;
}

size_t posterior_copy(const policy *self, uint64_t first, float *to)
{
    ridge *own = ((const posterior *)self)->ridge;
    return FLOATS_PER_DOUBLE * ridge_copy(own, posterior_state(&self->parameters), first, (double *)(void *)to);
}

void posterior_archive(policy *self, archive *a)
{
    posterior *own = (posterior *)self;
    parameters *learned = &self->parameters;
    size_t sums = learned->columns.table ? learned->columns.count : own->dim;
    ridge_archive(own->ridge, (double *)(void *)learned->values, a);
    reward_units_archive(&self->units, a);
    if (!own->seen) return;
    archive_bytes(a, &learned->centre, sizeof learned->centre);
    archive_bytes(a, own->seen, sums * sizeof *own->seen);
    if (!a->reading || a->status) return;
    bool sound = isfinite(learned->centre);
    for (size_t i = 0; i < sums; i++) sound &= isfinite(own->seen[i]);
    if (!sound) archive_fail(a, EE_BAD_MODEL, "model: a sum of a ridge regression is not a finite number");
    learned->spread = reward_units_spread(&self->units);
}
