/* A chart as an SVG file. */
#include "chart_svg.h"

#include <math.h>

#include "base/file.h"
#include "base/memory.h"
#include "chart_paths.h"

enum {
    PIXEL = 5, /* units of a path */
    WIDTH = CHART_WIDTH / PIXEL,
    HEIGHT = CHART_HEIGHT / PIXEL,
    LEFT = 70,  /* of a frame: the labels of its ticks */
    ABOVE = 32, /* the title of its y axis */
    BELOW = 48, /* labels, and the title of its x axis */
    SAMPLE = 30 /* width of a line in the legend */
};

/* ---- files ---- */

void svg_begin(text *svg, double width, double height)
{
    text_add(svg,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
             "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222222\">\n"
             "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
             width, height, width, height);
}

void svg_label(text *svg, double x, double y, const char *anchor, const char *words)
{
    text_add(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    text_html(svg, words);
    text_add(svg, "</text>\n");
}

double svg_width(const char *words)
{
    double characters = 0;
    for (; *words; words++) characters += (*words & 0xC0) != 0x80; /* of UTF-8 */
    return 7.8 * characters;
}

static ee_status save(text *from, const char *folder, const char *name, const char *ending)
{
    text path = text_start(from->error);
    text_add(&path, "%s/%s%s", folder, name, ending);
    if (!from->status) from->status = path.status;
    ee_status status = text_save(from, path.bytes);
    memory_free(path.bytes);
    return status;
}

ee_status svg_save(text *svg, text *data, const char *folder, const char *name)
{
    text_add(svg, "</svg>\n");
    ee_status status = file_make_folder(folder, svg->error), saved;
    if (!svg->status) svg->status = status;
    if (!data->status) data->status = status;
    status = save(svg, folder, name, ".svg");
    saved = save(data, folder, name, ".dat");
    return status ? status : saved;
}

/* ---- frames ---- */

static void begin_path(text *svg, chart_shape shape, const chart_line *line)
{
    static const char *const dashes[] = {"", "30 20", "8 18", "40 15 8 15"};
    const char *colour = chart_colour(line->style);
    size_t turn = line->style == CHART_PLAIN ? 2 : chart_colour_turn(line->style) % 4;
    if (shape == CHART_SHAPE_BAND) {
        text_add(svg, "<path fill=\"%s\" fill-opacity=\"0.11\" d=\"", colour);
    } else if (shape == CHART_SHAPE_BAR) {
        text_add(svg, "<path fill=\"%s\" fill-opacity=\"%s\" stroke=\"%s\" stroke-width=\"7\" d=\"", colour,
                 turn ? "0.25" : "0.85", turn ? colour : "none");
    } else {
        text_add(svg, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%d\" stroke-linejoin=\"round\"", colour,
                 line->is_broad ? 20 : 8);
        if (turn) text_add(svg, " stroke-dasharray=\"%s\"", dashes[turn]);
        text_add(svg, " d=\"");
    }
}

/* A mark on the line: lines can be told apart without colours too. */
static void add_mark(text *svg, size_t style, long x, long y)
{
    static const char *const marks[] = {"m-22 0a22 22 0 1 0 44 0a22 22 0 1 0-44 0z", "m-19-19h38v38h-38z",
                                        "m0-26 24 42h-48z", "m0-27 27 27-27 27-27-27z", "m0 26 24-42h-48z"};
    text_add(svg, "M%ld %ld%s", x, y, marks[style % (sizeof marks / sizeof marks[0])]);
}

/* Each line has its marks at different places, so that they do not cover each other. */
static void add_marks(text *svg, const chart_frame *frame, const chart_line *line, size_t turn)
{
    enum { MARKS = 7 };
    size_t step = line->count / MARKS + 1;
    text_add(svg, "<path fill=\"%s\" d=\"", chart_colour(line->style));
    for (size_t k = (turn * step * 3 / MARKS + step / 2) % step; k < line->count; k += step) {
        double y = chart_value(frame, line, k);
        if (isfinite(y)) add_mark(svg, line->style, chart_across(frame, line->points[k].x), chart_down(frame, y));
    }
    text_add(svg, "\"/>\n");
}

static void add_paths(text *svg, const chart_frame *frame)
{
    text_add(svg, "<path fill=\"none\" stroke=\"#e3e3e3\" stroke-width=\"4\" d=\"");
    for (size_t i = 0; i < frame->y.count; i++)
        text_add(svg, "M0 %ldh%d", chart_down(frame, frame->y.ticks[i].at), CHART_WIDTH);
    text_add(svg, "\"/>\n");
    if (!frame->y.is_log && frame->y.low < 0.0)
        text_add(svg, "<path stroke=\"#555555\" stroke-width=\"5\" d=\"M0 %ldh%d\"/>\n", chart_down(frame, 0.0),
                 CHART_WIDTH);
    text_add(svg, "<g clip-path=\"url(#frame)\">\n");
    chart_frame_draw(svg, frame, begin_path);
    for (size_t i = frame->count; i-- > 0 && !frame->bars;)
        if (frame->lines[i].style != CHART_PLAIN) add_marks(svg, frame, &frame->lines[i], i);
    text_add(svg, "</g>\n<path fill=\"none\" stroke=\"#555555\" stroke-width=\"5\" d=\"M0 0V%dH%d", CHART_HEIGHT,
             CHART_WIDTH);
    for (size_t i = 0; i < frame->x.count; i++)
        text_add(svg, "M%ld %dv25", chart_across(frame, frame->x.ticks[i].at), CHART_HEIGHT);
    text_add(svg, "\"/>\n");
}

static void add_frame(text *svg, const chart_frame *frame, double top)
{
    text_add(svg, "<g transform=\"translate(%d %.0f) scale(%g)\">\n", LEFT, top, 1.0 / PIXEL);
    add_paths(svg, frame);
    text_add(svg, "</g>\n");
    svg_label(svg, 10, top - 13, "start", frame->y.title);
    for (size_t i = 0; i < frame->y.count; i++)
        svg_label(svg, LEFT - 8, top + HEIGHT * (1 - chart_place(&frame->y, frame->y.ticks[i].at)) + 4, "end",
                  frame->y.ticks[i].label);
    for (size_t i = 0; i < frame->x.count; i++)
        svg_label(svg, LEFT + WIDTH * chart_place(&frame->x, frame->x.ticks[i].at), top + HEIGHT + 20, "middle",
                  frame->x.ticks[i].label);
    svg_label(svg, LEFT + WIDTH / 2.0, top + HEIGHT + 39, "middle", frame->x.title);
}

static void add_legend(text *svg, const chart_frame *frame, double left)
{
    for (size_t i = 0; i < frame->count; i++) {
        const chart_line *line = &frame->lines[i];
        double middle = ABOVE + SVG_LINE * ((double)i + 0.5);
        text_add(svg, "<g transform=\"translate(%.1f %.1f) scale(%g)\">", left, middle, 1.0 / PIXEL);
        begin_path(svg, frame->bars ? CHART_SHAPE_BAR : CHART_SHAPE_LINE, line);
        text_add(svg, frame->bars ? "M0-25h%dv50h-%dz\"/>" : "M0 0h%d\"/>", SAMPLE * PIXEL, SAMPLE * PIXEL);
        if (!frame->bars && line->style != CHART_PLAIN) {
            text_add(svg, "<path fill=\"%s\" d=\"", chart_colour(line->style));
            add_mark(svg, line->style, SAMPLE * PIXEL / 2, 0);
            text_add(svg, "\"/>");
        }
        text_add(svg, "</g>\n");
        svg_label(svg, left + SAMPLE + 8, middle + 4, "start", line->name);
    }
}

/* ---- numbers ---- */

/* A block per line, with an empty line before and after, as gnuplot, pgfplots and numpy read them. */
static void add_numbers(text *data, const chart_frame *frame)
{
    for (size_t i = 0; i < frame->count; i++) {
        const chart_line *line = &frame->lines[i];
        text_add(data, "%s# %s: %s, %s, low, high\n", data->length ? "\n\n" : "", line->name, frame->x.title,
                 frame->y.title);
        for (size_t k = 0; k < line->count; k++) {
            const chart_point *point = &line->points[k];
            text_add(data, "%.9g %.8g %.8g %.8g\n", point->x, point->y, point->low, point->high);
        }
    }
}

/* ---- the whole ---- */

static bool is_drawn(const chart_frame *frame)
{
    return frame->view != CHART_LOG;
}

ee_status chart_save(const chart *of, const char *folder, ee_error *error)
{
    text svg = text_start(error), data = text_start(error);
    double frames = 0, longest = 0, left = LEFT + WIDTH + 24;
    const chart_frame *first = &of->frames[0];
    for (size_t i = 0; i < of->count; i++) frames += is_drawn(&of->frames[i]);
    for (size_t i = 0; i < first->count; i++) longest = fmax(longest, svg_width(first->lines[i].name));
    svg_begin(&svg, left + SAMPLE + 8 + longest,
              fmax(frames * (ABOVE + HEIGHT + BELOW), ABOVE + SVG_LINE * ((double)first->count + 1)));
    text_add(&svg, "<clipPath id=\"frame\"><rect width=\"%d\" height=\"%d\"/></clipPath>\n", CHART_WIDTH, CHART_HEIGHT);
    frames = 0;
    for (size_t i = 0; i < of->count; i++) {
        const chart_frame *frame = &of->frames[i];
        if (!is_drawn(frame)) continue;
        add_frame(&svg, frame, frames++ * (ABOVE + HEIGHT + BELOW) + ABOVE);
        if (!frame->less) add_numbers(&data, frame);
    }
    add_legend(&svg, first, left);
    return svg_save(&svg, &data, folder, of->name);
}
