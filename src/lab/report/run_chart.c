#include "run_chart.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "chart.h"
#include "chart_svg.h"
#include "page.h"

static const char *const part_names[SUMMARY_PARTS] = {
    [SUMMARY_MAIN] = "main", [SUMMARY_LABEL] = "label", [SUMMARY_DECISION] = "decision", [SUMMARY_WEIGHT] = "weight"};

void run_chart_line_name(text *page, summary_part part, size_t style)
{
    chart_line_name(page, part_names[part], style);
}

/* ---- lines ---- */

/* The lines of the cells, lowest regret first, and their points. */
typedef struct cell_lines {
    chart_line *lines; /* (count) */
    chart_point *points;
    size_t count;
    const chart_line *reference; /* NULL if nothing is compared */
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

/* Both axes logarithmic, for values above zero, over at most four powers of ten. False if there are none. */
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
    *out = (chart_frame){.title = title, .view = CHART_LOG, .lines = of->lines, .count = of->count};
    if (!(first < last) || !(low < high)) return false;
    out->x = chart_logarithmic("round", first, last);
    out->y = chart_logarithmic("regret so far (lower is better)", low, high);
    return true;
}

static void describe_regret(const figure_cells *cells, const cell_lines *of, const char *title, chart *out)
{
    chart_frame logarithm;
    bool has_log = frame_logarithm(of, title, &logarithm);
    chart_view usual = has_log ? CHART_LINEAR : CHART_ALWAYS;
    chart_axis rounds = chart_linear("round", 0.0, (double)cells->group->first->rounds);
    out->frames[out->count++] =
        (chart_frame){.title = title,
                      .view = usual,
                      .lines = of->lines,
                      .count = of->count,
                      .x = rounds,
                      .y = chart_linear("regret so far (lower is better)", 0.0, figure_cells_top(cells))};
    if (of->reference) {
        double low, high;
        figure_cells_differences(cells, &low, &high);
        out->frames[out->count++] =
            (chart_frame){.title = "Mean regret minus the reference's; below zero is better.",
                          .view = usual,
                          .is_low = true,
                          .less = of->reference,
                          .lines = of->lines,
                          .count = of->count,
                          .x = rounds,
                          .y = chart_linear("difference from the reference (below 0 is better)", low, high)};
    }
    if (has_log) out->frames[out->count++] = logarithm;
}

static void describe_directions(const figure_cells *cells, const cell_lines *of, const char *title, chart *out)
{
    out->frames[out->count++] =
        (chart_frame){.title = title,
                      .lines = of->lines,
                      .count = of->count,
                      .x = chart_linear("round", 0.0, (double)cells->group->first->rounds),
                      .y = chart_linear("correlation of exploration with the error of f1", -1.0, 1.0)};
}

/* Adds the chart to the page, or saves it to the folder if page is NULL. */
static ee_status draw_lines(const figure_cells *cells, figure_kind kind, const char *name, const char *title,
                            text *page, const char *folder, ee_error *error)
{
    cell_lines of = {0};
    chart drawn = {.name = name};
    ee_status status = create_lines(cells, kind, &of, error);
    if (!status) {
        (kind == FIGURE_DIRECTION ? describe_directions : describe_regret)(cells, &of, title, &drawn);
        if (page)
            chart_page(page, &drawn);
        else
            status = chart_save(&drawn, folder, error);
    }
    release_lines(&of);
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

enum { COSTS = 2 };

static const struct cost {
    const char *title;
    double (*value)(const summary_cell *cell);
} costs[COSTS] = {{"CPU seconds per run", seconds_of}, {"memory at the end (MB)", megabytes_of}};

/* The place of a value between the smallest and the largest, on a logarithmic scale from 0 to 1. */
static double cost_place(const figure_cells *cells, size_t place, const struct cost *of)
{
    const double least = 1e-4; /* a logarithmic axis has no zero */
    double low = INFINITY, high = 0.0, value = of->value(figure_cells_at(cells, place));
    for (size_t i = 0; i < cells->count; i++) {
        double one = fmax(of->value(figure_cells_at(cells, i)), least);
        low = fmin(low, one);
        high = fmax(high, one);
    }
    return high > low ? log(fmax(value, least) / low) / log(high / low) : 0.0;
}

static void add_costs(text *page, const figure_cells *cells)
{
    text_add(page, "<div class=\"scroll\"><table class=\"costs\">\n<thead><tr><th scope=\"col\">policy</th>");
    for (size_t k = 0; k < COSTS; k++) text_add(page, "<th scope=\"col\">%s</th>", costs[k].title);
    text_add(page, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < cells->count; i++) {
        text_add(page, "<tr");
        run_chart_line_name(page, cells->part, figure_cells_style(cells, i));
        text_add(page, "><th scope=\"row\">");
        text_html(page, figure_cells_label(cells, i));
        text_add(page, "</th>");
        for (size_t k = 0; k < COSTS; k++) {
            text_add(page, "<td><span class=\"track\" style=\"--at:%.1f%%\"></span><span class=\"amount\">",
                     100.0 * cost_place(cells, i, &costs[k]));
            page_amount(page, costs[k].value(figure_cells_at(cells, i)));
            text_add(page, "</span></td>");
        }
        text_add(page, "</tr>\n");
    }
    text_add(page, "</tbody></table></div>\n");
}

/* Rows of dots, one column per cost. */
static ee_status save_costs(const figure_cells *cells, const char *name, const char *folder, ee_error *error)
{
    enum { TOP = 40, TRACK = 220, COLUMN = TRACK + 100 };
    text svg = text_start(error), data = text_start(error);
    double left = 0;
    for (size_t i = 0; i < cells->count; i++) left = fmax(left, svg_width(figure_cells_label(cells, i)) + 20);
    svg_begin(&svg, left + COSTS * COLUMN, TOP + SVG_LINE * ((double)cells->count + 1.5));
    text_add(&data, "# policy, CPU seconds per run, megabytes\n");
    for (size_t k = 0; k < COSTS; k++) svg_label(&svg, left + COLUMN * (double)k, TOP - 20, "start", costs[k].title);
    for (size_t i = 0; i < cells->count; i++) {
        double y = TOP + SVG_LINE * ((double)i + 0.5);
        svg_label(&svg, left - 12, y + 4, "end", figure_cells_label(cells, i));
        text_csv(&data, figure_cells_label(cells, i));
        for (size_t k = 0; k < COSTS; k++) {
            double x = left + COLUMN * (double)k, to = x + 10 + TRACK * cost_place(cells, i, &costs[k]);
            double value = costs[k].value(figure_cells_at(cells, i));
            char number[32];
            snprintf(number, sizeof number, value < 99.95 ? "%.3g" : "%.0f", value);
            text_add(&svg, "<path stroke=\"#cfcfcf\" d=\"M%.1f %.1fH%.1f\"/>\n", x, y, to);
            text_add(&svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", to, y, k ? "#009e73" : "#0072b2");
            svg_label(&svg, to + 9, y + 4, "start", number);
            text_add(&data, ",%.6g", value);
        }
        text_add(&data, "\n");
    }
    svg_label(&svg, left, TOP + SVG_LINE * ((double)cells->count + 1), "start", "(logarithmic scales)");
    return svg_save(&svg, &data, folder, name);
}

/* ---- both ---- */

static ee_status draw(const summary_group *group, figure_kind kind, const char *title, text *page, const char *folder,
                      ee_error *error)
{
    figure_cells cells = {0};
    char *name = NULL;
    ee_status status = figure_cells_create(group, kind, &cells, error);
    if (!status) status = figure_name(group, kind, &name, error);
    if (!status && kind != FIGURE_COST)
        status = draw_lines(&cells, kind, name, title, page, folder, error);
    else if (!status && page)
        add_costs(page, &cells);
    else if (!status)
        status = save_costs(&cells, name, folder, error);
    figure_cells_release(&cells);
    memory_free(name);
    return status;
}

void run_chart(text *page, const summary_group *group, figure_kind kind, const char *title)
{
    if (page->status) return;
    ee_status status = draw(group, kind, title, page, NULL, page->error);
    if (status) page->status = status;
}

ee_status run_figure(const summary_group *group, figure_kind kind, const char *folder, ee_error *error)
{
    return draw(group, kind, "", NULL, folder, error);
}
