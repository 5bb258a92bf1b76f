/* The figures of evaluations. */
#include <math.h>

#include "base/memory.h"
#include "drawing.h"
#include "report_evaluation.h"

static ee_status name_of(const evaluation_group *group, evaluation_figure which, char **out, ee_error *error)
{
    static const char *const names[EVALUATION_FIGURES] = {"value", "weights"};
    text name = text_start(error);
    text_add(&name, "%s-%s", names[which], group->file);
    *out = name.bytes;
    return name.status;
}

/* ---- values over time ---- */

/* What the intervals of the end lie in, and half as much to each side, as far as values can be: at the beginning they
 * are as wide as can be. */
static void add_value_frame(const evaluation_group *group, text *script)
{
    double low = INFINITY, high = -INFINITY;
    value_range range = group->rows[0]->result.log.range;
    for (size_t i = 0; i < group->count; i++) {
        const evaluation_result *of = &group->rows[i]->result;
        low = fmin(low, fmin(of->log.reward, fmin(of->estimates[0].value, of->estimates[0].low)));
        high = fmax(high, fmax(of->log.reward, fmax(of->estimates[0].value, of->estimates[0].high)));
    }
    double room = 0.5 * (high - low);
    if (room > 0 && isfinite(room))
        text_add(script, "set yrange [%.6g:%.6g]\n", fmin(low, fmax(low - room, range.reward_low)),
                 fmax(high, fmin(high + room, range.reward_high)));
}

static void add_value_data(const stored_evaluation *row, const char *label, size_t block, text *data)
{
    text_add(data, "%s# %s: events, value, low, high, mean reward of the log\n", block ? "\n\n" : "", label);
    for (size_t k = 0; k < row->result.mark_count; k++) {
        const evaluation_mark *mark = &row->result.marks[k];
        text_add(data, "%.0f %.8g %.8g %.8g %.8g\n", (double)mark->events, mark->values[0], mark->intervals[0].low,
                 mark->intervals[0].high, mark->logged);
    }
}

static void draw_values(const evaluation_group *group, const char *name, text *script, text *data)
{
    text_add(script, "set xlabel 'events of the log'\nset ylabel 'value by %s'\nset xrange [0:*]\n",
             group->rows[0]->estimators[0]);
    add_value_frame(group, script);
    drawing_begin(script, name, 440);
    text_add(script, "plot ");
    for (size_t i = 0; i < group->count; i++) {
        add_value_data(group->rows[i], group->labels[i], i, data);
        text_add(script, "'%s.dat' index %zu using 1:3:4 with filledcurves fc rgb '%s' notitle, \\\n", name, i,
                 drawing_colour(i));
    }
    for (size_t i = 0; i < group->count; i++) {
        text_add(script, "'%s.dat' index %zu using 1:2 with lines lw 2 dt %s lc rgb '%s' title ", name, i,
                 drawing_is_dashed(i) ? "'-'" : "solid", drawing_colour(i));
        drawing_quoted(script, group->labels[i]);
        text_add(script, ", \\\n");
    }
    text_add(script, "'%s.dat' index 0 using 1:5 with lines lw 1.5 dt '.' lc rgb '#555555' title 'reward of the log'",
             name);
    drawing_end(script);
}

/* ---- weights and overlap ---- */

/* The bins that any candidate has something in. */
static void find_weights(const evaluation_group *group, size_t *first, size_t *last)
{
    *first = EVALUATION_WEIGHT_ONE;
    *last = EVALUATION_WEIGHT_ONE + 1;
    for (size_t i = 0; i < group->count; i++)
        for (size_t k = 1; k < EVALUATION_WEIGHT_BINS; k++) {
            if (!(group->rows[i]->result.weights[k] > 0)) continue;
            if (k < *first) *first = k;
            if (k > *last) *last = k;
        }
}

static bool has_overlap(const evaluation_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (!isnan(group->rows[i]->result.overlap[0])) return true;
    return false;
}

/* Shares by bins, in percent, from the lowest bin that is shown: those of zero stand one before it. */
static void add_weight_data(const evaluation_group *group, size_t first, size_t last, text *data)
{
    for (size_t i = 0; i < group->count; i++) {
        const evaluation_result *of = &group->rows[i]->result;
        text_add(data, "%s# %s: weight, share of the rounds\n%zu %.6g\n", i ? "\n\n" : "", group->labels[i], first - 1,
                 100 * of->weights[0]);
        for (size_t k = first; k <= last; k++) text_add(data, "%zu %.6g\n", k, 100 * of->weights[k]);
    }
    for (size_t i = 0; i < group->count; i++) {
        text_add(data, "\n\n# %s: probability in the log, share of the choices\n", group->labels[i]);
        for (size_t k = 0; k < EVALUATION_OVERLAP_BINS; k++)
            text_add(data, "%zu %.6g\n", k, 100 * group->rows[i]->result.overlap[k]);
    }
}

/* Boxes, those of the candidates side by side in each bin. */
static void add_shares(const evaluation_group *group, const char *name, size_t block, text *script)
{
    double width = 0.84 / (double)group->count;
    text_add(script, "set boxwidth %.6g\nset style fill solid 0.85 noborder\nplot ", width);
    for (size_t i = 0; i < group->count; i++) {
        text_add(script, "'%s.dat' index %zu using ($1%+.6g):2 with boxes fs %s lc rgb '%s' title ", name, block + i,
                 width * ((double)i + 0.5) - 0.42, drawing_is_dashed(i) ? "pattern 4" : "solid 0.85",
                 drawing_colour(i));
        drawing_quoted(script, group->labels[i]);
        text_add(script, i + 1 < group->count ? ", \\\n" : "\n");
    }
}

static void add_weight_tics(size_t first, size_t last, text *script)
{
    size_t step = last - first < 10 ? 1 : last - first < 18 ? 2 : 4;
    text_add(script, "set xrange [%zu.4:%zu.6]\nset xtics ('0' %zu", first - 2, last, first - 1);
    for (size_t k = first; k <= last; k++) {
        double weight = exp2((double)k - EVALUATION_WEIGHT_ONE);
        if (k % step) continue; /* EVALUATION_WEIGHT_ONE has one */
        text_add(script, weight < 1 ? ", '1/%.0f' %zu" : ", '%.0f' %zu", weight < 1 ? 1 / weight : weight, k);
    }
    text_add(script, ")\n");
}

static void add_overlap_tics(text *script)
{
    text_add(script, "set xrange [-0.5:%d.5]\nset xtics ('never' 0", EVALUATION_OVERLAP_BINS - 1);
    for (size_t k = 1; k < EVALUATION_OVERLAP_BINS; k++) text_add(script, ", '%g' %zu", evaluation_overlap_ends[k], k);
    text_add(script, ")\n");
}

static void draw_weights(const evaluation_group *group, const char *name, text *script, text *data)
{
    size_t first, last;
    bool overlap = has_overlap(group);
    find_weights(group, &first, &last);
    add_weight_data(group, first, last, data);
    text_add(script, "set yrange [0:*]\n");
    drawing_begin(script, name, overlap ? 560 : 320);
    text_add(
        script,
        "set multiplot layout %d,1\nset ylabel 'rounds, percent'\nset xlabel 'weight: from there up to twice that'\n",
        overlap ? 2 : 1);
    add_weight_tics(first, last, script);
    add_shares(group, name, 0, script);
    if (overlap) {
        text_add(script, "set ylabel 'choices, percent'\nset xlabel 'probability in the log: up to there'\n");
        add_overlap_tics(script);
        add_shares(group, name, group->count, script);
    }
    text_add(script, "unset multiplot");
    drawing_end(script);
}

/* ---- all of them ---- */

static ee_status draw(const evaluation_group *group, evaluation_figure which, const char *folder, ee_error *error)
{
    text script = text_start(error), data = text_start(error);
    char *name = NULL;
    ee_status status = name_of(group, which, &name, error);
    if (status) return status;
    drawing_head(&script, name);
    (which == EVALUATION_FIGURE_VALUE ? draw_values : draw_weights)(group, name, &script, &data);
    status = drawing_save(folder, name, &script, &data);
    memory_free(name);
    return status;
}

ee_status evaluation_figures(const evaluation_groups *of, const char *folder, size_t *count, ee_error *error)
{
    for (size_t g = 0; g < of->count; g++)
        for (evaluation_figure which = 0; which < EVALUATION_FIGURES; which++) {
            ee_status status = draw(&of->groups[g], which, folder, error);
            if (status) return status;
            ++*count;
        }
    return EE_OK;
}

void evaluation_figure_embed(const evaluation_group *group, evaluation_figure which, const char *folder,
                             const char *title, text *page)
{
    char *name = NULL;
    if (!page->status) page->status = name_of(group, which, &name, page->error);
    drawing_embed(folder, name, title, page);
    memory_free(name);
}
