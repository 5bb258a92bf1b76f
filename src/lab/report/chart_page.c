/* A chart as part of an HTML page. */
#include <string.h>

#include "chart_paths.h"

enum { NARROW_CHARACTERS = 32 }; /* if the tick labels of an axis have more, a narrow page shows every other tick */

enum { LINE_NUMBERS = 200 }; /* values per line that the page can show, about */

/* ---- names and looks ---- */

void chart_line_name(text *page, const char *part, size_t style)
{
    text_add(page, " data-line=\"%s-%zu\"", part, style);
}

/* Begins an element that has the colour and the dashes of a style. */
static void add_look(text *page, const char *element, const char *class, size_t style)
{
    static const char *const turns[] = {"", " dashed", " dotted", " mixed"};
    bool plain = style == CHART_PLAIN;
    text_add(page, "<%s class=\"%s%s\" style=\"--c:var(--", element, class,
             plain ? " dotted" : turns[chart_colour_turn(style) % 4]);
    text_add(page, plain ? "muted)\"" : "line-%zu)\"", chart_colour_number(style));
}

static const char *class_of(chart_shape shape, const chart_line *line)
{
    static const char *const classes[] = {"line", "band", "bar"};
    return shape == CHART_SHAPE_LINE && line->is_broad ? "line broad" : classes[shape];
}

static void begin_path(text *page, chart_shape shape, const chart_line *line)
{
    add_look(page, "path", class_of(shape, line), line->style);
    chart_line_name(page, line->part, line->style);
    text_add(page, " d=\"");
}

void chart_swatch(text *page, size_t style)
{
    add_look(page, "span", "swatch", style);
    text_add(page, "></span>");
}

/* ---- frames ---- */

static void add_attributes(text *page, const chart_frame *frame)
{
    static const char *const views[] = {"", " linear", " log"};
    text_add(page, "<div class=\"frame%s%s%s\" data-x=\"%.9g %.9g\" data-y=\"%.9g %.9g\"", views[frame->view],
             frame->is_low ? " low" : "", frame->x.is_log ? " logarithmic" : "", frame->x.low, frame->x.high,
             frame->y.low, frame->y.high);
    if (frame->less) text_add(page, " data-less=\"%s-%zu\"", frame->less->part, frame->less->style);
    text_add(page, ">\n");
}

static bool has_long_labels(const chart_axis *axis)
{
    size_t characters = 0;
    for (size_t i = 0; i < axis->count; i++) characters += strlen(axis->ticks[i].label);
    return characters > NARROW_CHARACTERS;
}

static void add_ticks(text *page, const chart_axis *axis, const char *class, const char *side)
{
    bool sparse = has_long_labels(axis);
    for (size_t i = 0; i < axis->count; i++)
        text_add(page, "<span class=\"tick %s%s\" style=\"%s:%.2f%%\">%s</span>", class,
                 sparse && i % 2 ? " minor" : "", side, 100.0 * chart_place(axis, axis->ticks[i].at),
                 axis->ticks[i].label);
    text_add(page, "\n");
}

static void add_frame(text *page, const chart_frame *frame)
{
    add_attributes(page, frame);
    text_add(page, "<div class=\"axis\">");
    text_html(page, frame->y.title);
    text_add(page,
             "</div>\n<div class=\"plot\">\n<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
             "aria-label=\"",
             CHART_WIDTH, CHART_HEIGHT);
    text_html(page, frame->title);
    text_add(page, "\">\n<path class=\"grid\" d=\"");
    for (size_t i = 0; i < frame->y.count; i++)
        text_add(page, "M0 %ldh%d", chart_down(frame, frame->y.ticks[i].at), CHART_WIDTH);
    text_add(page, "\"/>\n");
    if (!frame->y.is_log && frame->y.low < 0.0)
        text_add(page, "<path class=\"zero\" d=\"M0 %ldh%d\"/>\n", chart_down(frame, 0.0), CHART_WIDTH);
    chart_frame_draw(page, frame, begin_path);
    text_add(page, "</svg>\n");
    add_ticks(page, &frame->y, "y", "bottom");
    add_ticks(page, &frame->x, "x", "left");
    text_add(page, "</div>\n<div class=\"axis x\">");
    text_html(page, frame->x.title);
    text_add(page, "</div>\n</div>\n");
}

/* ---- the legend ---- */

/* Some of the line's points, the last among them, as data-x and data-y. */
static void add_numbers(text *page, const chart_line *line)
{
    size_t step = 1 + (line->count - 1) / LINE_NUMBERS, first = (line->count - 1) % step;
    text_add(page, " data-x=\"");
    for (size_t k = first; k < line->count; k += step)
        text_add(page, "%s%.9g", k > first ? " " : "", line->points[k].x);
    text_add(page, "\" data-y=\"");
    for (size_t k = first; k < line->count; k += step)
        text_add(page, "%s%.5g", k > first ? " " : "", line->points[k].y); /* scripts know NaN too */
    text_add(page, "\"");
}

static void add_legend(text *page, const chart_frame *frame)
{
    text_add(page, "<ul class=\"keys\">\n");
    for (size_t i = 0; i < frame->count; i++) {
        const chart_line *line = &frame->lines[i];
        text_add(page, "<li");
        chart_line_name(page, line->part, line->style);
        if (line->count && !frame->bars) add_numbers(page, line);
        text_add(page, "><svg viewBox=\"0 0 28 10\" aria-hidden=\"true\">");
        add_look(page, "path", class_of(frame->bars ? CHART_SHAPE_BAR : CHART_SHAPE_LINE, line), line->style);
        text_add(page, " d=\"%s\"/></svg><span>", frame->bars ? "M9 0h10v10h-10z" : "M1 5h26");
        text_html(page, line->name);
        text_add(page, "</span></li>\n");
    }
    text_add(page, "</ul>\n");
}

void chart_page(text *page, const chart *of)
{
    text_add(page, "<div class=\"chart\">\n");
    if (of->frames[of->count - 1].view == CHART_LOG)
        text_add(page,
                 "<input type=\"checkbox\" id=\"log-%s\"><label for=\"log-%s\" class=\"switch\">logarithmic "
                 "axes</label>\n",
                 of->name, of->name);
    text_add(page, "<div class=\"frames\">\n");
    for (size_t i = 0; i < of->count; i++) add_frame(page, &of->frames[i]);
    text_add(page, "</div>\n");
    add_legend(page, &of->frames[0]);
    text_add(page, "</div>\n");
}
