/* KernelUCB and KernelTS: kernel ridge regression (math/kernel_ridge.h). With the t contexts played so far, their
 * rewards y, K_ij = k(x_i, x_j) and k_x the vector of k(x_i, x),
 *
 *     mu(x) = k_x^T (K + lambda I)^-1 y,   C(a, b) = k(a, b) - k_a^T (K + lambda I)^-1 k_b
 *
 *   kernelucb  ranks arms by mu(x) + nu / sqrt(lambda) sqrt(C(x, x)). Valko, Korda, Munos, Flaounas, Cristianini,
 *              "Finite-time analysis of kernelised contextual bandits", UAI 2013. n arms cost n t kernel values and one
 *              triangular solve for all of them, n t^2 / 2.
 *   kernelts   draws the scores of all arms of a round together, from N(mu, nu^2 / lambda C). Chowdhury, Gopalan, "On
 *              kernelized multi-armed bandits", ICML 2017. n arms cost the same, and n^2 t / 2 for C and n^3 / 6 for
 *              its Cholesky factor; the scratch holds C.
 *
 * The first max_contexts rewards are learned. From then on the posterior is frozen: later ones are counted and change
 * nothing, as in the protocol of the comparisons with these policies. */
#include <math.h>
#include <string.h>

#include "math/kernel_ridge.h"
#include "policy.h"

enum { MOST_CONTEXT_FLOATS = 1 << 26 };

/* Arms that KernelUCB scores at once: their part of the scratch stays in the cache. */
enum { ARMS_AT_ONCE = 16 };

typedef struct kernel_options {
    common_options common;
    option_choice kernel;
    double gamma, lambda, nu;
    int64_t max_contexts;
} kernel_options;

/* The parameters are the state of the posterior, with room for max_contexts samples. */
typedef struct kernel_policy {
    policy base;
    kernel_ridge posterior;
    double width; /* nu / sqrt(lambda) */
    size_t max_contexts;
} kernel_policy;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    const kernel_options *options = setup->options;
    kernel_policy *self;
    ee_status status = memory_create(setup->memory, &self, 1, sizeof *self, error);
    if (status) return status;
    self->width = options->nu / sqrt(options->lambda);
    self->max_contexts = (size_t)options->max_contexts;
    /* Reserve dense contexts if they are small enough: memory that is not used costs nothing. */
    size_t dim = setup->dim, nonzeros = (size_t)options->common.nonzeros;
    if (dim <= MOST_CONTEXT_FLOATS / (size_t)options->max_contexts) nonzeros = dim;
    self->posterior = kernel_ridge_make(options->kernel.pick, options->gamma, options->lambda, dim, nonzeros);
    size_t doubles = kernel_ridge_state_count(&self->posterior, self->max_contexts);
    status = policy_set_parameters(&self->base, setup, doubles * (sizeof(double) / sizeof(float)), error);
    self->base.parameters.doubles = doubles;
    if (!status) *out = &self->base;
    return status;
}

static size_t sample_count(const parameters *learned)
{
    const kernel_policy *self = (const kernel_policy *)learned->policy;
    return learned->round < self->max_contexts ? (size_t)learned->round : self->max_contexts;
}

static const double *state_of(const parameters *learned)
{
    return (const double *)(const void *)learned->values; /* memory_create aligns for any type */
}

static size_t scratch_count_ucb(const policy *base, size_t arms)
{
    const kernel_policy *self = (const kernel_policy *)base;
    size_t most = arms < ARMS_AT_ONCE ? arms : ARMS_AT_ONCE;
    return kernel_ridge_panel_count(self->max_contexts, most) * (sizeof(double) / sizeof(float));
}

static void score_ucb(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const kernel_policy *self = (const kernel_policy *)learned->policy;
    const double *state = state_of(learned);
    double *panel = (double *)(void *)room->values;
    double mean[ARMS_AT_ONCE], variance[ARMS_AT_ONCE];
    size_t count = sample_count(learned);
    for (size_t first = 0; first < arms->count; first += ARMS_AT_ONCE) {
        size_t n = arms->count - first < ARMS_AT_ONCE ? arms->count - first : ARMS_AT_ONCE;
        kernel_ridge_predict(&self->posterior, state, count, arms, first, n, panel, mean, variance);
        for (size_t i = 0; i < n; i++) {
            double bonus = self->width * sqrt(variance[i]);
            scores[first + i] = (ee_score){(float)mean[i], (float)bonus, (float)(mean[i] + bonus)};
        }
    }
}

/* The panel, the covariance, and three numbers per arm: mean, variance and normal draw. */
static size_t scratch_count_ts(const policy *base, size_t arms)
{
    const kernel_policy *self = (const kernel_policy *)base;
    size_t doubles = kernel_ridge_panel_count(self->max_contexts, arms) + arms * arms + 3 * arms;
    return doubles * (sizeof(double) / sizeof(float));
}

static void score_ts(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const kernel_policy *self = (const kernel_policy *)learned->policy;
    const double *state = state_of(learned);
    size_t n = arms->count, count = sample_count(learned);
    double *panel = (double *)(void *)room->values;
    double *mean = panel + kernel_ridge_panel_count(self->max_contexts, n);
    double *variance = mean + n, *normal = variance + n, *factor = normal + n;
    kernel_ridge_predict(&self->posterior, state, count, arms, 0, n, panel, mean, variance);
    kernel_ridge_covariance(&self->posterior, count, arms, panel, factor);
    kernel_ridge_factor(factor, n);
    for (size_t i = 0; i < n; i++) normal[i] = random_normal(&room->random);
    for (size_t i = 0; i < n; i++) {
        double deviation = 0;
        for (size_t j = 0; j <= i; j++) deviation += factor[i * n + j] * normal[j];
        deviation *= self->width;
        scores[i] = (ee_score){(float)mean[i], (float)deviation, (float)(mean[i] + deviation)};
    }
}

static size_t explain_count(const policy *base, size_t entries)
{
    const kernel_policy *self = (const kernel_policy *)base;
    return kernel_ridge_gradient_room(self->max_contexts, entries) * (sizeof(double) / sizeof(float));
}

static void explain(const parameters *learned, vector x, scratch *room, float *gradient)
{
    const kernel_policy *self = (const kernel_policy *)learned->policy;
    kernel_ridge_gradient(&self->posterior, state_of(learned), sample_count(learned), x, (double *)(void *)room->values,
                          gradient);
}

static ee_status reserve(policy *base, const observation *o, ee_error *error)
{
    const kernel_policy *self = (const kernel_policy *)base;
    if (base->parameters.round >= self->max_contexts || kernel_ridge_fits(&self->posterior, o->x)) return EE_OK;
    return status_fail(
        error, EE_BAD_INPUT,
        "learn: the arm has more than %zu non-zero features, the room of %s; create it with a larger option nonzeros",
        self->posterior.stride / 2, base->class->schema->owner);
}

static bool learn(policy *base, const observation *o, float reward)
{
    kernel_policy *self = (kernel_policy *)base;
    size_t count = sample_count(&base->parameters);
    double *state = (double *)(void *)base->parameters.values;
    if (count < self->max_contexts) kernel_ridge_append(&self->posterior, state, count, o->x, (double)reward);
    base->parameters.round++;
    return true;
}

/* A sample is written once, after the earlier ones. */
static size_t copy(const policy *base, uint64_t first, float *to)
{
    const kernel_policy *self = (const kernel_policy *)base;
    size_t count = sample_count(&base->parameters), before = first > 1 ? (size_t)first - 1 : 0;
    if (before > count) before = count;
    size_t start = kernel_ridge_state_count(&self->posterior, before);
    size_t doubles = kernel_ridge_state_count(&self->posterior, count) - start;
    memcpy((double *)(void *)to + start, state_of(&base->parameters) + start, doubles * sizeof(double));
    return doubles * (sizeof(double) / sizeof(float));
}

/* Only the parameters change, and they were read before; scoring follows indices in them. */
static void archive_kernel(policy *base, archive *a)
{
    const kernel_policy *self = (const kernel_policy *)base;
    if (!a->reading || a->status) return;
    const parameters *learned = &base->parameters;
    if (!kernel_ridge_is_sound(&self->posterior, state_of(learned), sample_count(learned)))
        archive_fail(a, EE_BAD_MODEL, "model: a context is not a vector of the model's dimension");
}

/* ---- the classes ---- */

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
static const option_table table = OPTION_TABLE(rows);
static const option_group ucb_groups[] = {
    OPTION_GROUP_OWN(table, "kernel ridge regression"),
    COMMON_GROUPS(kernel_options, common, "scale=off", .defaults = "recall=0"),
};
static const option_group ts_groups[] = {
    OPTION_GROUP_OWN(table, "kernel ridge regression"),
    COMMON_GROUPS_OF_DRAWS(kernel_options, common, "scale=off", .defaults = "recall=0"),
};
#define CHANGED_FIRST "nu lambda gamma max_contexts scale"
static const option_schema ucb_schema = OPTION_SCHEMA("kernelucb", ucb_groups, kernel_options, CHANGED_FIRST);
static const option_schema ts_schema = OPTION_SCHEMA("kernelts", ts_groups, kernel_options, CHANGED_FIRST);

#define KERNEL_CLASS                                                                                                   \
    .create = create, .explain_count = explain_count, .explain = explain, .reserve = reserve, .learn = learn,          \
    .copy = copy, .archive = archive_kernel

const policy_class kernelucb_class = {
    .summary = "kernel ridge regression plus a confidence bonus",
    .paper = "Valko, Korda, Munos, Flaounas, Cristianini: Finite-Time Analysis of Kernelised Contextual Bandits, "
             "UAI 2013",
    .schema = &ucb_schema,
    .scratch_count = scratch_count_ucb,
    .score = score_ucb,
    KERNEL_CLASS,
};

const policy_class kernelts_class = {
    .summary = "kernel ridge regression with Thompson sampling",
    .paper = "Chowdhury, Gopalan: On Kernelized Multi-Armed Bandits, ICML 2017",
    .schema = &ts_schema,
    .scratch_count = scratch_count_ts,
    .score = score_ts,
    .draws = true,
    KERNEL_CLASS,
};
