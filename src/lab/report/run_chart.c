#include "run_chart.h"

#include <math.h>

#include "base/memory.h"
#include "chart.h"
#include "page.h"

static const char *const part_names[SUMMARY_PARTS] = {
    [SUMMARY_MAIN] = "main", [SUMMARY_LABEL] = "label", [SUMMARY_DECISION] = "decision", [SUMMARY_WEIGHT] = "weight"};

void run_chart_line_name(text *page, summary_part part, size_t style)
{
    chart_line_name(page, part_names[part], style);
}

/* ---- lines ---- */

/* The lines of the cells, least regret first, and their points. */
typedef struct cell_lines {
    chart_line *lines; /* (count) */
    chart_point *points;
    size_t count;
    const chart_line *reference; /* NULL where nothing is compared */
} cell_lines;

static size_t points_of(const summary_cell *cell, figure_kind kind)
{
    return kind == FIGURE_DIRECTION ? RUN_PARTS : cell->points;
}

static chart_point point_of(const figure_cells *cells, const summary_cell *cell, figure_kind kind, size_t k)
{
    if (kind == FIGURE_DIRECTION) {
        double round = (double)(k + 1) * (double)cells->group->first->rounds / RUN_PARTS;
        return (chart_point){floor(round), cell->correlations[k], NAN, NAN};
    }
    const summary_point *at = &cell->curve[k];
    return (chart_point){at->round, at->mean, at->mean - at->deviation, at->mean + at->deviation};
}

static ee_status create_lines(const figure_cells *cells, figure_kind kind, cell_lines *out, ee_error *error)
{
    size_t all = 0;
    for (size_t i = 0; i < cells->count; i++) all += points_of(figure_cells_at(cells, i), kind);
    ee_status status = memory_create(NULL, &out->lines, cells->count, sizeof *out->lines, error);
    if (!status) status = memory_create(NULL, &out->points, all, sizeof *out->points, error);
    if (status) return status;
    chart_point *next = out->points;
    for (; out->count < cells->count; out->count++) {
        const summary_cell *cell = figure_cells_at(cells, out->count);
        size_t points = points_of(cell, kind);
        out->lines[out->count] = (chart_line){.part = part_names[cells->part],
                                              .style = figure_cells_style(cells, out->count),
                                              .is_broad = out->count == cells->reference,
                                              .name = figure_cells_label(cells, out->count),
                                              .points = next,
                                              .count = points};
        for (size_t k = 0; k < points; k++) *next++ = point_of(cells, cell, kind, k);
    }
    if (figure_cells_compared(cells)) out->reference = &out->lines[cells->reference];
    return EE_OK;
}

static void release_lines(cell_lines *self)
{
    memory_free(self->lines);
    memory_free(self->points);
}

static void add_frame(text *page, const chart_frame *frame, const cell_lines *of)
{
    chart_frame_begin(page, frame);
    chart_lines(page, frame, of->lines, of->count);
    chart_frame_end(page, frame);
}

/* Both axes logarithmic: whatever is above zero, over at most four powers of ten. False where nothing is. */
static bool frame_logarithm(const cell_lines *of, const char *title, chart_frame *out)
{
    double first = INFINITY, last = 0.0, low = INFINITY, high = 0.0;
    for (size_t i = 0; i < of->count; i++)
        for (size_t k = 0; k < of->lines[i].count; k++) {
            const chart_point *point = &of->lines[i].points[k];
            if (!(point->y > 0.0)) continue;
            first = fmin(first, point->x);
            last = fmax(last, point->x);
            low = fmin(low, point->y);
            high = fmax(high, fmax(point->y, point->high));
        }
    low = fmax(low, 1e-4 * high);
    *out = (chart_frame){.title = title, .view = CHART_LOG};
    if (!(first < last) || !(low < high)) return false;
    out->x = chart_logarithmic("round", first, last);
    out->y = chart_logarithmic("regret so far (lower is better)", low, high);
    return true;
}

static void add_regret(text *page, const figure_cells *cells, const cell_lines *of, const char *name, const char *title)
{
    chart_frame logarithm;
    bool has_log = frame_logarithm(of, title, &logarithm);
    chart_view usual = has_log ? CHART_LINEAR : CHART_ALWAYS;
    double rounds = (double)cells->group->first->rounds;
    chart_frame regret = {.title = title,
                          .view = usual,
                          .x = chart_linear("round", 0.0, rounds),
                          .y = chart_linear("regret so far (lower is better)", 0.0, figure_cells_top(cells))};
    chart_begin(page, name, has_log);
    add_frame(page, &regret, of);
    if (of->reference) {
        double low, high;
        figure_cells_differences(cells, &low, &high);
        chart_frame difference = {.title = "Mean regret minus the reference's; below zero is better.",
                                  .view = usual,
                                  .is_low = true,
                                  .less = of->reference,
                                  .x = chart_linear("round", 0.0, rounds),
                                  .y = chart_linear("difference from the reference (below 0 is better)", low, high)};
        add_frame(page, &difference, of);
    }
    if (has_log) add_frame(page, &logarithm, of);
}

static void add_directions(text *page, const figure_cells *cells, const cell_lines *of, const char *name,
                           const char *title)
{
    chart_frame frame = {.title = title,
                         .x = chart_linear("round", 0.0, (double)cells->group->first->rounds),
                         .y = chart_linear("correlation of exploration with the error of f1", -1.0, 1.0)};
    chart_begin(page, name, false);
    add_frame(page, &frame, of);
}

static ee_status add_lines(text *page, const figure_cells *cells, figure_kind kind, const char *title)
{
    cell_lines of = {0};
    char *name = NULL;
    ee_status status = create_lines(cells, kind, &of, page->error);
    if (!status) status = figure_name(cells->group, kind, &name, page->error);
    if (!status) {
        (kind == FIGURE_DIRECTION ? add_directions : add_regret)(page, cells, &of, name, title);
        chart_legend(page, of.lines, of.count);
        chart_end(page);
    }
    release_lines(&of);
    memory_free(name);
    return status;
}

/* ---- time and memory ---- */

static double seconds_of(const summary_cell *cell)
{
    return cell->seconds;
}

static double megabytes_of(const summary_cell *cell)
{
    return cell->bytes / 1e6;
}

/* A number, and where it lies between the least and the largest, on a logarithmic scale. */
static void add_cost_cell(text *page, const figure_cells *cells, size_t place, double (*value_of)(const summary_cell *))
{
    double low = INFINITY, high = 0.0, value = value_of(figure_cells_at(cells, place));
    for (size_t i = 0; i < cells->count; i++) {
        double one = fmax(value_of(figure_cells_at(cells, i)), 1e-4); /* a logarithmic axis has no zero */
        low = fmin(low, one);
        high = fmax(high, one);
    }
    double at = high > low ? log(fmax(value, 1e-4) / low) / log(high / low) : 0.0;
    text_add(page, "<td><span class=\"track\" style=\"--at:%.1f%%\"></span><span class=\"amount\">", 100.0 * at);
    page_amount(page, value);
    text_add(page, "</span></td>");
}

static void add_costs(text *page, const figure_cells *cells)
{
    text_add(page, "<div class=\"scroll\"><table class=\"costs\">\n<thead><tr><th scope=\"col\">policy</th>"
                   "<th scope=\"col\">CPU seconds per run</th>"
                   "<th scope=\"col\">memory at the end (MB)</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < cells->count; i++) {
        text_add(page, "<tr");
        run_chart_line_name(page, cells->part, figure_cells_style(cells, i));
        text_add(page, "><th scope=\"row\">");
        text_html(page, figure_cells_label(cells, i));
        text_add(page, "</th>");
        add_cost_cell(page, cells, i, seconds_of);
        add_cost_cell(page, cells, i, megabytes_of);
        text_add(page, "</tr>\n");
    }
    text_add(page, "</tbody></table></div>\n");
}

void run_chart(text *page, const summary_group *group, figure_kind kind, const char *title)
{
    figure_cells cells = {0};
    if (page->status) return;
    ee_status status = figure_cells_create(group, kind, &cells, page->error);
    if (!status && kind == FIGURE_COST) add_costs(page, &cells);
    if (!status && kind != FIGURE_COST) status = add_lines(page, &cells, kind, title);
    if (status) page->status = status;
    figure_cells_release(&cells);
}
