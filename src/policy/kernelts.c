/* KernelTS: Thompson sampling by a Gaussian process. Chowdhury, Gopalan, "On kernelized multi-armed bandits", ICML
 * 2017. With the posterior of KernelUCB, mean mu(x) and covariance C(a, b) = k(a, b) - k_a^T (K + lambda I)^-1 k_b, a
 * round's scores are one draw of all its arms together:
 *
 *     scores ~ N(mu, nu^2 / lambda C)
 *
 * n arms cost what KernelUCB's cost, n^2 t / 2 for C and n^3 / 6 for its Cholesky factor; the scratch holds C. */
#include "parts/kernel_policy.h"

extern const policy_class kernelts_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    return kernel_policy_create(&kernelts_class, setup, out, error);
}

/* The panel, the covariance, and three numbers an arm: mean, variance and normal draw. */
static size_t scratch_count(const policy *base, size_t arms)
{
    const kernel_policy *self = (const kernel_policy *)base;
    size_t doubles = kernel_ridge_panel_count(self->max_contexts, arms) + arms * arms + 3 * arms;
    return doubles * (sizeof(double) / sizeof(float));
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const kernel_policy *self = (const kernel_policy *)learned->policy;
    const double *state = kernel_policy_state(learned);
    size_t n = arms->count, count = kernel_policy_count(learned);
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

static const option_group groups[] = {
    OPTION_GROUP_OWN(kernel_option_table, "kernel ridge regression"),
    COMMON_GROUPS_OF_DRAWS(kernel_options, common, "scale=off", .defaults = "recall=0"),
};
static const option_schema schema =
    OPTION_SCHEMA("kernelts", groups, kernel_options, "nu lambda gamma max_contexts scale");

const policy_class kernelts_class = {
    .summary = "kernel ridge regression with Thompson sampling",
    .paper = "Chowdhury, Gopalan: On Kernelized Multi-Armed Bandits, ICML 2017",
    .schema = &schema,
    .create = create,
    .scratch_count = scratch_count,
    .score = score,
    .draws = true,
    .explain_count = kernel_policy_explain_count,
    .explain = kernel_policy_explain,
    .reserve = kernel_policy_reserve,
    .learn = kernel_policy_learn,
    .copy = kernel_policy_copy,
    .archive = kernel_policy_archive,
};
