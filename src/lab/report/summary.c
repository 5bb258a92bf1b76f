#include "summary.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/estimators/statistics.h"
#include "summary_names.h"
#include "summary_parts.h"

/* ---- numbers ---- */

static double correlation_of(const run_direction *sums)
{
    double count = (double)sums->arms;
    double exploration = count * sums->exploration_squares - sums->exploration * sums->exploration;
    double gain = count * sums->gain_squares - sums->gain * sums->gain;
    /* If one of the two is the same for all arms, the rest is rounding. */
    if (exploration <= 1e-12 * count * sums->exploration_squares || gain <= 1e-12 * count * sums->gain_squares)
        return NAN;
    return (count * sums->products - sums->exploration * sums->gain) / (sqrt(exploration) * sqrt(gain));
}

static void add_direction(run_direction *into, const run_direction *more)
{
    into->arms += more->arms;
    into->up += more->up;
    into->down += more->down;
    into->up_right += more->up_right;
    into->down_right += more->down_right;
    into->gain += more->gain;
    into->exploration += more->exploration;
    into->gain_squares += more->gain_squares;
    into->exploration_squares += more->exploration_squares;
    into->products += more->products;
}

static void add_up_directions(summary_cell *cell)
{
    for (size_t part = 0; part < RUN_PARTS; part++) {
        run_direction sums = {0};
        for (size_t i = 0; i < cell->count; i++) add_direction(&sums, &cell->runs[i]->result.directions[part]);
        cell->correlations[part] = correlation_of(&sums);
        add_direction(&cell->direction, &sums);
    }
    cell->correlation = correlation_of(&cell->direction);
}

static ee_status add_up_results(summary_cell *cell, ee_error *error)
{
    double *values; /* (count) */
    ee_status status = memory_create(NULL, &values, cell->count, sizeof *values, error);
    if (status) return status;
    size_t count = cell->count;
    for (size_t i = 0; i < count; i++) {
        const run_result *result = &cell->runs[i]->result;
        values[i] = result->regret;
        cell->optimal += (double)result->optimal / ((double)cell->runs[i]->rounds * (double)count);
        cell->seconds += result->seconds / (double)count;
        cell->bytes += (double)result->bytes / (double)count;
    }
    cell->mean = statistics_mean(values, count);
    cell->deviation = statistics_deviation(values, count);
    cell->margin = statistics_margin(values, count);
    cell->growth = cell->p_holm = NAN;
    cell->against = (comparison){0, NAN, NAN, NAN, NAN};
    memory_free(values);
    add_up_directions(cell);
    return EE_OK;
}

/* The slope of log regret over log round in the last half. Puts the logarithms into the two lists, which are (rounds).
 */
static double growth_of(const double *mean, size_t rounds, double *x, double *y)
{
    size_t count = 0;
    for (size_t round = rounds / 2 + 1; round <= rounds; round++, count++) {
        if (!(mean[round - 1] > 0.0)) return NAN;
        x[count] = log((double)round);
        y[count] = log(mean[round - 1]);
    }
    return statistics_slope(x, y, count);
}

static ee_status thin_curve(summary_cell *cell, const double *mean, const double *squares, size_t rounds,
                            ee_error *error)
{
    size_t points = rounds < SUMMARY_POINTS ? rounds : SUMMARY_POINTS;
    ee_status status = memory_create(NULL, &cell->curve, points, sizeof *cell->curve, error);
    if (status) return status;
    for (size_t i = 0; i < points; i++) {
        size_t round = (size_t)((double)(i + 1) * (double)rounds / (double)points);
        double deviation = cell->count > 1 ? sqrt(squares[round - 1] / (double)(cell->count - 1)) : NAN;
        cell->curve[i] = (summary_point){(double)round, mean[round - 1], deviation};
    }
    cell->points = points;
    return EE_OK;
}

/* Mean and squared differences from it round by round, one curve after the other (Welford, "Note on a method for
 * calculating corrected sums of squares and products", 1962): only one curve is in memory. */
static ee_status add_up_curves(summary_cell *cell, const char *folder, ee_error *error)
{
    for (size_t i = 0; i < cell->count; i++)
        if (!cell->runs[i]->curve) return EE_OK;
    size_t rounds = (size_t)cell->runs[0]->rounds;
    double *values; /* (3, rounds): one curve, the mean, the squares */
    ee_status status = memory_create(NULL, &values, 3 * rounds, sizeof *values, error);
    if (status) return status;
    double *mean = values + rounds, *squares = values + 2 * rounds;
    for (size_t i = 0; i < cell->count && !status; i++) {
        status = results_curve(folder, cell->runs[i], values, error);
        for (size_t k = 0; k < rounds && !status; k++) {
            double before = values[k] - mean[k];
            mean[k] += before / (double)(i + 1);
            squares[k] += before * (values[k] - mean[k]);
        }
    }
    if (!status) status = thin_curve(cell, mean, squares, rounds, error);
    if (!status) cell->growth = growth_of(mean, rounds, values, squares);
    memory_free(values);
    return status;
}

/* ---- comparisons ---- */

/* differences is (cell->count); returns the number of common seeds. */
static size_t pair_up(const summary_cell *cell, const summary_cell *reference, double *differences)
{
    size_t pairs = 0;
    for (size_t i = 0; i < cell->count; i++)
        for (size_t k = 0; k < reference->count; k++)
            if (cell->runs[i]->seed == reference->runs[k]->seed)
                differences[pairs++] = cell->runs[i]->result.regret - reference->runs[k]->result.regret;
    return pairs;
}

static ee_status compare_cells(const summary_cell *cell, const summary_cell *reference, comparison *out,
                               ee_error *error)
{
    double *differences;
    ee_status status = memory_create(NULL, &differences, cell->count, sizeof *differences, error);
    if (status) return status;
    size_t pairs = pair_up(cell, reference, differences);
    status = comparison_paired(differences, pairs, out, error);
    memory_free(differences);
    return status;
}

/* Tests of the cells of a part against one of them; NaN for that one and for cells of other parts. */
typedef struct pairwise_tests {
    comparison *found; /* (count) */
    double *p;         /* (count) Holm-corrected */
    double *least;     /* (count) the lowest p that this number of seeds can give */
} pairwise_tests;

static void release_tests(pairwise_tests *of)
{
    memory_free(of->found);
    memory_free(of->p);
    memory_free(of->least);
}

static ee_status compare_all(const summary_group *group, summary_part part, size_t reference, pairwise_tests *out,
                             ee_error *error)
{
    *out = (pairwise_tests){0};
    ee_status status = memory_create(NULL, &out->found, group->count, sizeof *out->found, error);
    if (!status) status = memory_create(NULL, &out->p, group->count, sizeof *out->p, error);
    if (!status) status = memory_create(NULL, &out->least, group->count, sizeof *out->least, error);
    for (size_t i = 0; i < group->count && !status; i++) {
        out->found[i] = (comparison){0, NAN, NAN, NAN, NAN};
        if (i != reference && group->cells[i].labels[part])
            status = compare_cells(&group->cells[i], &group->cells[reference], &out->found[i], error);
        out->p[i] = out->found[i].p;
        out->least[i] = comparison_least_p(out->found[i].pairs);
    }
    if (!status) status = comparison_holm(out->p, group->count, error);
    if (!status) status = comparison_holm(out->least, group->count, error);
    return status;
}

static ee_status compare_part(summary_group *group, summary_part part, ee_error *error)
{
    size_t reference = group->references[part];
    if (reference == group->count) return EE_OK;
    pairwise_tests with;
    ee_status status = compare_all(group, part, reference, &with, error);
    for (size_t i = 0; i < group->count && !status; i++) {
        summary_cell *cell = &group->cells[i];
        if (i == reference || !cell->labels[part]) continue;
        cell->against = with.found[i];
        cell->p_holm = with.p[i];
        cell->testable = with.least[i] < COMPARISON_LEVEL;
    }
    release_tests(&with);
    return status;
}

/* ---- the best ---- */

/* The lowest mean regret of the main part, except for one cell, among those with most seeds. */
static size_t find_best(const summary_group *group, size_t except)
{
    size_t best = group->count, seeds = 0;
    for (size_t i = 0; i < group->count; i++) {
        const summary_cell *cell = &group->cells[i];
        if (i == except || !cell->labels[SUMMARY_MAIN] || cell->count < seeds) continue;
        if (cell->count > seeds || cell->mean < group->cells[best].mean) best = i;
        seeds = cell->count;
    }
    return best;
}

/* If the best is the reference, these are the numbers of the table. */
static ee_status find_lead(summary_group *group, ee_error *error)
{
    summary_lead *lead = &group->lead;
    lead->best = find_best(group, group->count);
    lead->next = find_best(group, lead->best);
    if (lead->best == group->count) return EE_OK;
    const summary_cell *best = &group->cells[lead->best];
    for (size_t i = 0; i < group->count; i++) {
        summary_cell *cell = &group->cells[i];
        cell->best = cell->labels[SUMMARY_MAIN] && cell->count == best->count && cell->mean == best->mean;
    }
    if (lead->next == group->count) return EE_OK;
    pairwise_tests with;
    ee_status status = compare_all(group, SUMMARY_MAIN, lead->best, &with, error);
    if (!status) {
        lead->by = with.found[lead->next];
        for (size_t i = 0; i < group->count; i++) lead->tests += with.found[i].pairs > 0;
        lead->p_holm = with.p[lead->next];
        lead->testable = with.least[lead->next] < COMPARISON_LEVEL;
    }
    release_tests(&with);
    return status;
}

/* ---- all of it ---- */

static ee_status finish_results(summary_groups *list, const char *folder, const char *reference, ee_error *error)
{
    ee_status status = EE_OK;
    bool found = false;
    for (size_t g = 0; g < list->count && !status; g++) {
        summary_group *group = &list->groups[g];
        status = summary_name_group(list, g, error);
        if (!status) status = summary_split(group, reference, error);
        for (size_t i = 0; i < group->count && !status; i++) {
            status = add_up_results(&group->cells[i], error);
            if (!status) status = add_up_curves(&group->cells[i], folder, error);
        }
        for (summary_part part = SUMMARY_MAIN; part < SUMMARY_PARTS && !status; part++)
            status = compare_part(group, part, error);
        if (!status) status = find_lead(group, error);
        found = found || group->references[SUMMARY_MAIN] < group->count;
    }
    if (status) return status;
    summary_number_styles(list);
    return reference && list->count && !found ? summary_fail_reference(list, reference, error) : EE_OK;
}

static ee_status finish_grids(summary_groups *list, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t g = 0; g < list->count && !status; g++) {
        summary_group *group = &list->groups[g];
        bool *shown;
        status = summary_name_group(list, g, error);
        if (!status) status = memory_create(NULL, &shown, group->count, sizeof *shown, error);
        if (status) break;
        for (size_t i = 0; i < group->count; i++) shown[i] = true;
        status = summary_name_part(group, SUMMARY_MAIN, shown, error);
        memory_free(shown);
        for (size_t i = 0; i < group->count && !status; i++) status = add_up_results(&group->cells[i], error);
    }
    return status;
}

ee_status summary_create(const stored_runs *runs, const char *folder, const char *reference, summary *out,
                         ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < runs->count && !status; i++)
        status = summary_groups_add(runs->runs[i].tuning ? &out->grids : &out->results, &runs->runs[i], error);
    if (!status) status = finish_results(&out->results, folder, reference, error);
    return status ? status : finish_grids(&out->grids, error);
}

void summary_release(summary *out)
{
    summary_groups_release(&out->results);
    summary_groups_release(&out->grids);
    *out = (summary){0};
}
