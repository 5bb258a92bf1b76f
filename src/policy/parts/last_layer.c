#include "last_layer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/doubles.h"
#include "math/triangle.h"

enum { MOST_FEATURES = 65537 }; /* of the widest layer: the bytes of their triangle are less than 64 bits hold */

static const option rows[] = {
    OPTION_ROW_REAL(last_layer_options, lambda, "lambda", "0.1", 1e-6, 1e6, "A before the first reward"),
    OPTION_ROW_INTEGER(last_layer_options, rebuild, "rebuild", "100", 0, 1e9,
                       "trainings of f1 after which the regression is made anew from its history; 0: never"),
};
const option_table last_layer_option_table = OPTION_TABLE(rows);

/* ---- making ---- */

static double *factor_of(const parameters *learned)
{
    size_t p = exploitation_count((const exploitation *)learned->policy);
    return (double *)(void *)(learned->values + p + p % 2);
}

static double *theta_of(const parameters *learned)
{
    return factor_of(learned) + triangle_count(((const last_layer *)learned->policy)->dim);
}

const double *last_layer_theta(const parameters *learned)
{
    return theta_of(learned);
}

/* The regression of no samples. */
static void start(last_layer *self)
{
    const parameters *own = &self->shared.base.parameters;
    triangle_start(factor_of(own), self->dim, sqrt(self->lambda));
    memset(theta_of(own), 0, self->dim * sizeof(double));
    memset(self->moment, 0, self->dim * sizeof(double));
}

static ee_status create_parts(last_layer *self, const policy_class *class, const policy_setup *setup, ee_error *error)
{
    const last_layer_options *o = setup->options;
    learner_options first = learner_for_problem(&o->shared.f1, o->shared.common.blocks, o->shared.common.exclusive);
    network f1;
    if (o->shared.f1.network.layers < 2)
        return status_fail(error, EE_BAD_OPTION,
                           "options: %s needs a hidden layer: f1.layers must be at least 2, got %lld",
                           class->schema->owner, (long long)o->shared.f1.network.layers);
    size_t d = ((size_t)first.network.width + 1) * (size_t)first.network.heads;
    if (d > MOST_FEATURES)
        return status_fail(error, EE_BAD_OPTION, "options: %s: f1.width + 1 times f1.heads must be at most %d, got %zu",
                           class->schema->owner, MOST_FEATURES, d);
    ee_status status = network_create(&f1, "f1", &first.network, setup->dim, error);
    if (status) return status;
    size_t more = f1.parameter_count % 2 + 2 * (triangle_count(d) + d);
    status = exploitation_create(&self->shared, class, setup, more, error);
    if (status) return status;
    self->scale = o->scale;
    self->lambda = o->lambda;
    self->rebuild = (uint64_t)o->rebuild;
    self->hidden = f1.layers[f1.layer_count - 2].output;
    self->dim = d;
    status = memory_create(&self->moment, d, sizeof(double), error);
    if (!status) status = memory_create(&self->features, d, sizeof(double), error);
    return status;
}

ee_status last_layer_create(const policy_class *class, const policy_setup *setup, policy **out, ee_error *error)
{
    last_layer *self = NULL;
    ee_status status = memory_create(&self, 1, sizeof *self, error);
    if (!status) status = create_parts(self, class, setup, error);
    if (status) {
        if (self) last_layer_free(&self->shared.base);
        return status;
    }
    start(self);
    *out = &self->shared.base;
    return EE_OK;
}

void last_layer_free(policy *base)
{
    last_layer *self = (last_layer *)base;
    memory_free(self->moment);
    memory_free(self->features);
    exploitation_free(base);
}

size_t last_layer_memory(const policy *base)
{
    const last_layer *self = (const last_layer *)base;
    return exploitation_memory(base) + memory_size(self->moment) + memory_size(self->features);
}

void last_layer_archive(policy *base, archive *a)
{
    last_layer *self = (last_layer *)base;
    exploitation_archive(base, a);
    archive_bytes(a, self->moment, self->dim * sizeof *self->moment);
    archive_u64(a, &self->trainings);
}

/* ---- scoring ---- */

/* Where things lie in the scratch, the doubles first. */
static double *room_features(scratch *room)
{
    return (double *)(void *)room->values;
}

size_t last_layer_scratch_count(const policy *base, size_t arms)
{
    const last_layer *self = (const last_layer *)base;
    (void)arms;
    return 2 * 2 * self->dim + self->shared.f1.network.activation_count;
}

/* features is (d); activations is f1's */
static void compute_features(const last_layer *self, const float *theta, vector x, float *activations, double *features)
{
    const network *f1 = &self->shared.f1.network;
    size_t width = self->dim / f1->heads - 1;
    network_forward(f1, theta, x, activations);
    memset(features, 0, self->dim * sizeof *features);
    features += network_head(f1, x) * (width + 1);
    for (size_t i = 0; i < width; i++) features[i] = (double)activations[self->hidden + i];
    features[width] = 1;
}

const double *last_layer_features(const parameters *learned, vector x, scratch *room)
{
    const last_layer *self = (const last_layer *)learned->policy;
    float *activations = room->values + 2 * 2 * self->dim;
    compute_features(self, learned->values, x, activations, room_features(room));
    return room_features(room);
}

double last_layer_width(const parameters *learned, const double *features, scratch *room)
{
    size_t d = ((const last_layer *)learned->policy)->dim;
    double *solved = room_features(room) + d;
    memcpy(solved, features, d * sizeof *solved);
    triangle_solve_transposed(factor_of(learned), solved, d);
    return sqrt(doubles_dot(solved, solved, d));
}

const double *last_layer_draw(const parameters *learned, scratch *room)
{
    const last_layer *self = (const last_layer *)learned->policy;
    double *drawn = room_features(room) + self->dim;
    for (size_t i = 0; i < self->dim; i++) drawn[i] = self->scale * random_normal(&room->random);
    triangle_solve(factor_of(learned), drawn, self->dim);
    doubles_add_scaled(drawn, 1, theta_of(learned), self->dim);
    return drawn;
}

double last_layer_dot(const last_layer *self, const double *a, const double *b)
{
    return doubles_dot(a, b, self->dim);
}

/* ---- learning ---- */

static void solve_theta(last_layer *self)
{
    const parameters *own = &self->shared.base.parameters;
    double *theta = theta_of(own);
    memcpy(theta, self->moment, self->dim * sizeof *theta);
    triangle_solve_transposed(factor_of(own), theta, self->dim);
    triangle_solve(factor_of(own), theta, self->dim);
}

void last_layer_observe(policy *base, const observation *o, float reward)
{
    last_layer *self = (last_layer *)base;
    compute_features(self, base->parameters.values, o->x, self->shared.f1.activations, self->features);
    doubles_add_scaled(self->moment, (double)reward, self->features, self->dim);
    triangle_rotate(factor_of(&base->parameters), self->features, self->dim);
    solve_theta(self);
    exploitation_observe(base, o, reward);
}

/* The sums are made in the factor's own place, and factored there. */
static void rebuild(last_layer *self)
{
    const parameters *own = &self->shared.base.parameters;
    const history *samples = &self->shared.f1.history;
    double *factor = factor_of(own);
    double weight = samples->kind == HISTORY_RESERVOIR ? (double)samples->seen / (double)samples->count : 1;
    triangle_start(factor, self->dim, self->lambda);
    memset(self->moment, 0, self->dim * sizeof *self->moment);
    for (size_t i = 0; i < samples->count; i++) {
        vector x = history_input(samples, i);
        compute_features(self, own->values, x, self->shared.f1.activations, self->features);
        triangle_add(factor, weight, self->features, self->dim);
        doubles_add_scaled(self->moment, weight * (double)history_target(samples, i), self->features, self->dim);
    }
    triangle_factor(factor, self->dim, self->lambda, self->features);
    solve_theta(self);
}

void last_layer_train(policy *base)
{
    last_layer *self = (last_layer *)base;
    if (!schedule_is_due(&self->shared.schedule, base->parameters.round)) return;
    exploitation_train(base);
    self->trainings++;
    if (self->rebuild && self->trainings % self->rebuild == 0) rebuild(self);
}
