#include "summary.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assignments.h"
#include "base/memory.h"
#include "data/text.h"
#include "evaluate/statistics.h"

/* ---- options ---- */

/* Whether the two have different values of some options, and those are among the two named. */
static bool differ_in(const char *left, const char *right, const char *name, const char *other)
{
    assignment one;
    bool differ = false;
    while (assignment_next(&left, &one)) {
        if (!assignment_differs(&one, right)) continue;
        if (!assignment_has_name(&one, name) && !assignment_has_name(&one, other)) return false;
        differ = true;
    }
    return differ;
}

static const char *cell_policy(const summary_cell *cell)
{
    return cell->runs[0]->policy;
}

static const char *cell_options(const summary_cell *cell)
{
    return cell->runs[0]->options;
}

/* Whether the policy is the one that is wanted, or a preset of it. */
static bool is_of_policy(const char *policy, const char *wanted)
{
    size_t length = strlen(wanted);
    return strncmp(policy, wanted, length) == 0 && (policy[length] == '\0' || policy[length] == ':');
}

/* ---- which run belongs where ---- */

static ee_status find_group(summary_groups *list, const stored_run *run, summary_group **out, ee_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        const stored_run *first = list->groups[i].first;
        *out = &list->groups[i];
        if (strcmp(first->dataset, run->dataset) == 0 && first->fingerprint == run->fingerprint &&
            delay_same(&first->late, &run->late) && first->slots == run->slots &&
            (run->tuning || first->rounds == run->rounds))
            return EE_OK;
    }
    ee_status status = memory_grow(NULL, &list->groups, &list->capacity, list->count + 1, sizeof *list->groups, error);
    if (status) return status;
    *out = &list->groups[list->count++];
    (*out)->first = run;
    return EE_OK;
}

static ee_status find_cell(summary_group *group, const stored_run *run, summary_cell **out, ee_error *error)
{
    for (size_t i = 0; i < group->count; i++) {
        const stored_run *first = group->cells[i].runs[0];
        *out = &group->cells[i];
        if (strcmp(first->policy, run->policy) == 0 && strcmp(first->options, run->options) == 0 &&
            first->rounds == run->rounds)
            return EE_OK;
    }
    ee_status status =
        memory_grow(NULL, &group->cells, &group->capacity, group->count + 1, sizeof *group->cells, error);
    if (!status) *out = &group->cells[group->count];
    return status;
}

static ee_status add_run(summary_groups *list, const stored_run *run, ee_error *error)
{
    summary_group *group;
    ee_status status = find_group(list, run, &group, error);
    if (status) return status;
    summary_cell *cell;
    status = find_cell(group, run, &cell, error);
    if (status) return status;
    for (size_t i = 0; i < cell->count; i++)
        if (cell->runs[i]->seed == run->seed) return EE_OK; /* the same run twice, as in files put together by hand */
    status = memory_grow(NULL, &cell->runs, &cell->capacity, cell->count + 1, sizeof *cell->runs, error);
    if (status) return status;
    if (!cell->count) group->count++;
    cell->runs[cell->count++] = run;
    return EE_OK;
}

/* ---- names ---- */

static ee_status keep_text(text *from, char **out)
{
    *out = from->bytes;
    return from->status;
}

/* Whether a cell of the same policy, among those shown in the part, has another value. */
static bool distinguishes(const summary_group *group, const bool *shown, const summary_cell *cell,
                          const assignment *one)
{
    for (size_t i = 0; i < group->count; i++)
        if (shown[i] && strcmp(cell_policy(&group->cells[i]), cell_policy(cell)) == 0 &&
            assignment_differs(one, cell_options(&group->cells[i])))
            return true;
    return false;
}

/* "neural-ucb nu=0.1": the policy, and the options by which the part's cells of that policy differ. Where that is too
 * long for a legend, "neural-ucb #2". */
static ee_status name_cell(const summary_group *group, const bool *shown, size_t place, char **out, ee_error *error)
{
    enum { LONGEST = 60 };
    const summary_cell *cell = &group->cells[place];
    text name = text_start(error);
    text_add(&name, "%s", cell_policy(cell));
    size_t policy_length = name.length;
    const char *options = cell_options(cell);
    assignment one;
    while (assignment_next(&options, &one))
        if (distinguishes(group, shown, cell, &one)) text_add(&name, " %.*s", (int)one.length, one.name);
    if (!name.status && name.length > policy_length + LONGEST) {
        size_t number = 1;
        for (size_t i = 0; i < place; i++)
            number += shown[i] && strcmp(cell_policy(&group->cells[i]), cell_policy(cell)) == 0;
        name.length = policy_length;
        text_add(&name, " #%zu", number);
    }
    return keep_text(&name, out);
}

static ee_status name_part(summary_group *group, summary_part part, const bool *shown, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < group->count && !status; i++)
        if (shown[i]) status = name_cell(group, shown, i, &group->cells[i].labels[part], error);
    return status;
}

static bool has_style(const summary_group *group, size_t style)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->cells[i].style == style) return true;
    return false;
}

/* The style of the cell of an earlier group with the same policy and options, or else with the same name; 0 for none.
 */
static size_t earlier_style(const summary_groups *list, size_t g, const summary_cell *cell)
{
    size_t same_name = 0;
    for (size_t k = 0; k < g; k++)
        for (size_t i = 0; i < list->groups[k].count; i++) {
            const summary_cell *other = &list->groups[k].cells[i];
            if (!other->style || has_style(&list->groups[g], other->style)) continue;
            if (strcmp(cell_policy(other), cell_policy(cell)) == 0 &&
                strcmp(cell_options(other), cell_options(cell)) == 0)
                return other->style;
            if (!same_name && strcmp(other->labels[SUMMARY_MAIN], cell->labels[SUMMARY_MAIN]) == 0)
                same_name = other->style;
        }
    return same_name;
}

static void number_styles(summary_groups *list)
{
    size_t next = 1;
    for (size_t g = 0; g < list->count; g++)
        for (size_t i = 0; i < list->groups[g].count; i++) {
            summary_cell *cell = &list->groups[g].cells[i];
            if (!cell->labels[SUMMARY_MAIN] || i == list->groups[g].references[SUMMARY_MAIN]) continue;
            cell->style = earlier_style(list, g, cell);
            if (!cell->style) cell->style = next++;
        }
}

static ee_status name_file(const summary_groups *list, size_t place, ee_error *error)
{
    enum { LONGEST = 60 };
    summary_group *group = &list->groups[place];
    text name = text_start(error);
    for (const char *from = group->label; *from && name.length < LONGEST; from++) {
        bool plain = isalnum((unsigned char)*from) != 0;
        if (plain || (name.length && name.bytes[name.length - 1] != '-'))
            text_add(&name, "%c", plain ? tolower((unsigned char)*from) : '-');
    }
    while (name.length && name.bytes[name.length - 1] == '-') name.bytes[--name.length] = '\0';
    bool taken = name.length == 0;
    for (size_t i = 0; i < place && !taken; i++) taken = name.bytes && strcmp(list->groups[i].file, name.bytes) == 0;
    if (taken) text_add(&name, "%s%zu", name.length ? "-" : "", place + 1);
    return keep_text(&name, &group->file);
}

static ee_status name_group(const summary_groups *list, size_t place, ee_error *error)
{
    summary_group *group = &list->groups[place];
    bool other_rounds = false;
    for (size_t i = 0; i < list->count; i++) {
        const stored_run *first = list->groups[i].first;
        if (i == place || strcmp(first->dataset, group->first->dataset) != 0) continue;
        if (first->fingerprint != group->first->fingerprint) group->other_files = true;
        if (first->rounds != group->first->rounds) other_rounds = true;
    }
    text label = text_start(error);
    text_add(&label, "%s", group->first->dataset);
    if (other_rounds) text_add(&label, ", %" PRIu64 " rounds", group->first->rounds);
    char late[DELAY_TEXT];
    delay_format(&group->first->late, late);
    if (!delay_is_none(&group->first->late)) text_add(&label, ", delay %s", late);
    if (group->first->slots) text_add(&label, ", %zu slots", group->first->slots);
    if (group->other_files) text_add(&label, ", files %08" PRIx64, group->first->fingerprint >> 32);
    ee_status status = keep_text(&label, &group->label);
    return status ? status : name_file(list, place, error);
}

/* ---- parts ---- */

static bool is_ablation(const summary_cell *cell, const summary_cell *base, summary_part part)
{
    static const char *const names[SUMMARY_PARTS][2] = {[SUMMARY_LABEL] = {"label", "label"},
                                                        [SUMMARY_DECISION] = {"decision", "hybrid_after"},
                                                        [SUMMARY_WEIGHT] = {"w2", "w2"}};
    const char *name = names[part][0], *other = names[part][1];
    return strcmp(cell_policy(cell), cell_policy(base)) == 0 &&
           differ_in(cell_options(cell), cell_options(base), name, other);
}

static size_t first_of_policy(const summary_group *group, const char *policy)
{
    size_t place = 0;
    while (place < group->count && !is_of_policy(cell_policy(&group->cells[place]), policy)) place++;
    return place;
}

/* The ablations are those of the reference, where that is EE-Net, or of the first cell of EE-Net. */
static ee_status split_parts(summary_group *group, const char *reference, ee_error *error)
{
    bool *shown; /* (SUMMARY_PARTS, count) */
    ee_status status = memory_create(NULL, &shown, SUMMARY_PARTS * group->count, sizeof *shown, error);
    if (status) return status;
    size_t main = first_of_policy(group, reference ? reference : "eenet"), base = main;
    if (base == group->count || !is_of_policy(cell_policy(&group->cells[base]), "eenet"))
        base = first_of_policy(group, "eenet");
    group->references[SUMMARY_MAIN] = main;
    for (size_t i = 0; i < group->count; i++) shown[i] = true;
    for (summary_part part = SUMMARY_LABEL; part < SUMMARY_PARTS; part++) {
        group->references[part] = group->count;
        for (size_t i = 0; i < group->count && base < group->count; i++) {
            if (i == base || i == main || !is_ablation(&group->cells[i], &group->cells[base], part)) continue;
            shown[i] = false;
            shown[part * group->count + i] = shown[part * group->count + base] = true;
            group->references[part] = base;
        }
    }
    for (summary_part part = SUMMARY_MAIN; part < SUMMARY_PARTS && !status; part++)
        status = name_part(group, part, shown + part * group->count, error);
    memory_free(shown);
    return status;
}

/* ---- numbers ---- */

static double correlation_of(const run_direction *sums)
{
    double count = (double)sums->arms;
    double exploration = count * sums->exploration_squares - sums->exploration * sums->exploration;
    double gain = count * sums->gain_squares - sums->gain * sums->gain;
    /* Where one of the two is the same for all arms, what is left is rounding. */
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

/* The differences are (cell->count); returns how many seeds the two have in common. */
static size_t pair_up(const summary_cell *cell, const summary_cell *reference, double *differences)
{
    size_t pairs = 0;
    for (size_t i = 0; i < cell->count; i++)
        for (size_t k = 0; k < reference->count; k++)
            if (cell->runs[i]->seed == reference->runs[k]->seed)
                differences[pairs++] = cell->runs[i]->result.regret - reference->runs[k]->result.regret;
    return pairs;
}

static ee_status compare_cell(summary_cell *cell, const summary_cell *reference, ee_error *error)
{
    double *differences;
    ee_status status = memory_create(NULL, &differences, cell->count, sizeof *differences, error);
    if (status) return status;
    size_t pairs = pair_up(cell, reference, differences);
    status = comparison_paired(differences, pairs, &cell->against, error);
    memory_free(differences);
    return status;
}

static ee_status compare_part(summary_group *group, summary_part part, ee_error *error)
{
    size_t reference = group->references[part];
    if (reference == group->count) return EE_OK;
    double *p; /* (count) NaN where nothing is compared */
    ee_status status = memory_create(NULL, &p, group->count, sizeof *p, error);
    for (size_t i = 0; i < group->count && !status; i++) {
        p[i] = NAN;
        if (i == reference || !group->cells[i].labels[part]) continue;
        status = compare_cell(&group->cells[i], &group->cells[reference], error);
        p[i] = group->cells[i].against.p;
    }
    if (!status) status = comparison_holm(p, group->count, error);
    for (size_t i = 0; i < group->count && !status; i++)
        if (i != reference && group->cells[i].labels[part]) group->cells[i].p_holm = p[i];
    memory_free(p);
    return status;
}

static void mark_best(summary_group *group)
{
    size_t seeds = 0;
    summary_cell *best = NULL;
    for (size_t i = 0; i < group->count; i++)
        if (group->cells[i].labels[SUMMARY_MAIN] && group->cells[i].count > seeds) seeds = group->cells[i].count;
    for (size_t i = 0; i < group->count; i++) {
        summary_cell *cell = &group->cells[i];
        if (cell->labels[SUMMARY_MAIN] && cell->count == seeds && (!best || cell->mean < best->mean)) best = cell;
    }
    if (best) best->best = true;
}

/* ---- all of it ---- */

static ee_status finish_results(summary_groups *list, const char *folder, const char *reference, ee_error *error)
{
    ee_status status = EE_OK;
    bool found = false;
    for (size_t g = 0; g < list->count && !status; g++) {
        summary_group *group = &list->groups[g];
        status = name_group(list, g, error);
        if (!status) status = split_parts(group, reference, error);
        for (size_t i = 0; i < group->count && !status; i++) {
            status = add_up_results(&group->cells[i], error);
            if (!status) status = add_up_curves(&group->cells[i], folder, error);
        }
        for (summary_part part = SUMMARY_MAIN; part < SUMMARY_PARTS && !status; part++)
            status = compare_part(group, part, error);
        if (status) break;
        mark_best(group);
        found = found || group->references[SUMMARY_MAIN] < group->count;
    }
    if (status) return status;
    number_styles(list);
    if (reference && list->count && !found)
        return status_fail(error, EE_BAD_INPUT, "no run of policy '%.100s', the reference, is among the results",
                           reference);
    return EE_OK;
}

static ee_status finish_grids(summary_groups *list, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t g = 0; g < list->count && !status; g++) {
        summary_group *group = &list->groups[g];
        bool *shown;
        status = name_group(list, g, error);
        if (!status) status = memory_create(NULL, &shown, group->count, sizeof *shown, error);
        if (status) break;
        for (size_t i = 0; i < group->count; i++) shown[i] = true;
        status = name_part(group, SUMMARY_MAIN, shown, error);
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
        status = add_run(runs->runs[i].tuning ? &out->grids : &out->results, &runs->runs[i], error);
    if (!status) status = finish_results(&out->results, folder, reference, error);
    return status ? status : finish_grids(&out->grids, error);
}

static void release_groups(summary_groups *list)
{
    for (size_t g = 0; g < list->count; g++) {
        summary_group *group = &list->groups[g];
        for (size_t i = 0; i < group->count; i++) {
            summary_cell *cell = &group->cells[i];
            for (summary_part part = SUMMARY_MAIN; part < SUMMARY_PARTS; part++) memory_free(cell->labels[part]);
            memory_free(cell->runs);
            memory_free(cell->curve);
        }
        memory_free(group->cells);
        memory_free(group->label);
        memory_free(group->file);
    }
    memory_free(list->groups);
}

void summary_release(summary *out)
{
    release_groups(&out->results);
    release_groups(&out->grids);
    *out = (summary){0};
}

size_t summary_order(const summary_group *group, summary_part part, size_t *order)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        if (!group->cells[i].labels[part]) continue;
        size_t place = count++;
        for (; place && group->cells[order[place - 1]].mean > group->cells[i].mean; place--)
            order[place] = order[place - 1];
        order[place] = i;
    }
    return count;
}
