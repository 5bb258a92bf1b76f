#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "chart_paths.h"

/* Points of a line or of a band that are nearer to each other are left out. */
enum { LINE_GAP = CHART_WIDTH / 400, BAND_GAP = CHART_WIDTH / 150 };

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

double chart_place(const chart_axis *axis, double value)
{
    double place = (value - axis->low) / (axis->high - axis->low);
    if (axis->is_log) place = value > 0.0 ? log(value / axis->low) / log(axis->high / axis->low) : -1.0;
    return fmin(fmax(place, axis->is_log ? -1.0 : -1000.0), 1000.0);
}

long chart_across(const chart_frame *frame, double x)
{
    return lround(CHART_WIDTH * chart_place(&frame->x, x));
}

long chart_down(const chart_frame *frame, double y)
{
    return lround(CHART_HEIGHT * (1.0 - chart_place(&frame->y, y)));
}

double chart_value(const chart_frame *frame, const chart_line *line, size_t k)
{
    return line->points[k].y - (frame->less ? frame->less->points[k].y : 0.0);
}

/* ---- colours ---- */

/* Okabe and Ito's colours, which colour-blind readers can distinguish, without the yellow, which is too pale on white,
 * and with a grey. The first is only for the reference. On a dark page they are lighter, and the black is white. */
static const struct {
    const char *light, *dark;
} colours[] = {{"#d55e00", "#f5853a"}, {"#0072b2", "#4a9be8"}, {"#009e73", "#2fc197"}, {"#cc79a7", "#e79cc6"},
               {"#e69f00", "#f2be4a"}, {"#56b4e9", "#9bdcff"}, {"#000000", "#f4f4f4"}, {"#888888", "#939dab"}};

enum { COLOURS = sizeof colours / sizeof colours[0] };

size_t chart_colour_turn(size_t style)
{
    return style ? (style - 1) / (COLOURS - 1) : 0;
}

size_t chart_colour_number(size_t style)
{
    return style ? 1 + (style - 1) % (COLOURS - 1) : 0;
}

const char *chart_colour(size_t style)
{
    return style == CHART_PLAIN ? "#555555" : colours[chart_colour_number(style)].light;
}

void chart_colours(text *sheet, bool dark)
{
    for (size_t i = 0; i < COLOURS; i++)
        text_add(sheet, "--line-%zu:%s;", i, dark ? colours[i].dark : colours[i].light);
}

/* ---- paths ---- */

/* Writes a path in relative steps. */
typedef struct pen {
    text *to;
    long x, y;
    bool draws; /* false: the next step moves without a line */
} pen;

static void pen_to(pen *by, long x, long y)
{
    long right = x - by->x, below = y - by->y;
    text_add(by->to, "%s%ld%s%ld", !by->draws ? "m" : right < 0 ? "" : " ", right, below < 0 ? "" : " ", below);
    by->x = x;
    by->y = y;
    by->draws = true;
}

static void draw_line(text *to, const chart_frame *frame, const chart_line *line, chart_begin_path *begin)
{
    pen by = {.to = to};
    begin(to, CHART_SHAPE_LINE, line);
    for (size_t k = 0; k < line->count; k++) {
        double y = chart_value(frame, line, k);
        long x = chart_across(frame, line->points[k].x);
        if (!isfinite(y))
            by.draws = false;
        else if (!by.draws || x - by.x >= LINE_GAP || k + 1 == line->count)
            pen_to(&by, x, chart_down(frame, y));
    }
    text_add(to, "\"/>\n");
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
        long x = chart_across(frame, point->x);
        bool is_end = i == 0 || i + 1 == line->count;
        if (!isfinite(y) || (begun && !is_end && labs(x - last) < BAND_GAP)) continue;
        pen_to(by, x, chart_down(frame, y));
        last = x;
        begun = true;
    }
}

static void draw_band(text *to, const chart_frame *frame, const chart_line *line, chart_begin_path *begin)
{
    pen by = {.to = to};
    begin(to, CHART_SHAPE_BAND, line);
    draw_side(&by, frame, line, true);
    draw_side(&by, frame, line, false);
    text_add(to, "z\"/>\n");
}

static void draw_bars(text *to, const chart_frame *frame, size_t place, chart_begin_path *begin)
{
    const double all = 0.84; /* width of the bars at one x */
    const chart_line *line = &frame->lines[place];
    double width = all / (double)frame->count, from = width * ((double)place + 0.5) - 0.5 * all;
    for (size_t k = 0; k < line->count; k++) {
        double x = line->points[k].x + from, y = line->points[k].y;
        if (!(y > 0.0)) continue;
        begin(to, CHART_SHAPE_BAR, line);
        text_add(to, "M%ld %dV%ldH%ldV%dz\"><title>", chart_across(frame, x - 0.5 * width), CHART_HEIGHT,
                 chart_down(frame, y), chart_across(frame, x + 0.5 * width), CHART_HEIGHT);
        text_html(to, line->name);
        text_add(to, ": %.1f%s</title></path>\n", y, frame->bars);
    }
}

void chart_frame_draw(text *to, const chart_frame *frame, chart_begin_path *begin)
{
    const chart_line *lines = frame->lines;
    for (size_t i = 0; i < frame->count && frame->bars; i++) draw_bars(to, frame, i, begin);
    if (frame->bars) return;
    for (size_t i = frame->count; i-- > 0 && !frame->less;)
        if (has_band(&lines[i])) draw_band(to, frame, &lines[i], begin);
    for (size_t i = 0; i < frame->count; i++)
        if (lines[i].is_broad) draw_line(to, frame, &lines[i], begin);
    for (size_t i = frame->count; i-- > 0;)
        if (!lines[i].is_broad) draw_line(to, frame, &lines[i], begin);
}
