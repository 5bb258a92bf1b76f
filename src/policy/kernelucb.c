/* KernelUCB: Valko, Korda, Munos, Flaounas, Cristianini, "Finite-time analysis of kernelised contextual bandits", UAI
 * 2013. With the t contexts played so far, their rewards y, K_ij = k(x_i, x_j) and k_x the vector of k(x_i, x),
 *
 *     score = k_x^T (K + lambda I)^-1 y + nu / sqrt(lambda) sqrt(k(x, x) - k_x^T (K + lambda I)^-1 k_x)
 *
 * n arms cost n t kernel values and one triangular solve for all of them, n t^2 / 2. */
#include <math.h>

#include "parts/kernel_policy.h"

/* Arms that are scored at once: their part of the scratch stays in the cache. */
enum { ARMS_AT_ONCE = 16 };

extern const policy_class kernelucb_class;

static ee_status create(const policy_setup *setup, policy **out, ee_error *error)
{
    return kernel_policy_create(&kernelucb_class, setup, out, error);
}

static size_t scratch_count(const policy *base, size_t arms)
{
    const kernel_policy *self = (const kernel_policy *)base;
    size_t most = arms < ARMS_AT_ONCE ? arms : ARMS_AT_ONCE;
    return kernel_ridge_panel_count(self->max_contexts, most) * (sizeof(double) / sizeof(float));
}

static void score(const parameters *learned, const ee_arms *arms, scratch *room, ee_score *scores)
{
    const kernel_policy *self = (const kernel_policy *)learned->policy;
    const double *state = kernel_policy_state(learned);
    double *panel = (double *)(void *)room->values;
    double mean[ARMS_AT_ONCE], variance[ARMS_AT_ONCE];
    size_t count = kernel_policy_count(learned);
    for (size_t first = 0; first < arms->count; first += ARMS_AT_ONCE) {
        size_t n = arms->count - first < ARMS_AT_ONCE ? arms->count - first : ARMS_AT_ONCE;
        kernel_ridge_predict(&self->posterior, state, count, arms, first, n, panel, mean, variance);
        for (size_t i = 0; i < n; i++) {
            double bonus = self->width * sqrt(variance[i]);
            scores[first + i] = (ee_score){(float)mean[i], (float)bonus, (float)(mean[i] + bonus)};
        }
    }
}

static const option_group groups[] = {
    OPTION_GROUP_OWN(kernel_option_table, "kernel ridge regression"),
    COMMON_GROUPS(kernel_options, common, "scale=off", .defaults = "recall=0"),
};
static const option_schema schema =
    OPTION_SCHEMA("kernelucb", groups, kernel_options, "nu lambda gamma max_contexts scale");

const policy_class kernelucb_class = {
    .summary = "kernel ridge regression plus a confidence bonus",
    .paper = "Valko, Korda, Munos, Flaounas, Cristianini: Finite-Time Analysis of Kernelised Contextual Bandits, "
             "UAI 2013",
    .schema = &schema,
    .create = create,
    .scratch_count = scratch_count,
    .score = score,
    .explain_count = kernel_policy_explain_count,
    .explain = kernel_policy_explain,
    .reserve = kernel_policy_reserve,
    .learn = kernel_policy_learn,
    .copy = kernel_policy_copy,
    .archive = kernel_policy_archive,
};
