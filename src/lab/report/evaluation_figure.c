/* The figures of evaluations, for papers and as charts of the page. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "chart.h"
#include "drawing.h"
#include "report_evaluation.h"

ee_status evaluation_figure_name(const evaluation_group *group, evaluation_figure which, char **out, ee_error *error)
{
    static const char *const names[EVALUATION_FIGURES] = {"value", "weights"};
    text name = text_start(error);
    text_add(&name, "%s-%s", names[which], group->file);
    *out = name.bytes;
    return name.status;
}

/* ---- values over time ---- */

/* The range of the final intervals, plus half of it on each side, limited to possible values: the first intervals are
 * too wide to show. False if the range is empty. */
static bool frame_values(const evaluation_group *group, double *from, double *to)
{
    double low = INFINITY, high = -INFINITY;
    value_range range = group->rows[0]->result.log.range;
    for (size_t i = 0; i < group->count; i++) {
        const evaluation_result *of = &group->rows[i]->result;
        const estimate *by = &of->estimates[evaluations_lead(group->rows[i])];
        low = fmin(low, fmin(of->log.reward, fmin(by->value, by->low)));
        high = fmax(high, fmax(of->log.reward, fmax(by->value, by->high)));
    }
    double room = 0.5 * (high - low);
    *from = fmin(low, fmax(low - room, range.reward_low));
    *to = fmax(high, fmin(high + room, range.reward_high));
    return room > 0 && isfinite(room);
}

static void add_value_data(const stored_evaluation *row, const char *label, size_t block, text *data)
{
    text_add(data, "%s# %s: events, value, low, high, mean reward of the log\n", block ? "\n\n" : "", label);
    size_t lead = evaluations_lead(row);
    for (size_t k = 0; k < row->result.mark_count; k++) {
        const evaluation_mark *mark = &row->result.marks[k];
        interval found = mark->intervals[lead];
        text_add(data, "%.0f %.8g %.8g %.8g %.8g\n", (double)mark->events, mark->values[lead], found.low, found.high,
                 mark->logged);
    }
}

static void draw_values(const evaluation_group *group, const char *name, text *script, text *data)
{
    text_add(script, "set xlabel 'events'\nset ylabel 'reward per event (%s)'\nset xrange [0:*]\n",
             group->rows[0]->estimators[evaluations_lead(group->rows[0])]);
    double low, high;
    if (frame_values(group, &low, &high)) text_add(script, "set yrange [%.6g:%.6g]\n", low, high);
    drawing_begin(script, name, 440);
    text_add(script, "plot ");
    for (size_t i = 0; i < group->count; i++) {
        add_value_data(group->rows[i], group->labels[i], i, data);
        text_add(script, "'%s.dat' index %zu using 1:3:4 with filledcurves fc rgb '%s' notitle, \\\n", name, i,
                 drawing_colour(group->styles[i]));
    }
    for (size_t i = 0; i < group->count; i++) {
        text_add(script, "'%s.dat' index %zu using 1:2 with lines lw 2 dt %s lc rgb '%s' title ", name, i,
                 drawing_turn(group->styles[i]) ? "'-'" : "solid", drawing_colour(group->styles[i]));
        drawing_quoted(script, group->labels[i]);
        text_add(script, ", \\\n");
    }
    text_add(script, "'%s.dat' index 0 using 1:5 with lines lw 1.5 dt '.' lc rgb '#555555' title 'logging policy'",
             name);
    drawing_end(script);
}

/* ---- weights and overlap ---- */

/* The bins in which any candidate has weights. */
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

/* Shares per bin in percent, from the lowest shown bin; weights of zero are one bin before it. */
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

/* Boxes of the candidates, side by side in each bin. */
static void add_shares(const evaluation_group *group, const char *name, size_t block, text *script)
{
    double width = 0.84 / (double)group->count;
    text_add(script, "set boxwidth %.6g\nset style fill solid 0.85 noborder\nplot ", width);
    for (size_t i = 0; i < group->count; i++) {
        text_add(script, "'%s.dat' index %zu using ($1%+.6g):2 with boxes fs %s lc rgb '%s' title ", name, block + i,
                 width * ((double)i + 0.5) - 0.42, drawing_turn(group->styles[i]) ? "pattern 4" : "solid 0.85",
                 drawing_colour(group->styles[i]));
        drawing_quoted(script, group->labels[i]);
        text_add(script, i + 1 < group->count ? ", \\\n" : "\n");
    }
}

/* Distance between ticks in bins; weight 1 has a tick. */
static size_t weight_step(size_t first, size_t last)
{
    return last - first < 10 ? 1 : last - first < 18 ? 2 : 4;
}

static void add_weight_tics(size_t first, size_t last, text *script)
{
    size_t step = weight_step(first, last);
    text_add(script, "set xrange [%zu.4:%zu.6]\nset xtics ('0' %zu", first - 2, last, first - 1);
    for (size_t k = first; k <= last; k++) {
        double weight = exp2((double)k - EVALUATION_WEIGHT_ONE);
        if (k % step) continue;
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
    text_add(script,
             "set multiplot layout %d,1\nset ylabel 'events (%%)'\nset xlabel 'weight (from this value to twice it)'\n",
             overlap ? 2 : 1);
    add_weight_tics(first, last, script);
    add_shares(group, name, 0, script);
    if (overlap) {
        text_add(script, "set ylabel 'choices (%%)'\nset xlabel 'probability in the log (up to)'\n");
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
    ee_status status = evaluation_figure_name(group, which, &name, error);
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

/* ---- in the page ---- */

/* One line per candidate, then one for the logging policy, each with room for `room` points. */
typedef struct candidate_lines {
    chart_line *lines;   /* (group->count + 1) */
    chart_point *points; /* (group->count + 1, room) */
} candidate_lines;

static ee_status create_lines(const evaluation_group *group, size_t room, candidate_lines *out, ee_error *error)
{
    size_t count = group->count + 1;
    ee_status status = memory_create(NULL, &out->lines, count, sizeof *out->lines, error);
    if (!status) status = memory_create(NULL, &out->points, count * room, sizeof *out->points, error);
    for (size_t i = 0; i < count && !status; i++)
        out->lines[i] = (chart_line){.part = EVALUATION_PART,
                                     .style = i < group->count ? group->styles[i] : CHART_PLAIN,
                                     .name = i < group->count ? group->labels[i] : "logging policy",
                                     .points = out->points + i * room};
    return status;
}

static void show_values(text *page, const evaluation_group *group, const char *name, const char *title,
                        const candidate_lines *of)
{
    double last = 1.0, low, high;
    size_t count = group->count;
    for (size_t i = 0; i <= count; i++) {
        const stored_evaluation *row = group->rows[i < count ? i : 0];
        const evaluation_result *from = &row->result;
        size_t lead = evaluations_lead(row);
        chart_point *into = of->points + i * EVALUATION_MARKS;
        of->lines[i].count = from->mark_count;
        for (size_t k = 0; k < from->mark_count; k++) {
            const evaluation_mark *mark = &from->marks[k];
            double events = (double)mark->events;
            into[k] = i < count ? (chart_point){events, mark->values[lead], mark->intervals[lead].low,
                                                mark->intervals[lead].high}
                                : (chart_point){events, mark->logged, NAN, NAN};
            last = fmax(last, events);
        }
    }
    if (!frame_values(group, &low, &high)) {
        low = isfinite(low) ? low : 0.0;
        high = low + 1.0;
    }
    char value[80];
    snprintf(value, sizeof value, "reward per event (%s)",
             group->rows[0]->estimators[evaluations_lead(group->rows[0])]);
    chart_frame frame = {.title = title, .x = chart_linear("events", 0.0, last), .y = chart_linear(value, low, high)};
    chart_begin(page, name, false);
    chart_frame_begin(page, &frame);
    chart_lines(page, &frame, of->lines, count + 1);
    chart_frame_end(page, &frame);
    chart_legend(page, of->lines, count + 1);
    chart_end(page);
}

/* Bars of all candidates, side by side in each bin; the lines hold their shares. */
static void show_shares(text *page, const evaluation_group *group, chart_frame *frame, const candidate_lines *of)
{
    double highest = 0.0, width = 0.84 / (double)group->count;
    for (size_t i = 0; i < group->count; i++)
        for (size_t k = 0; k < of->lines[i].count; k++) {
            chart_point *point = of->points + i * EVALUATION_WEIGHT_BINS + k;
            highest = fmax(highest, point->y);
            point->x += width * ((double)i + 0.5) - 0.42;
        }
    frame->y = chart_linear(frame->y.title, 0.0, highest > 0.0 ? highest : 1.0);
    chart_frame_begin(page, frame);
    for (size_t i = 0; i < group->count; i++) chart_bars(page, frame, &of->lines[i], width, "%");
    chart_frame_end(page, frame);
}

static void show_weights(text *page, const evaluation_group *group, const char *title, const candidate_lines *of)
{
    size_t first, last;
    find_weights(group, &first, &last);
    chart_frame frame = {.title = title, .is_low = true, .y = {.title = "events (%)"}};
    frame.x =
        (chart_axis){"weight (from this value to twice it)", .low = (double)first - 1.6, .high = (double)last + 0.6};
    chart_tick_add(&frame.x, (double)first - 1.0, "0");
    for (size_t k = first; k <= last; k++) {
        double weight = exp2((double)k - EVALUATION_WEIGHT_ONE);
        if (k % weight_step(first, last) == 0)
            chart_tick_add(&frame.x, (double)k, weight < 1 ? "1/%.0f" : "%.0f", weight < 1 ? 1 / weight : weight);
    }
    for (size_t i = 0; i < group->count; i++) {
        const evaluation_result *from = &group->rows[i]->result;
        chart_point *into = of->points + i * EVALUATION_WEIGHT_BINS;
        of->lines[i].count = last - first + 2;
        into[0] = (chart_point){(double)first - 1.0, 100 * from->weights[0], NAN, NAN};
        for (size_t k = first; k <= last; k++)
            into[k - first + 1] = (chart_point){(double)k, 100 * from->weights[k], NAN, NAN};
    }
    show_shares(page, group, &frame, of);
}

static void show_overlap(text *page, const evaluation_group *group, const candidate_lines *of)
{
    chart_frame frame = {.title = "How likely the logging policy was to make the candidates' choices.",
                         .is_low = true,
                         .y = {.title = "choices (%)"}};
    frame.x = (chart_axis){"probability in the log (up to)", .low = -0.5, .high = EVALUATION_OVERLAP_BINS - 0.5};
    chart_tick_add(&frame.x, 0.0, "never");
    for (size_t k = 1; k < EVALUATION_OVERLAP_BINS; k++)
        chart_tick_add(&frame.x, (double)k, "%g", evaluation_overlap_ends[k]);
    for (size_t i = 0; i < group->count; i++) {
        of->lines[i].count = EVALUATION_OVERLAP_BINS;
        for (size_t k = 0; k < EVALUATION_OVERLAP_BINS; k++)
            of->points[i * EVALUATION_WEIGHT_BINS + k] =
                (chart_point){(double)k, 100 * group->rows[i]->result.overlap[k], NAN, NAN};
    }
    show_shares(page, group, &frame, of);
}

static void show_bars(text *page, const evaluation_group *group, const char *name, const char *title,
                      const candidate_lines *of)
{
    chart_begin(page, name, false);
    show_weights(page, group, title, of);
    if (has_overlap(group)) show_overlap(page, group, of);
    for (size_t i = 0; i < group->count; i++) of->lines[i].count = 0; /* bars */
    chart_legend(page, of->lines, group->count);
    chart_end(page);
}

void evaluation_chart(text *page, const evaluation_group *group, evaluation_figure which, const char *title)
{
    candidate_lines of = {0};
    char *name = NULL;
    bool values = which == EVALUATION_FIGURE_VALUE;
    if (page->status) return;
    ee_status status = evaluation_figure_name(group, which, &name, page->error);
    if (!status) status = create_lines(group, values ? EVALUATION_MARKS : EVALUATION_WEIGHT_BINS, &of, page->error);
    if (!status) (values ? show_values : show_bars)(page, group, name, title, &of);
    if (status) page->status = status;
    memory_free(of.lines);
    memory_free(of.points);
    memory_free(name);
}
