#include "coverage_report.h"

#include <math.h>

#include "lab/report/drawing.h"

/* ---- over the candidates ---- */

double coverage_covers(const coverage_candidate *of, size_t place)
{
    return of->intervals[place].covers;
}

double coverage_always(const coverage_candidate *of, size_t place)
{
    return of->intervals[place].always;
}

double coverage_width(const coverage_candidate *of, size_t place)
{
    return of->intervals[place].width;
}

double coverage_bias(const coverage_candidate *of, size_t place)
{
    return of->estimators[place].bias;
}

double coverage_error(const coverage_candidate *of, size_t place)
{
    return of->estimators[place].error;
}

coverage_spread coverage_over_candidates(const coverage_entry *entry, coverage_number *number, size_t place)
{
    coverage_spread over = {0, INFINITY, -INFINITY};
    size_t count = entry->plan.candidate_count;
    for (size_t c = 0; c < count; c++) {
        double value = number(&entry->result.candidates[c], place);
        over.mean += value / (double)count;
        over.least = fmin(over.least, value);
        over.most = fmax(over.most, value);
    }
    return over;
}

/* ---- lines ---- */

static void add_candidate(const coverage_candidate *of, known_policy who, text *into)
{
    char name[KNOWN_TEXT];
    known_policy_format(who, name);
    text_add(into, "{\"candidate\":\"%s\",", name);
    kept_add(into, "value", of->truth);
    for (size_t k = 0; k < COVERAGE_INTERVALS; k++) {
        const coverage_interval *which = &coverage_intervals[k];
        text_add(into, "%s{\"interval\":\"%s\",\"of\":\"%s\",", k ? "," : ",\"intervals\":[",
                 interval_name(which->interval), coverage_interval_of(which));
        kept_add(into, "covers", of->intervals[k].covers);
        text_add(into, ",");
        kept_add(into, "always", of->intervals[k].always);
        text_add(into, ",");
        kept_add(into, "width", of->intervals[k].width);
        text_add(into, "}");
    }
    for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++) {
        text_add(into, "%s{\"estimator\":\"%s\",", k ? "," : "],\"estimators\":[",
                 estimator_describe(coverage_estimators[k])->name);
        kept_add(into, "bias", of->estimators[k].bias);
        text_add(into, ",");
        kept_add(into, "error", of->estimators[k].error);
        text_add(into, "}");
    }
    text_add(into, "]}");
}

static text asked_of(const coverage_entry *entry, ee_error *error)
{
    const coverage_plan *plan = &entry->plan;
    char name[KNOWN_TEXT];
    text asked = kept_asked(entry->data, plan->seed, error);
    known_policy_format(plan->behaviour, name);
    text_add(&asked,
             "\"training\":%zu,\"pool\":%zu,\"rounds\":%zu,\"replications\":%zu,\"resamples\":%zu,"
             "\"behaviour\":\"%s\"",
             entry->training, entry->pool, plan->rounds, plan->replications, plan->resamples, name);
    for (size_t c = 0; c < plan->candidate_count; c++) {
        known_policy_format(plan->candidates[c], name);
        text_add(&asked, "%s\"%s\"", c ? "," : ",\"evaluated\":[", name);
    }
    text_add(&asked, "],");
    return asked;
}

text coverage_line(const coverage_entry *entry, ee_error *error)
{
    const coverage_plan *plan = &entry->plan;
    text line = asked_of(entry, error);
    kept_add(&line, "behaviour_value", entry->result.behaviour);
    text_add(&line, ",");
    kept_add(&line, "least_probability", entry->result.least_probability);
    for (size_t c = 0; c < plan->candidate_count; c++) {
        text_add(&line, c ? "," : ",\"candidates\":[");
        add_candidate(&entry->result.candidates[c], plan->candidates[c], &line);
    }
    for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++) {
        text_add(&line, "%s{\"estimator\":\"%s\",", k ? "," : "],\"order\":[",
                 estimator_describe(coverage_estimators[k])->name);
        kept_add(&line, "all", entry->result.ordered[k]);
        text_add(&line, ",");
        kept_add(&line, "pairs", entry->result.pairs[k]);
        text_add(&line, "}");
    }
    text_add(&line, "]}\n");
    return line;
}

/* ---- reading them ---- */

static void read_candidate(kept_reader *from, coverage_candidate *into)
{
    into->truth = kept_number(from, "value");
    for (size_t k = 0; k < COVERAGE_INTERVALS; k++) {
        into->intervals[k].covers = kept_number(from, "covers");
        into->intervals[k].always = kept_number(from, "always");
        into->intervals[k].width = kept_number(from, "width");
    }
    for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++) {
        into->estimators[k].bias = kept_number(from, "bias");
        into->estimators[k].error = kept_number(from, "error");
    }
}

static ee_status read_result(kept_reader *from, size_t candidates, coverage_result *into)
{
    if (!into->candidates)
        from->status = memory_create(NULL, &into->candidates, candidates, sizeof *into->candidates, from->error);
    if (from->status) return from->status;
    into->behaviour = kept_number(from, "behaviour_value");
    into->least_probability = kept_number(from, "least_probability");
    for (size_t c = 0; c < candidates; c++) read_candidate(from, &into->candidates[c]);
    for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++) {
        into->ordered[k] = kept_number(from, "all");
        into->pairs[k] = kept_number(from, "pairs");
    }
    return from->status;
}

ee_status coverage_find(kept_studies *from, coverage_entry *entry, bool *found, ee_error *error)
{
    text asked = asked_of(entry, error);
    kept_reader reader = kept_studies_find(from, &asked, error);
    memory_free(asked.bytes);
    *found = reader.line != NULL;
    return *found ? read_result(&reader, entry->plan.candidate_count, &entry->result) : reader.status;
}

ee_status coverage_keep(kept_studies *into, coverage_entry *entry, ee_error *error)
{
    text line = coverage_line(entry, error);
    ee_status status = kept_studies_append(into, &line, error);
    memory_free(line.bytes);
    bool found;
    return status ? status : coverage_find(into, entry, &found, error);
}

/* ---- figures ---- */

static const char key_below[] = "set key outside below center horizontal Left reverse samplen 1 width 2\n";

/* One block per data set and one row per point, as add writes them. Points in a row of the figure are shifted by data
 * set and logging policy. */
typedef void add_points(text *data, const coverage_candidate *of, double shift);

static void add_blocks(const coverage_entry *entries, size_t count, text *data, add_points *add)
{
    for (size_t i = 0; i < count; i++) {
        if (!i || entries[i].data != entries[i - 1].data)
            text_add(data, "%s# %s\n", i ? "\n\n" : "", dataset_name(entries[i].data));
        double shift = count > 1 ? 0.6 * ((double)i / (double)(count - 1) - 0.5) : 0;
        for (size_t c = 0; c < entries[i].plan.candidate_count; c++) add(data, &entries[i].result.candidates[c], shift);
    }
}

static void add_coverage_points(text *data, const coverage_candidate *of, double shift)
{
    for (size_t k = 0; k < COVERAGE_INTERVALS; k++)
        text_add(data, "%.6g %.6g %.6g\n", (double)k + shift, 100 * of->intervals[k].covers,
                 100 * of->intervals[k].always);
}

static void add_error_points(text *data, const coverage_candidate *of, double shift)
{
    for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++)
        text_add(data, "%.6g %.6g\n", (double)k + shift, of->estimators[k].error / of->estimators[0].error);
}

static void add_plots(text *script, const coverage_entry *entries, size_t count, const char *name, int column, int mark,
                      bool named)
{
    for (size_t i = 0, block = 0; i < count; i++) {
        if (i && entries[i].data == entries[i - 1].data) continue;
        text_add(script, "'%s.dat' index %zu using %d:1 with points pt %d ps 0.45 lc rgb '%s' %s", name, block, column,
                 mark, drawing_colour(block), named ? "title " : "notitle");
        if (named) drawing_quoted(script, dataset_name(entries[i].data));
        text_add(script, ", \\\n");
        block++;
    }
}

static ee_status draw_coverage(const coverage_entry *entries, size_t count, const char *folder, ee_error *error)
{
    const char *name = "coverage";
    text script = text_start(error), data = text_start(error);
    add_blocks(entries, count, &data, add_coverage_points);
    drawing_head(&script, name);
    text_add(&script,
             "set xrange [*:100.5]\nset yrange [%d.6:-0.6]\nset grid noytics xtics\nset lmargin 24\nset rmargin 3\n"
             "set xlabel 'logs whose 95%% interval covers the true value (%%); hollow: covers it at every "
             "look'\nset ytics (",
             COVERAGE_INTERVALS - 1);
    for (size_t k = 0; k < COVERAGE_INTERVALS; k++)
        text_add(&script, "%s'%s of %s' %zu", k ? ", " : "", interval_name(coverage_intervals[k].interval),
                 coverage_interval_of(&coverage_intervals[k]), k);
    text_add(&script, ")\nset object 1 rectangle from 93,graph 0 to 97,graph 1 fc rgb '#009e73' fs solid 0.10 noborder "
                      "behind\n"
                      "set arrow 1 from 95,graph 0 to 95,graph 1 nohead lc rgb '#555555' dt '-'\n");
    text_add(&script, "%s", key_below);
    drawing_begin(&script, name, 520);
    text_add(&script, "plot ");
    add_plots(&script, entries, count, name, 2, 7, true);
    add_plots(&script, entries, count, name, 3, 6, false);
    text_add(&script, "1/0 notitle");
    drawing_end(&script);
    return drawing_save(folder, name, &script, &data);
}

static ee_status draw_errors(const coverage_entry *entries, size_t count, const char *folder, ee_error *error)
{
    const char *name = "estimator-error";
    text script = text_start(error), data = text_start(error);
    add_blocks(entries, count, &data, add_error_points);
    drawing_head(&script, name);
    text_add(&script,
             "set logscale x\nset yrange [%d.6:-0.6]\nset grid noytics xtics\nset lmargin 16\nset rmargin 3\n"
             "set xlabel 'root mean squared error (IPS = 1)'\nset ytics (",
             COVERAGE_ESTIMATORS - 1);
    for (size_t k = 0; k < COVERAGE_ESTIMATORS; k++)
        text_add(&script, "%s'%s' %zu", k ? ", " : "", estimator_describe(coverage_estimators[k])->name, k);
    text_add(&script, ")\nset arrow 1 from 1,graph 0 to 1,graph 1 nohead lc rgb '#555555' dt '-'\n");
    text_add(&script, "%s", key_below);
    drawing_begin(&script, name, 420);
    text_add(&script, "plot ");
    add_plots(&script, entries, count, name, 2, 7, true);
    text_add(&script, "1/0 notitle");
    drawing_end(&script);
    return drawing_save(folder, name, &script, &data);
}

ee_status coverage_figures(const coverage_entry *entries, size_t count, const char *folder, ee_error *error)
{
    ee_status status = draw_coverage(entries, count, folder, error);
    return status ? status : draw_errors(entries, count, folder, error);
}
