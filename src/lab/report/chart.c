#include "chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawing.h"

/* The units of a frame's drawing, which the page stretches: fine enough for whole numbers. */
enum { WIDTH = 3000, HEIGHT = 1500 };

/* Points of a line or of a band that are nearer to each other are left out. */
enum { LINE_GAP = WIDTH / 400, BAND_GAP = WIDTH / 150 };

enum { NARROW_LETTERS = 32 }; /* of the ticks of an axis: where there are more, a narrow page shows every other tick */

enum { LINE_NUMBERS = 200 }; /* of a line that the page can tell, about */

/* ---- axes ---- */

void chart_tick_add(chart_axis *axis, double at, const char *format, ...)
{
    if (axis->count == CHART_TICKS) return;
    chart_tick *tick = &axis->ticks[axis->count++];
    tick->at = at;
    va_list values;
    va_start(values, format);
    vsnprintf(tick->label, sizeof tick->label, format, values);
    va_end(values);
}

/* With the digits that a number of this size needs. */
static void add_number_tick(chart_axis *axis, double at, double size)
{
    int decimals = (int)fmin(fmax(-floor(log10(size) + 1e-9), 0.0), 9.0);
    chart_tick_add(axis, at, "%s%.*f", at < -0.5 * size ? "−" : "", decimals, fabs(at));
}

/* 1, 2 or 5 times a power of ten, so that at most `most` steps fit into the span. */
static double round_step(double span, double most)
{
    double rough = span / most, power = pow(10.0, floor(log10(rough)));
    double times = rough / power;
    return power * (times <= 1.0 ? 1.0 : times <= 2.0 ? 2.0 : times <= 5.0 ? 5.0 : 10.0);
}

chart_axis chart_linear(const char *title, double low, double high)
{
    chart_axis axis = {.title = title, .low = low, .high = high};
    double step = round_step(high - low, 7.0);
    double first = ceil(low / step - 1e-9) + 0.0; /* not -0 */
    for (double k = first; k * step <= high + 1e-9 * step && axis.count < CHART_TICKS; k++)
        add_number_tick(&axis, k * step, step);
    return axis;
}

/* Powers of ten, and values between them if there are few. */
chart_axis chart_logarithmic(const char *title, double low, double high)
{
    static const struct {
        double decades, between[3]; /* largest number of decades */
        size_t count;
    } steps[] = {{2.2, {1.0, 2.0, 5.0}, 3}, {4.2, {1.0, 3.0}, 2}, {INFINITY, {1.0}, 1}};
    chart_axis axis = {.title = title, .low = low, .high = high, .is_log = true};
    double decades = log10(high / low);
    size_t used = 0;
    while (decades > steps[used].decades) used++;
    for (double power = floor(log10(low)); power <= log10(high); power += fmax(1.0, floor(decades / 6.0)))
        for (size_t i = 0; i < steps[used].count; i++) {
            double at = steps[used].between[i] * pow(10.0, power);
            if (at >= low * (1 - 1e-9) && at <= high * (1 + 1e-9)) add_number_tick(&axis, at, at);
        }
    return axis;
}

/* From 0 to 1 along the axis; beyond, what is outside, but not so far that a path cannot have it. */
static double place_on(const chart_axis *axis, double value)
{
    double place = (value - axis->low) / (axis->high - axis->low);
    if (axis->is_log) place = value > 0.0 ? log(value / axis->low) / log(axis->high / axis->low) : -1.0;
    return fmin(fmax(place, axis->is_log ? -1.0 : -1000.0), 1000.0);
}

static long across(const chart_frame *frame, double x)
{
    return lround(WIDTH * place_on(&frame->x, x));
}

static long down(const chart_frame *frame, double y)
{
    return lround(HEIGHT * (1.0 - place_on(&frame->y, y)));
}

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
             plain ? " dotted" : turns[drawing_turn(style) % 4]);
    text_add(page, plain ? "muted)\"" : "line-%zu)\"", drawing_colour_number(style));
}

static void begin_path(text *page, const char *class, const chart_line *line)
{
    add_look(page, "path", class, line->style);
    chart_line_name(page, line->part, line->style);
    text_add(page, " d=\"");
}

void chart_swatch(text *page, size_t style)
{
    add_look(page, "span", "swatch", style);
    text_add(page, "></span>");
}

/* ---- paths ---- */

/* Writes a path by steps: from where it is to the next point. */
typedef struct pen {
    text *page;
    long x, y;
    bool draws; /* or else it goes there without a line */
} pen;

static void pen_to(pen *by, long x, long y)
{
    long right = x - by->x, below = y - by->y;
    text_add(by->page, "%s%ld%s%ld", !by->draws ? "m" : right < 0 ? "" : " ", right, below < 0 ? "" : " ", below);
    by->x = x;
    by->y = y;
    by->draws = true;
}

static double value_of(const chart_frame *frame, const chart_line *line, size_t k)
{
    return line->points[k].y - (frame->less ? frame->less->points[k].y : 0.0);
}

static void draw_line(text *page, const chart_frame *frame, const chart_line *line)
{
    pen by = {.page = page};
    begin_path(page, line->is_broad ? "line broad" : "line", line);
    for (size_t k = 0; k < line->count; k++) {
        double y = value_of(frame, line, k);
        long x = across(frame, line->points[k].x);
        if (!isfinite(y))
            by.draws = false;
        else if (!by.draws || x - by.x >= LINE_GAP || k + 1 == line->count)
            pen_to(&by, x, down(frame, y));
    }
    text_add(page, "\"/>\n");
}

static bool has_band(const chart_line *line)
{
    for (size_t k = 0; k < line->count; k++)
        if (isfinite(line->points[k].low) && isfinite(line->points[k].high)) return true;
    return false;
}

/* Along one side, from the first point to the last or back. */
static void draw_side(pen *by, const chart_frame *frame, const chart_line *line, bool is_high)
{
    long last = 0;
    bool begun = false;
    for (size_t i = 0; i < line->count; i++) {
        const chart_point *point = &line->points[is_high ? i : line->count - 1 - i];
        double y = is_high ? point->high : point->low;
        long x = across(frame, point->x);
        bool is_end = i == 0 || i + 1 == line->count;
        if (!isfinite(y) || (begun && !is_end && labs(x - last) < BAND_GAP)) continue;
        pen_to(by, x, down(frame, y));
        last = x;
        begun = true;
    }
}

static void draw_band(text *page, const chart_frame *frame, const chart_line *line)
{
    pen by = {.page = page};
    begin_path(page, "band", line);
    draw_side(&by, frame, line, true);
    draw_side(&by, frame, line, false);
    text_add(page, "z\"/>\n");
}

void chart_lines(text *page, const chart_frame *frame, const chart_line *lines, size_t count)
{
    for (size_t i = count; i-- > 0 && !frame->less;)
        if (has_band(&lines[i])) draw_band(page, frame, &lines[i]);
    for (size_t i = 0; i < count; i++)
        if (lines[i].is_broad) draw_line(page, frame, &lines[i]);
    for (size_t i = count; i-- > 0;)
        if (!lines[i].is_broad) draw_line(page, frame, &lines[i]);
}

void chart_bars(text *page, const chart_frame *frame, const chart_line *line, double width, const char *unit)
{
    for (size_t k = 0; k < line->count; k++) {
        const chart_point *point = &line->points[k];
        if (!(point->y > 0.0)) continue;
        long left = across(frame, point->x - 0.5 * width), right = across(frame, point->x + 0.5 * width);
        begin_path(page, "bar", line);
        text_add(page, "M%ld %dV%ldH%ldV%dz\"><title>", left, HEIGHT, down(frame, point->y), right, HEIGHT);
        text_html(page, line->name);
        text_add(page, ": %.1f%s</title></path>\n", point->y, unit);
    }
}

/* ---- around the lines ---- */

void chart_begin(text *page, const char *name, bool has_log)
{
    text_add(page, "<div class=\"chart\">\n");
    if (has_log)
        text_add(page,
                 "<input type=\"checkbox\" id=\"log-%s\"><label for=\"log-%s\" class=\"switch\">logarithmic "
                 "axes</label>\n",
                 name, name);
    text_add(page, "<div class=\"frames\">\n");
}

void chart_end(text *page)
{
    text_add(page, "</div>\n");
}

static void add_attributes(text *page, const chart_frame *frame)
{
    static const char *const views[] = {"", " linear", " log"};
    text_add(page, "<div class=\"frame%s%s%s\" data-x=\"%.9g %.9g\" data-y=\"%.9g %.9g\"", views[frame->view],
             frame->is_low ? " low" : "", frame->x.is_log ? " logarithmic" : "", frame->x.low, frame->x.high,
             frame->y.low, frame->y.high);
    if (frame->less) text_add(page, " data-less=\"%s-%zu\"", frame->less->part, frame->less->style);
    text_add(page, ">\n");
}

void chart_frame_begin(text *page, const chart_frame *frame)
{
    add_attributes(page, frame);
    text_add(page, "<div class=\"axis\">");
    text_html(page, frame->y.title);
    text_add(page,
             "</div>\n<div class=\"plot\">\n<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
             "aria-label=\"",
             WIDTH, HEIGHT);
    text_html(page, frame->title);
    text_add(page, "\">\n<path class=\"grid\" d=\"");
    for (size_t i = 0; i < frame->y.count; i++) text_add(page, "M0 %ldh%d", down(frame, frame->y.ticks[i].at), WIDTH);
    text_add(page, "\"/>\n");
    if (!frame->y.is_log && frame->y.low < 0.0)
        text_add(page, "<path class=\"zero\" d=\"M0 %ldh%d\"/>\n", down(frame, 0.0), WIDTH);
}

static bool is_crowded(const chart_axis *axis)
{
    size_t letters = 0;
    for (size_t i = 0; i < axis->count; i++) letters += strlen(axis->ticks[i].label);
    return letters > NARROW_LETTERS;
}

static void add_ticks(text *page, const chart_axis *axis, const char *class, const char *side)
{
    bool crowded = is_crowded(axis);
    for (size_t i = 0; i < axis->count; i++)
        text_add(page, "<span class=\"tick %s%s\" style=\"%s:%.2f%%\">%s</span>", class,
                 crowded && i % 2 ? " minor" : "", side, 100.0 * place_on(axis, axis->ticks[i].at),
                 axis->ticks[i].label);
    text_add(page, "\n");
}

void chart_frame_end(text *page, const chart_frame *frame)
{
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
        text_add(page, "%s%.5g", k > first ? " " : "", line->points[k].y); /* NaN, which scripts know too */
    text_add(page, "\"");
}

void chart_legend(text *page, const chart_line *lines, size_t count)
{
    text_add(page, "</div>\n<ul class=\"keys\">\n");
    for (size_t i = 0; i < count; i++) {
        text_add(page, "<li");
        chart_line_name(page, lines[i].part, lines[i].style);
        if (lines[i].count) add_numbers(page, &lines[i]);
        text_add(page, "><svg viewBox=\"0 0 28 10\" aria-hidden=\"true\">");
        bool is_bar = !lines[i].count;
        add_look(page, "path", is_bar ? "bar" : lines[i].is_broad ? "line broad" : "line", lines[i].style);
        text_add(page, " d=\"%s\"/></svg><span>", is_bar ? "M9 0h10v10h-10z" : "M1 5h26");
        text_html(page, lines[i].name);
        text_add(page, "</span></li>\n");
    }
    text_add(page, "</ul>\n");
}
