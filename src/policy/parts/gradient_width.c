#include "gradient_width.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/doubles.h"
#include "math/triangle.h"

typedef enum covariance_kind { COVARIANCE_DIAGONAL, COVARIANCE_FULL } covariance_kind;

typedef struct gradient_width {
    exploitation shared;
    double nu, lambda, m;
    bool full;
    size_t widest_in, widest_out; /* of the factors of the gradient */

    /* Workspace for a reward. */
    float *formed;      /* for network_factors */
    float *squares;     /* (widest_out) diagonal: of a delta */
    float *gradient;    /* (p) full */
    double *product;    /* (p) full: Z^-1 g */
    float *activations; /* (activations) of the chosen arm */
} gradient_width;

/* ---- options ---- */

static const option rows[] = {
    OPTION_ROW_REAL(gradient_width_options, nu, "nu", "28", 0, 1e6,
                    "weight of the confidence width, in units of the rewards' spread"),
    OPTION_ROW_REAL(gradient_width_options, lambda, "lambda", "2.5e-5", 1e-6, 1e6,
                    "Z starts as lambda times the identity"),
    OPTION_ROW_CHOICE(gradient_width_options, covariance, "covariance", "diagonal", "diagonal|full",
                      "keep Z's diagonal, or all of Z: 4 p^2 bytes for p parameters"),
    OPTION_ROW_INTEGER(gradient_width_options, memory_limit, "memory_limit", "1024", 1, 1e6,
                       "memory limit for the inverse of Z, in MiB", .needs = "covariance=full"),
};
const option_table gradient_width_option_table = OPTION_TABLE(rows);

/* ---- making ---- */

static size_t parameter_count(const gradient_width *self)
{
    return self->shared.f1.networks[0].parameter_count;
}

/* In doubles, because the size may exceed 64 bits. */
static ee_status check_limit(const char *owner, const gradient_width_options *o, size_t p, ee_error *error)
{
    double bytes = 4.0 * (double)p * ((double)p + 1);
    if (bytes <= (double)o->memory_limit * 1048576) return EE_OK;
    return status_fail(error, EE_BAD_OPTION,
                       "options: %s.covariance=full takes %.0f bytes for f1's %zu parameters, but %s.memory_limit is "
                       "%lld MiB",
                       owner, bytes, p, owner, (long long)o->memory_limit);
}

static ee_status create_room(gradient_width *self, memory *owner, ee_error *error)
{
    const network *f1 = &self->shared.f1.networks[0];
    gradient_factor shapes[NETWORK_LAYERS];
    size_t count = network_factor_shapes(f1, shapes);
    for (size_t i = 0; i < count; i++) {
        if (shapes[i].in > self->widest_in) self->widest_in = shapes[i].in;
        if (shapes[i].out > self->widest_out) self->widest_out = shapes[i].out;
    }
    /* An arm may have any of the places. */
    if (f1->initial && f1->initial->places > self->widest_in) self->widest_in = f1->initial->places;
    ee_status status = memory_create(owner, &self->activations, f1->activation_count, sizeof(float), error);
    if (self->full) {
        if (!status) status = memory_create(owner, &self->gradient, f1->parameter_count, sizeof(float), error);
        if (!status) status = memory_create(owner, &self->product, f1->parameter_count, sizeof(double), error);
        return status;
    }
    if (!status) status = memory_create(owner, &self->formed, network_formed_count(f1), sizeof(float), error);
    if (!status) status = memory_create(owner, &self->squares, self->widest_out, sizeof(float), error);
    return status;
}

/* Z^-1 follows theta1: its diagonal, (p) floats, or all of it, (triangle of p) doubles. */
static float *diagonal_of(const parameters *learned)
{
    return learned->values + exploitation_end((const exploitation *)learned->policy);
}

static double *triangle_of(const parameters *learned)
{
    return (double *)(void *)diagonal_of(learned);
}

static void start(gradient_width *self)
{
    size_t p = parameter_count(self);
    const parameters *learned = &self->shared.base.parameters;
    if (self->full) {
        for (size_t i = 0; i < p; i++) triangle_of(learned)[triangle_count(i) + i] = 1 / self->lambda;
        return;
    }
    policy_fills_parameters(&self->shared.base, learned->count);
    for (size_t i = 0; i < p; i++) diagonal_of(learned)[i] = (float)(1 / self->lambda);
}

static ee_status create_parts(gradient_width *self, const policy_setup *setup, ee_error *error)
{
    const gradient_width_options *o = setup->options;
    self->nu = o->nu;
    self->lambda = o->lambda;
    self->m = (double)o->shared.f1.network.width;
    self->full = o->covariance.pick == COVARIANCE_FULL;
    policy_setup changed = *setup;
    if (self->full) changed.room = NULL; /* a full Z needs all parameters */
    setup = &changed;
    ee_status status = exploitation_create(&self->shared, setup, error);
    size_t p = parameter_count(self);
    if (!status && self->full) status = check_limit(setup->class->schema->owner, o, p, error);
    if (!status) status = exploitation_start(&self->shared, setup, self->full ? 2 * triangle_count(p) : p, error);
    if (self->full)
        self->shared.base.parameters.doubles = triangle_count(p);
    else
        self->shared.base.parameters.floats += p;
    if (!status && self->shared.f1.networks[0].initial)
        policy_add_rows(&self->shared.base,
                        (row_part){exploitation_end(&self->shared), self->shared.base.row_parts[0].width});
    if (!status) status = create_room(self, setup->memory, error);
    return status;
}

ee_status gradient_width_create(const policy_setup *setup, policy **out, ee_error *error)
{
    gradient_width *self = NULL;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (!status) status = create_parts(self, setup, error);
    if (status) return status;
    start(self);
    *out = &self->shared.base;
    return EE_OK;
}

/* ---- the diagonal ---- */

static const float LARGEST = 1e18f; /* the product of two, over m, fits in a float */

/* out is (count). NaN becomes the largest. */
static void square(const float *values, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++) {
        float squared = values[i] * values[i];
        out[i] = squared < LARGEST ? squared : LARGEST;
    }
}

/* sums (out) = biases + inputs Z^-1 if some entries have no column: their Z^-1 is the initial one. Rows are added in
 * order, like the kernel does. */
static void sum_missing_columns(const gradient_width *self, const gradient_factor *f, const float *diagonal,
                                const float *biases, const float *inputs, float *sums)
{
    enum { TOGETHER = 1024 };
    static const uint32_t only = 0;
    const network *f1 = &self->shared.f1.networks[0];
    float first[TOGETHER];
    for (size_t i = 0; i < TOGETHER; i++) first[i] = (float)(1 / self->lambda);
    for (size_t j = 0; j < f->out; j++) sums[j] = biases ? biases[j] : 0;
    for (size_t i = 0; i < f->input.count; i++) {
        uint32_t index = f->input.indices[i];
        for (size_t j = 0; j < f->out; j += TOGETHER) {
            size_t width = f->out - j < TOGETHER ? f->out - j : TOGETHER;
            bool stored = index < f1->input;
            f1->kernels->forward_sparse(sums + j, sums + j, stored ? diagonal + j : first, stored ? &index : &only,
                                        inputs + i, 1, 0, width, f->out, false);
        }
    }
}

/* g^T Z^-1 g. inverse is (p); workspace is (widest_in + 2 widest_out); behind is from network_indices_behind. */
static double diagonal_form(const gradient_width *self, const float *inverse, const gradient_factor *factors,
                            size_t count, size_t behind, float *workspace)
{
    const kernel_table *kernels = self->shared.f1.networks[0].kernels;
    float *inputs = workspace, *deltas = inputs + self->widest_in, *sums = deltas + self->widest_out;
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        const gradient_factor *f = &factors[i];
        square(f->delta, f->out, deltas);
        square(f->input.values, f->input.count, inputs);
        const float *diagonal = inverse + f->parameters;
        const float *biases = f->bias ? diagonal + f->in * f->out : NULL; /* their input is 1 */
        if (!i && network_has_missing_columns(&self->shared.f1.networks[0], f->input))
            sum_missing_columns(self, f, diagonal, biases, inputs, sums);
        else if (f->input.indices)
            kernels->forward_sparse(sums, biases, diagonal, f->input.indices, inputs, f->input.count, behind, f->out,
                                    f->out, false);
        else
            kernels->forward(sums, biases, diagonal, inputs, f->in, f->out, f->out, false);
        total += kernels->dot(sums, deltas, f->out);
    }
    return total;
}

/* z += scale squares, on reciprocals. Both are (count). */
static void add_to_row(float *restrict inverse, float scale, const float *restrict squares, size_t count)
{
    for (size_t i = 0; i < count; i++) inverse[i] /= 1 + inverse[i] * scale * squares[i];
}

/* Z += g g^T / m */
static void diagonal_add(gradient_width *self, float *inverse, const gradient_factor *factors, size_t count)
{
    float share = (float)(1 / self->m), squared;
    for (size_t i = 0; i < count; i++) {
        const gradient_factor *f = &factors[i];
        float *diagonal = inverse + f->parameters;
        square(f->delta, f->out, self->squares);
        for (size_t b = 0; b < f->input.count; b++) {
            square(f->input.values + b, 1, &squared);
            if (squared == 0) continue;
            size_t row = f->input.indices ? f->input.indices[b] : b;
            add_to_row(diagonal + row * f->out, squared * share, self->squares, f->out);
        }
        if (f->bias) add_to_row(diagonal + f->in * f->out, share, self->squares, f->out);
    }
}

/* ---- the whole ---- */

/* gradient is (p) */
static void form(const network *f1, vector x, const float *activations, const float *deltas, float *gradient)
{
    memset(gradient, 0, f1->parameter_count * sizeof *gradient);
    network_add_gradient(f1, x, activations, deltas, gradient);
    for (size_t i = 0; i < f1->parameter_count; i++)
        if (!(fabsf(gradient[i]) < LARGEST)) gradient[i] = copysignf(LARGEST, gradient[i]);
}

/* The part of g^T Z^-1 g from row i of the triangle. */
static double row_form(const double *row, const float *gradient, size_t i)
{
    if (gradient[i] == 0) return 0;
    return (double)gradient[i] * (2 * doubles_dot_floats(row, gradient, i) + row[i] * (double)gradient[i]);
}

/* Z += g g^T / m. (Z + g g^T / m)^-1 = Z^-1 - u u^T / (m + g^T u), u = Z^-1 g. */
static void full_add(gradient_width *self, double *triangle)
{
    size_t p = parameter_count(self);
    const float *gradient = self->gradient;
    double *product = self->product, *row = triangle;
    memset(product, 0, p * sizeof *product);
    for (size_t i = 0; i < p; i++, row += i) {
        product[i] = doubles_dot_floats(row, gradient, i + 1);
        if (gradient[i] != 0) doubles_add_scaled(product, (double)gradient[i], row, i);
    }
    double gain = doubles_dot_floats(product, gradient, p);
    if (!(gain >= 0)) return; /* it cannot be negative: the rest is rounding error */
    double scale = -1 / (self->m + gain);
    row = triangle;
    for (size_t i = 0; i < p; i++, row += i) doubles_add_scaled(row, scale * product[i], product, i + 1);
}

/* ---- scoring ---- */

/* The layout of the scratch. */
typedef struct layout {
    size_t activations, deltas; /* (arms, activation_count) of the first network */
    size_t passed;              /* (exploitation_pass_count) */
    size_t formed, workspace;
    size_t gradients; /* (arms, p) full */
    size_t count;     /* total floats */
} layout;

static layout lay_out(const gradient_width *self, size_t arms)
{
    const network *f1 = &self->shared.f1.networks[0];
    layout w;
    w.activations = 0;
    w.deltas = w.activations + arms * f1->activation_count;
    w.passed = w.deltas + arms * f1->activation_count;
    w.formed = w.passed + exploitation_pass_count(&self->shared, arms);
    w.workspace = w.formed + (self->full ? 0 : network_formed_count(f1));
    w.gradients = w.workspace + (self->full ? 0 : self->widest_in + 2 * self->widest_out);
    w.count = w.gradients + (self->full ? arms * f1->parameter_count : 0);
    return w;
}

size_t gradient_width_scratch_count(const policy *base, size_t arms)
{
    return lay_out((const gradient_width *)base, arms).count;
}

static ee_score score_of(const gradient_width *self, double spread, float f1, double squared)
{
    const double largest = 1e36; /* its root times the largest spread, nu and lambda fits in a float */
    if (!(squared <= largest)) squared = largest;
    float gain = (float)(spread * self->nu * sqrt(squared > 0 ? self->lambda * squared / self->m : 0));
    return (ee_score){f1, gain, f1 + gain};
}

/* Every row of the triangle is read once for all arms: it does not fit in the cache. */
static void score_full(const gradient_width *self, const double *triangle, const float *gradients, size_t arms,
                       double *forms)
{
    size_t p = parameter_count(self);
    for (size_t i = 0; i < arms; i++) forms[i] = 0;
    for (size_t row = 0; row < p; row++, triangle += row)
        for (size_t i = 0; i < arms; i++) forms[i] += row_form(triangle, gradients + i * p, row);
}

/* Scores an arm by the diagonal; for a full Z, only computes its gradient. */
static void score_arm(const parameters *learned, const ee_arms *arms, size_t arm, const layout *w, scratch *room,
                      ee_score *score)
{
    const gradient_width *self = (const gradient_width *)learned->policy;
    const network *f1 = &self->shared.f1.networks[0];
    vector x = vector_of_arm(arms, arm);
    float *activations = room->values + w->activations + arm * f1->activation_count;
    float *deltas = room->values + w->deltas + arm * f1->activation_count;
    network_backward(f1, learned->values, x, activations, 1, deltas);
    if (self->full) {
        form(f1, x, activations, deltas, room->values + w->gradients + arm * f1->parameter_count);
        return;
    }
    gradient_factor factors[NETWORK_LAYERS];
    size_t count = network_factors(f1, x, activations, deltas, room->values + w->formed, factors);
    double squared = diagonal_form(self, diagonal_of(learned), factors, count, network_indices_behind(f1, arms, arm),
                                   room->values + w->workspace);
    *score = score_of(self, learned->spread, score->exploitation, squared);
}

void gradient_width_score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    enum { TOGETHER = 64 }; /* arms; their forms are on the stack */
    const gradient_width *self = (const gradient_width *)learned->policy;
    size_t p = parameter_count(self), activations = self->shared.f1.networks[0].activation_count;
    layout w = lay_out(self, arms->count);
    passed_arms passed = {.arms = arms};
    while (exploitation_pass(learned, room->values + w.passed, &passed, scores)) {
        memcpy(room->values + w.activations + passed.first * activations, passed.activations[0],
               passed.count * activations * sizeof(float));
        for (size_t i = passed.first; i < passed.first + passed.count; i++)
            score_arm(learned, arms, i, &w, room, &scores[i]);
    }
    for (size_t first = 0; self->full && first < arms->count; first += TOGETHER) {
        double forms[TOGETHER];
        size_t count = arms->count - first < TOGETHER ? arms->count - first : TOGETHER;
        score_full(self, triangle_of(learned), room->values + w.gradients + first * p, count, forms);
        for (size_t i = 0; i < count; i++)
            scores[first + i] = score_of(self, learned->spread, scores[first + i].exploitation, forms[i]);
    }
}

/* ---- what is stored with a decision ---- */

size_t gradient_width_kept_count(const policy *base, uint64_t round, size_t arms)
{
    (void)round;
    (void)arms;
    return 2 * ((const gradient_width *)base)->shared.f1.networks[0].activation_count;
}

void gradient_width_keep(const parameters *learned, const ee_arms *arms, size_t arm, const scratch *room, float *kept)
{
    const gradient_width *self = (const gradient_width *)learned->policy;
    const network *f1 = &self->shared.f1.networks[0];
    size_t count = f1->activation_count;
    layout w = lay_out(self, arms->count);
    memcpy(kept, room->values + w.activations + arm * count, count * sizeof *kept);
    memcpy(kept + count, room->values + w.deltas + arm * count, count * sizeof *kept);
    /* The activations start with room for a sparse arm, which a pass may not fill: old scratch contents must not get
     * into a saved model. */
    size_t before = f1->layers[0].output;
    memset(kept, 0, before * sizeof *kept);
    memset(kept + count, 0, before * sizeof *kept);
}

/* The activations of f1 at the decision. The arm is laid out again: a saved model has it only in x. */
static const float *activations_of(gradient_width *self, const observation *o)
{
    const network *f1 = &self->shared.f1.networks[0];
    memcpy(self->activations, o->kept, f1->activation_count * sizeof *self->activations);
    network_lay_out_input(f1, o->x, self->activations);
    return self->activations;
}

/* Adds the gradient of the chosen arm to Z. */
static void add_gradient(policy *base, const observation *o)
{
    gradient_width *self = (gradient_width *)base;
    const network *f1 = &self->shared.f1.networks[0];
    const float *activations = activations_of(self, o), *deltas = o->kept + f1->activation_count;
    if (self->full) {
        form(f1, o->x, activations, deltas, self->gradient);
        full_add(self, triangle_of(&base->parameters));
    } else {
        gradient_factor factors[NETWORK_LAYERS];
        size_t count = network_factors(f1, o->x, activations, deltas, self->formed, factors);
        diagonal_add(self, diagonal_of(&base->parameters), factors, count);
    }
}

float gradient_width_await(policy *base, const observation *o)
{
    add_gradient(base, o);
    return 0;
}

bool gradient_width_learn(policy *base, const observation *o, float reward)
{
    if (!exploitation_prepare(base, o, reward)) return false;
    if (!o->awaited) add_gradient(base, o);
    exploitation_commit(base);
    return true;
}
