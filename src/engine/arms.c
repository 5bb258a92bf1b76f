#include "arms.h"

#include <math.h>

#include "limits.h"

size_t arms_value_count(const ee_arms *arms)
{
    return arms->starts ? arms->starts[arms->count] : arms->count * arms->dim;
}

static ee_status check_values(const ee_arms *arms, size_t count, ee_error *error)
{
    if (vector_is_within(arms->values, count, LARGEST_INPUT)) return EE_OK;
    size_t at = 0, arm = 0;
    /* If another thread writes to the arms meanwhile, against the rules, we must not read outside them. */
    while (at + 1 < count && fabsf(arms->values[at]) <= LARGEST_INPUT) at++;
    while (arms->starts ? arms->starts[arm + 1] <= at : (arm + 1) * arms->dim <= at) arm++;
    size_t feature = arms->starts ? arms->indices[at] : at % arms->dim;
    if (!isfinite(arms->values[at]))
        return status_fail(error, EE_BAD_INPUT, "arms: feature %zu of arm %zu is not a finite number", feature, arm);
    return status_fail(error, EE_BAD_INPUT, "arms: feature %zu of arm %zu is %g; expected -1e9 to 1e9: scale it",
                       feature, arm, (double)arms->values[at]);
}

/* The message for an arm with invalid indices. */
static ee_status fail_indices(const ee_arms *arms, size_t arm, ee_error *error)
{
    vector x = vector_of_arm(arms, arm);
    size_t i = 0;
    while (x.indices[i] < arms->dim && (i == 0 || x.indices[i] > x.indices[i - 1])) i++;
    unsigned long index = x.indices[i];
    if (index >= arms->dim)
        return status_fail(error, EE_BAD_INPUT,
                           "arms: arm %zu has index %lu; expected indices below %zu, the dimension", arm, index,
                           arms->dim);
    return status_fail(error, EE_BAD_INPUT, "arms: the indices of arm %zu must ascend, but %lu follows %lu", arm, index,
                       (unsigned long)x.indices[i - 1]);
}

static ee_status check_sparse(const ee_arms *arms, ee_error *error)
{
    if (arms->starts[0] != 0)
        return status_fail(error, EE_BAD_INPUT, "arms: starts[0] must be 0, got %zu", arms->starts[0]);
    for (size_t arm = 0; arm < arms->count; arm++) {
        size_t start = arms->starts[arm], end = arms->starts[arm + 1];
        if (end < start || end - start > arms->dim)
            return status_fail(
                error, EE_BAD_INPUT,
                "arms: arm %zu has the entries %zu to %zu; expected at most %zu, from starts that increase", arm, start,
                end, arms->dim);
    }
    if (arms->starts[arms->count] && (!arms->indices || !arms->values))
        return status_fail(error, EE_BAD_INPUT, "arms: indices and values must not be NULL for sparse arms");
    for (size_t arm = 0; arm < arms->count; arm++)
        if (!vector_is_sound(vector_of_arm(arms, arm), arms->dim)) return fail_indices(arms, arm, error);
    return EE_OK;
}

ee_status arms_check(const ee_arms *arms, size_t dim, ee_error *error)
{
    if (!arms) return status_fail(error, EE_BAD_INPUT, "arms: arms must not be NULL");
    if (arms->count < 1) return status_fail(error, EE_BAD_INPUT, "arms: a round needs at least one arm");
    if (arms->dim != dim)
        return status_fail(error, EE_BAD_INPUT, "arms: the dimension is %zu; expected %zu, the bandit's", arms->dim,
                           dim);
    if (!arms->starts && !arms->values) return status_fail(error, EE_BAD_INPUT, "arms: values must not be NULL");
    if (!arms->starts && arms->count > SIZE_MAX / sizeof(float) / arms->dim)
        return status_fail(error, EE_BAD_INPUT, "arms: %zu arms of %zu features do not fit in memory", arms->count,
                           arms->dim);
    ee_status status = arms->starts ? check_sparse(arms, error) : EE_OK;
    if (!status && arms->limits) status = limits_check(arms->limits, arms->count, error);
    if (status) return status;
    return check_values(arms, arms_value_count(arms), error);
}

double arms_mean_length(const ee_arms *arms)
{
    double sum = 0;
    for (size_t arm = 0; arm < arms->count; arm++) {
        vector x = vector_of_arm(arms, arm), values = vector_dense(x.values, x.count);
        sum += sqrt(vector_dot(values, values));
    }
    return sum / (double)arms->count;
}
