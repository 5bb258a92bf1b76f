#include "last_layer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/doubles.h"
#include "math/triangle.h"

static const option rows[] = {
    OPTION_ROW_REAL(last_layer_options, lambda, "lambda", "0.1", 1e-6, 1e6, "A starts as lambda times the identity"),
    OPTION_ROW_INTEGER(last_layer_options, rebuild, "rebuild", "100", 0, 1e9,
                       "trainings of f1 after which the regression is recomputed from f1's history; 0: never"),
};
const option_table last_layer_option_table = OPTION_TABLE(rows);

/* ---- making ---- */

static double *factor_of(const parameters *learned, size_t head)
{
    const last_layer *self = (const last_layer *)learned->policy;
    double *factors = (double *)(void *)(learned->values + exploitation_end(&self->shared));
    return factors + head * triangle_count(self->dim);
}

static double *theta_of(const parameters *learned, size_t head)
{
    const last_layer *self = (const last_layer *)learned->policy;
    return factor_of(learned, self->heads) + head * self->dim;
}

/* Resets the regressions to no samples. diagonal is that of each factor or sum. */
static void start(last_layer *self, double diagonal)
{
    const parameters *learned = &self->shared.base.parameters;
    for (size_t head = 0; head < self->heads; head++) triangle_start(factor_of(learned, head), self->dim, diagonal);
    memset(theta_of(learned, 0), 0, self->heads * self->dim * sizeof(double));
    memset(self->moments, 0, self->heads * self->dim * sizeof(double));
    memset(self->seen, 0, self->heads * self->dim * sizeof(double));
}

static const layer *hidden_of(const network *net)
{
    return &net->layers[net->layer_count - 2];
}

static ee_status create_parts(last_layer *self, const policy_setup *setup, ee_error *error)
{
    const last_layer_options *o = setup->options;
    const learner *f1 = &self->shared.f1;
    ee_status status = exploitation_create(&self->shared, setup, error);
    if (status) return status;
    if (o->shared.f1.network.layers < 2)
        return status_fail(error, EE_BAD_OPTION,
                           "options: f1.layers must be at least 2, got %lld: %s explores on the last hidden layer",
                           (long long)o->shared.f1.network.layers, setup->class->schema->owner);
    self->scale = o->scale;
    self->lambda = o->lambda;
    self->rebuild = (uint64_t)o->rebuild;
    self->heads = f1->networks[0].heads;
    self->dim = 1;
    for (size_t k = 0; k < f1->network_count; k++) self->dim += hidden_of(&f1->networks[k])->out.width;
    size_t doubles = self->heads * (triangle_count(self->dim) + self->dim);
    status = exploitation_start(&self->shared, setup, 2 * doubles, error);
    self->shared.base.parameters.doubles = doubles;
    if (!status) status = memory_create(setup->memory, &self->moments, self->heads * self->dim, sizeof(double), error);
    if (!status) status = memory_create(setup->memory, &self->seen, self->heads * self->dim, sizeof(double), error);
    if (!status) status = memory_create(setup->memory, &self->features, self->dim, sizeof(double), error);
    return status;
}

ee_status last_layer_create(const policy_setup *setup, policy **out, ee_error *error)
{
    last_layer *self = NULL;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (!status) status = create_parts(self, setup, error);
    if (status) return status;
    start(self, sqrt(self->lambda));
    *out = &self->shared.base;
    return EE_OK;
}

void last_layer_archive(policy *base, archive *a)
{
    last_layer *self = (last_layer *)base;
    exploitation_archive(base, a);
    archive_bytes(a, self->moments, self->heads * self->dim * sizeof *self->moments);
    archive_bytes(a, self->seen, self->heads * self->dim * sizeof *self->seen);
    archive_u64(a, &self->trainings);
    archive_u64(a, &self->rebuilt_at);
}

/* ---- scoring ---- */

/* In the scratch: the features of an arm and workspace, (d) doubles each; a draw, (heads, d); the activations of f1. */
static double *room_doubles(scratch *room)
{
    return (double *)(void *)room->values;
}

static size_t room_activations(const last_layer *self)
{
    return 2 * (2 + self->heads) * self->dim;
}

size_t last_layer_scratch_count(const policy *base, size_t arms)
{
    const last_layer *self = (const last_layer *)base;
    return room_activations(self) + exploitation_pass_count(&self->shared, arms);
}

bool last_layer_pass(const parameters *learned, scratch *room, passed_arms *passed, ee_score *scores)
{
    const last_layer *self = (const last_layer *)learned->policy;
    return exploitation_pass(learned, room->values + room_activations(self), passed, scores);
}

/* Copies h of network k from its activations to the features. Returns the end of it. */
static double *copy_features(const last_layer *self, size_t k, const float *activations, double *features)
{
    const layer *hidden = hidden_of(&self->shared.f1.networks[k]);
    for (size_t i = 0; i < hidden->out.width; i++) features[i] = (double)activations[hidden->output + i];
    return features + hidden->out.width;
}

arm_features last_layer_features(const parameters *learned, const passed_arms *passed, size_t turn, scratch *room)
{
    const last_layer *self = (const last_layer *)learned->policy;
    const learner *f1 = &self->shared.f1;
    double *features = room_doubles(room), *next = features;
    for (size_t k = 0; k < f1->network_count; k++)
        next = copy_features(self, k, passed->activations[k] + turn * f1->networks[k].activation_count, next);
    *next = 1;
    return (arm_features){network_head(&f1->networks[0], vector_of_arm(passed->arms, passed->first + turn)), features};
}

double last_layer_mean(const parameters *learned, arm_features arm)
{
    const last_layer *self = (const last_layer *)learned->policy;
    return learned->centre + learned->spread * doubles_dot(theta_of(learned, arm.head), arm.values, self->dim);
}

double last_layer_width(const parameters *learned, arm_features arm, scratch *room)
{
    const last_layer *self = (const last_layer *)learned->policy;
    size_t d = self->dim;
    double *solved = room_doubles(room) + d;
    memcpy(solved, arm.values, d * sizeof *solved);
    triangle_solve_transposed(factor_of(learned, arm.head), solved, d);
    return self->scale * learned->spread * sqrt(doubles_dot(solved, solved, d));
}

const double *last_layer_draw(const parameters *learned, scratch *room)
{
    const last_layer *self = (const last_layer *)learned->policy;
    double *drawn = room_doubles(room) + 2 * self->dim;
    for (size_t i = 0; i < self->heads * self->dim; i++) drawn[i] = self->scale * random_normal(&room->random);
    for (size_t head = 0; head < self->heads; head++)
        triangle_solve(factor_of(learned, head), drawn + head * self->dim, self->dim);
    doubles_add_scaled(drawn, 1, theta_of(learned, 0), self->heads * self->dim);
    return drawn;
}

double last_layer_drawn(const parameters *learned, const double *drawn, arm_features arm)
{
    const last_layer *self = (const last_layer *)learned->policy;
    return learned->centre + learned->spread * doubles_dot(drawn + arm.head * self->dim, arm.values, self->dim);
}

/* ---- explaining ---- */

/* Like exploitation_explain, with theta in place of the last layers. */
void last_layer_explain(const parameters *learned, vector x, scratch *room, float *gradient)
{
    const last_layer *self = (const last_layer *)learned->policy;
    const learner *f1 = &self->shared.f1;
    const double *theta = theta_of(learned, network_head(&f1->networks[0], x));
    float *added = room->values, *activations = added + x.count;
    for (size_t i = 0; i < x.count; i++) gradient[i] = 0; /* an arm without entries may have a NULL gradient */
    for (size_t k = 0; k < f1->network_count; k++) {
        const network *net = &f1->networks[k];
        const layer *hidden = hidden_of(net);
        const float *theta1 = learned->values + f1->starts[k];
        float *deltas = activations + net->activation_count;
        network_outputs(net, theta1, x, activations);
        for (size_t i = hidden->output; i < hidden->output + hidden->out.width; i++, theta++)
            deltas[i] = activations[i] > 0 ? (float)(learned->spread * *theta) : 0;
        network_backward_from(net, net->layer_count - 2, theta1, activations, deltas);
        network_input_gradient(net, theta1, x, activations, deltas, deltas + net->activation_count, added);
        for (size_t i = 0; i < x.count; i++) gradient[i] += added[i];
    }
}

/* ---- learning ---- */

static void solve_theta(last_layer *self, size_t head)
{
    const parameters *learned = &self->shared.base.parameters;
    double *theta = theta_of(learned, head);
    const double *moments = self->moments + head * self->dim, *seen = self->seen + head * self->dim;
    double scale = learned->spread > 0 ? 1 / learned->spread : 0;
    for (size_t i = 0; i < self->dim; i++) theta[i] = scale * (moments[i] - learned->centre * seen[i]);
    triangle_solve_transposed(factor_of(learned, head), theta, self->dim);
    triangle_solve(factor_of(learned, head), theta, self->dim);
}

/* Computes the features of a sample with the current f1. Returns its head. */
static size_t see_sample(last_layer *self, vector x)
{
    const learner *f1 = &self->shared.f1;
    float *activations = self->shared.activations;
    double *next = self->features;
    for (size_t k = 0; k < f1->network_count; k++) {
        network_outputs(&f1->networks[k], self->shared.base.parameters.values + f1->starts[k], x, activations);
        next = copy_features(self, k, activations, next);
    }
    *next = 1;
    return network_head(&f1->networks[0], x);
}

/* Computes the sums in the memory of the factors, and factors them there. */
static void rebuild(last_layer *self)
{
    const parameters *learned = &self->shared.base.parameters;
    const history *samples = &self->shared.f1.history;
    double weight = samples->kind == HISTORY_RESERVOIR ? (double)samples->seen / (double)samples->count : 1;
    start(self, self->lambda);
    for (size_t i = 0; i < samples->count; i++) {
        size_t head = see_sample(self, history_input(samples, i));
        double y = (double)history_target(samples, i);
        triangle_add(factor_of(learned, head), weight, self->features, self->dim);
        doubles_add_scaled(self->moments + head * self->dim, weight * y, self->features, self->dim);
        doubles_add_scaled(self->seen + head * self->dim, weight, self->features, self->dim);
    }
    for (size_t head = 0; head < self->heads; head++) {
        triangle_factor(factor_of(learned, head), self->dim, self->lambda, self->features);
        solve_theta(self, head);
    }
}

static void count_as_seen(last_layer *self, size_t head)
{
    doubles_add_scaled(self->seen + head * self->dim, 1, self->features, self->dim);
}

/* Adds the features of a sample, and overwrites them. */
static void rotate_in(last_layer *self, size_t head)
{
    triangle_rotate(factor_of(&self->shared.base.parameters, head), self->features, self->dim);
}

float last_layer_await(policy *base, const observation *o)
{
    last_layer *self = (last_layer *)base;
    size_t head = see_sample(self, o->x);
    float expected = (float)last_layer_mean(&base->parameters, (arm_features){head, self->features});
    if (!isfinite(expected)) expected = 0;
    doubles_add_scaled(self->moments + head * self->dim, (double)expected, self->features, self->dim);
    /* Before any reward there is no centre: the expected reward is the future centre, which the sums without it
     * represent. */
    if (base->parameters.round > 0) count_as_seen(self, head);
    rotate_in(self, head);
    solve_theta(self, head);
    return expected;
}

bool last_layer_learn(policy *base, const observation *o, float reward)
{
    last_layer *self = (last_layer *)base;
    bool trains = exploitation_trains_next(base), awaited = o->awaited && o->awaited_at >= self->rebuilt_at;
    size_t head = see_sample(self, o->x); /* before f1 changes */
    if (!exploitation_prepare(base, o, reward)) return false;
    double more = (double)reward - (awaited ? (double)o->expected : 0);
    doubles_add_scaled(self->moments + head * self->dim, more, self->features, self->dim);
    if (!awaited || o->awaited_at == 0) count_as_seen(self, head);
    if (!awaited) rotate_in(self, head);
    solve_theta(self, head);
    exploitation_commit(base);
    if (trains) self->trainings++;
    if (!trains || !self->rebuild || self->trainings % self->rebuild != 0) return true;
    rebuild(self);
    self->rebuilt_at = base->parameters.round;
    return true;
}
