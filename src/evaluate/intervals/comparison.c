/* The sign-flip test, and the interval of the values that it does not reject.
 *
 * If the differences are symmetric about m, then flipping the signs of any of them, minus m, gives a sample that was
 * equally likely. p of m is the share of all flips whose sum is at least as far from zero as the observed sum. A flip
 * splits the differences into two parts. If A and B are the sums of the parts, each minus m per difference, then
 * |A - B| >= |A + B| exactly if A B <= 0: if m lies between the means of the two parts. So a split is a range, p of m
 * is the share of the ranges that contain m, and every range contains the mean. The ends of the interval are then order
 * statistics of the ends of the ranges (Hartigan, "Using subsample values as typical values", JASA 1969). */
#include "comparison.h"

#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "evaluate/estimators/statistics.h"

enum { FLIPS = 100000, ENUMERATED = 20 };

typedef struct ranges {
    const double *differences; /* (pairs) */
    size_t pairs;
    double sum, tolerance; /* sums that are zero in exact arithmetic stay below the tolerance despite rounding */
    double *lows, *highs;  /* (count) */
    size_t count;
} ranges;

/* A flip and its opposite are the same split. Of random flips, the observed signs are one more: p is never 0. */
static size_t count_splits(size_t pairs)
{
    return pairs <= ENUMERATED ? (size_t)1 << (pairs - 1) : FLIPS + 1;
}

static double part_mean(const ranges *of, double sum, size_t size)
{
    return fabs(sum) <= of->tolerance ? 0.0 : sum / (double)size;
}

/* The split with these sum and size of one part. If a part is empty, any m gives a sum as far from zero. */
static void add_range(ranges *into, double sum, size_t size)
{
    double low = -INFINITY, high = INFINITY;
    if (size && size < into->pairs) {
        double one = part_mean(into, sum, size), other = part_mean(into, into->sum - sum, into->pairs - size);
        low = one < other ? one : other;
        high = one < other ? other : one;
    }
    into->lows[into->count] = low;
    into->highs[into->count++] = high;
}

/* All splits of the first `left` differences added to a part; those behind them are in the other part or counted. */
static void add_all(ranges *into, size_t left, double sum, size_t size)
{
    if (!left) {
        add_range(into, sum, size);
        return;
    }
    add_all(into, left - 1, sum, size);
    add_all(into, left - 1, sum + into->differences[left - 1], size + 1);
}

static void add_random(ranges *into)
{
    random_stream stream = random_named(0, "sign flips");
    add_range(into, 0.0, 0);
    for (size_t i = 0; i < FLIPS; i++) {
        double sum = 0.0;
        size_t size = 0;
        uint64_t signs = 0;
        for (size_t k = 0; k < into->pairs; k++, signs >>= 1) {
            if (k % 64 == 0) signs = random_bits(&stream);
            if (signs & 1) continue;
            sum += into->differences[k];
            size++;
        }
        add_range(into, sum, size);
    }
}

static ee_status create_ranges(const double *differences, size_t pairs, ranges *out, ee_error *error)
{
    size_t splits = count_splits(pairs);
    *out = (ranges){.differences = differences, .pairs = pairs};
    ee_status status = memory_create(NULL, &out->lows, 2 * splits, sizeof *out->lows, error);
    if (status) return status;
    out->highs = out->lows + splits;
    for (size_t i = 0; i < pairs; i++) {
        out->sum += differences[i];
        out->tolerance += 1e-12 * fabs(differences[i]);
    }
    if (pairs <= ENUMERATED)
        add_all(out, pairs - 1, 0.0, 0); /* the last difference is always in the other part */
    else
        add_random(out);
    return EE_OK;
}

ee_status comparison_paired(const double *differences, size_t count, comparison *out, ee_error *error)
{
    *out = (comparison){count, statistics_mean(differences, count), NAN, NAN, NAN};
    if (!count) return EE_OK;
    ranges found;
    ee_status status = create_ranges(differences, count, &found, error);
    if (status) return status;
    size_t contain = 0;
    for (size_t i = 0; i < found.count; i++) contain += found.lows[i] <= 0.0 && found.highs[i] >= 0.0;
    out->p = (double)contain / (double)found.count;
    /* An m below the mean is in the ranges whose low end is at most m, and rejected if they are at most this many. */
    size_t rejected = (size_t)(COMPARISON_LEVEL * (double)found.count);
    out->low = statistics_select(found.lows, found.count, rejected);
    out->high = statistics_select(found.highs, found.count, found.count - 1 - rejected);
    memory_free(found.lows);
    return EE_OK;
}

double comparison_least_p(size_t pairs)
{
    return pairs ? 1.0 / (double)count_splits(pairs) : NAN;
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
