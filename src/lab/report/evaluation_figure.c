/* The figures of evaluations, in the page and as files. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "chart.h"
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

/* Distance between ticks in bins; weight 1 has a tick. */
static size_t weight_step(size_t first, size_t last)
{
    return last - first < 10 ? 1 : last - first < 18 ? 2 : 4;
}

/* One line per candidate, then one for the logging policy, each with room for `room` points. */
typedef struct candidate_lines {
    chart_line *lines;   /* (group->count + 1) */
    chart_point *points; /* (group->count + 1, room) */
} candidate_lines;

static void release_lines(candidate_lines *self)
{
    memory_free(self->lines);
    memory_free(self->points);
}

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

static void describe_values(const evaluation_group *group, const char *title, const candidate_lines *of,
                            const char *value, chart *out)
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
    out->frames[out->count++] = (chart_frame){.title = title,
                                              .lines = of->lines,
                                              .count = count + 1,
                                              .x = chart_linear("events", 0.0, last),
                                              .y = chart_linear(value, low, high)};
}

/* Ends the description of a frame of bars: their unit and the y axis. */
static void describe_shares(const evaluation_group *group, const candidate_lines *of, const char *value,
                            chart_frame *frame)
{
    double highest = 0.0;
    for (size_t i = 0; i < group->count; i++)
        for (size_t k = 0; k < of->lines[i].count; k++) highest = fmax(highest, of->lines[i].points[k].y);
    frame->is_low = true;
    frame->bars = "%";
    frame->lines = of->lines;
    frame->count = group->count;
    frame->y = chart_linear(value, 0.0, highest > 0.0 ? highest : 1.0);
}

static void describe_weights(const evaluation_group *group, const char *title, const candidate_lines *of, chart *out)
{
    size_t first, last;
    find_weights(group, &first, &last);
    chart_frame *frame = &out->frames[out->count++];
    frame->title = title;
    frame->x =
        (chart_axis){"weight (from this value to twice it)", .low = (double)first - 1.6, .high = (double)last + 0.6};
    chart_tick_add(&frame->x, (double)first - 1.0, "0");
    for (size_t k = first; k <= last; k++) {
        double weight = exp2((double)k - EVALUATION_WEIGHT_ONE);
        if (k % weight_step(first, last) == 0)
            chart_tick_add(&frame->x, (double)k, weight < 1 ? "1/%.0f" : "%.0f", weight < 1 ? 1 / weight : weight);
    }
    for (size_t i = 0; i < group->count; i++) {
        const evaluation_result *from = &group->rows[i]->result;
        chart_point *into = of->points + i * EVALUATION_WEIGHT_BINS;
        of->lines[i].count = last - first + 2;
        into[0] = (chart_point){(double)first - 1.0, 100 * from->weights[0], NAN, NAN};
        for (size_t k = first; k <= last; k++)
            into[k - first + 1] = (chart_point){(double)k, 100 * from->weights[k], NAN, NAN};
    }
    describe_shares(group, of, "events (%)", frame);
}

static void describe_overlap(const evaluation_group *group, const candidate_lines *of, chart *out)
{
    chart_frame *frame = &out->frames[out->count++];
    frame->title = "How likely the logging policy was to make the candidates' choices.";
    frame->x = (chart_axis){"probability in the log (up to)", .low = -0.5, .high = EVALUATION_OVERLAP_BINS - 0.5};
    chart_tick_add(&frame->x, 0.0, "never");
    for (size_t k = 1; k < EVALUATION_OVERLAP_BINS; k++)
        chart_tick_add(&frame->x, (double)k, "%g", evaluation_overlap_ends[k]);
    for (size_t i = 0; i < group->count; i++) {
        of->lines[i].count = EVALUATION_OVERLAP_BINS;
        for (size_t k = 0; k < EVALUATION_OVERLAP_BINS; k++)
            of->points[i * EVALUATION_WEIGHT_BINS + k] =
                (chart_point){(double)k, 100 * group->rows[i]->result.overlap[k], NAN, NAN};
    }
    describe_shares(group, of, "choices (%)", frame);
}

/* Adds the chart to the page, or saves it to the folder if page is NULL. */
static ee_status draw(const evaluation_group *group, evaluation_figure which, const char *title, text *page,
                      const char *folder, ee_error *error)
{
    candidate_lines of = {0}, overlap = {0};
    char *name = NULL, value[80];
    bool values = which == EVALUATION_FIGURE_VALUE;
    ee_status status = evaluation_figure_name(group, which, &name, error);
    if (!status) status = create_lines(group, values ? EVALUATION_MARKS : EVALUATION_WEIGHT_BINS, &of, error);
    if (!status && !values) status = create_lines(group, EVALUATION_WEIGHT_BINS, &overlap, error);
    if (!status) {
        chart drawn = {.name = name};
        snprintf(value, sizeof value, "reward per event (%s)",
                 group->rows[0]->estimators[evaluations_lead(group->rows[0])]);
        if (values) describe_values(group, title, &of, value, &drawn);
        if (!values) describe_weights(group, title, &of, &drawn);
        if (!values && has_overlap(group)) describe_overlap(group, &overlap, &drawn);
        if (page)
            chart_page(page, &drawn);
        else
            status = chart_save(&drawn, folder, error);
    }
    release_lines(&of);
    release_lines(&overlap);
    memory_free(name);
    return status;
}

void evaluation_chart(text *page, const evaluation_group *group, evaluation_figure which, const char *title)
{
    if (page->status) return;
    ee_status status = draw(group, which, title, page, NULL, page->error);
    if (status) page->status = status;
}

ee_status evaluation_figures(const evaluation_groups *of, const char *folder, size_t *count, ee_error *error)
{
    for (size_t g = 0; g < of->count; g++)
        for (evaluation_figure which = 0; which < EVALUATION_FIGURES; which++) {
            ee_status status = draw(&of->groups[g], which, "", NULL, folder, error);
            if (status) return status;
            ++*count;
        }
    return EE_OK;
}
