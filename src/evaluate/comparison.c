#include "comparison.h"

#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/random.h"
#include "statistics.h"

enum { RESAMPLES = 10000, FLIPS = 100000, ENUMERATED = 20 };

static ee_status bootstrap(const double *differences, size_t count, comparison *out, ee_error *error)
{
    double *means; /* (RESAMPLES) */
    ee_status status = memory_create(NULL, &means, RESAMPLES, sizeof *means, error);
    if (status) return status;
    random_stream stream = random_named(0, "bootstrap");
    for (size_t i = 0; i < RESAMPLES; i++) {
        double sum = 0.0;
        for (size_t k = 0; k < count; k++) sum += differences[random_below(&stream, count)];
        means[i] = sum / (double)count;
    }
    statistics_sort(means, RESAMPLES);
    out->low = statistics_percentile(means, RESAMPLES, 0.025);
    out->high = statistics_percentile(means, RESAMPLES, 0.975);
    memory_free(means);
    return EE_OK;
}

/* How many of the 2^count sums are as far from zero as the observed one. */
static size_t count_extreme(const double *differences, size_t count, double sum, double least)
{
    if (!count) return fabs(sum) >= least;
    return count_extreme(differences + 1, count - 1, sum + differences[0], least) +
           count_extreme(differences + 1, count - 1, sum - differences[0], least);
}

static double sign_flip(const double *differences, size_t count)
{
    double sum = 0.0, size = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += differences[i];
        size += fabs(differences[i]);
    }
    /* Sums that are equal in exact arithmetic count as ties despite rounding. */
    double least = fabs(sum) - 1e-12 * size;
    if (count <= ENUMERATED) return (double)count_extreme(differences, count, 0.0, least) / exp2((double)count);

    random_stream stream = random_named(0, "sign flips");
    size_t extreme = 1; /* the observed signs count as one draw: p is never 0 */
    for (size_t i = 0; i < FLIPS; i++) {
        double flipped = 0.0;
        uint64_t signs = 0;
        for (size_t k = 0; k < count; k++, signs >>= 1) {
            if (k % 64 == 0) signs = random_bits(&stream);
            flipped += signs & 1 ? differences[k] : -differences[k];
        }
        extreme += fabs(flipped) >= least;
    }
    return (double)extreme / (double)(FLIPS + 1);
}

ee_status comparison_paired(const double *differences, size_t count, comparison *out, ee_error *error)
{
    *out = (comparison){count, statistics_mean(differences, count), NAN, NAN, NAN};
    if (count) out->p = sign_flip(differences, count);
    return count < 2 ? EE_OK : bootstrap(differences, count, out, error);
}

double comparison_least_p(size_t pairs)
{
    if (!pairs) return NAN;
    return pairs <= ENUMERATED ? exp2(1.0 - (double)pairs) : 1.0 / (double)(FLIPS + 1);
}

ee_status comparison_holm(double *p, size_t count, ee_error *error)
{
    double *sorted; /* (count) */
    ee_status status = memory_create(NULL, &sorted, count, sizeof *sorted, error);
    if (status) return status;
    size_t tests = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(p[i])) sorted[tests++] = p[i];
    statistics_sort(sorted, tests);
    for (size_t i = 0; i < count; i++) {
        double corrected = 0.0, own = p[i];
        for (size_t k = 0; k < tests && sorted[k] <= own; k++)
            corrected = fmax(corrected, fmin(1.0, (double)(tests - k) * sorted[k]));
        if (!isnan(own)) p[i] = corrected;
    }
    memory_free(sorted);
    return EE_OK;
}
