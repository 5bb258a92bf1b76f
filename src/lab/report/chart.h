/* Charts of a page: SVG that fills whatever width there is, in the colours of the page, with words of the page's own
 * size around it. A chart is complete without scripts; page_assets/report.js reads the numbers of the lines from the
 * legend and tells them where the pointer is.
 *
 * A chart is chart_begin, frames with what is drawn in them, chart_legend, chart_end. */
#ifndef EENET_CHART_H
#define EENET_CHART_H

#include "data/values/text.h"

enum { CHART_TICKS = 40 };

typedef struct chart_tick {
    double at;
    char label[16];
} chart_tick;

typedef struct chart_axis {
    const char *title;
    double low, high; /* low < high; both above zero where it is logarithmic */
    bool is_log;
    chart_tick ticks[CHART_TICKS]; /* (count) */
    size_t count;
} chart_axis;

/* An axis with ticks at round numbers. */
chart_axis chart_linear(const char *title, double low, double high);
chart_axis chart_logarithmic(const char *title, double low, double high);

/* To an axis whose ticks have names. */
__attribute__((format(printf, 3, 4))) void chart_tick_add(chart_axis *axis, double at, const char *format, ...);

enum { CHART_PLAIN = 1 << 20 };

/* y is NaN where there is a gap, low and high where there is no band. */
typedef struct chart_point {
    double x, y, low, high;
} chart_point;

typedef struct chart_line {
    const char *part;          /* with the style it names the line in the page, as in "label-2" */
    size_t style;              /* see drawing.h; CHART_PLAIN: grey and dotted */
    bool is_broad;             /* and below all others */
    const char *name;          /* for people */
    const chart_point *points; /* (count) borrowed */
    size_t count;
} chart_line;

typedef enum chart_view {
    CHART_ALWAYS,
    CHART_LINEAR, /* shown until the switch is on */
    CHART_LOG     /* shown when it is on */
} chart_view;

typedef struct chart_frame {
    const char *title; /* text alternative */
    chart_view view;
    bool is_low;            /* less high than others */
    const chart_line *less; /* lines are drawn less this one, which has the same x; NULL: as they are */
    chart_axis x, y;
} chart_frame;

/* name is the figure's, and unlike all others of the page. With has_log there is a switch for logarithmic axes. */
void chart_begin(text *page, const char *name, bool has_log);
void chart_end(text *page);

void chart_frame_begin(text *page, const chart_frame *frame);
void chart_frame_end(text *page, const chart_frame *frame);

/* In a frame: the bands, then the lines, the first on top and the broad one below all; or bars around the points of a
 * line, so wide. */
void chart_lines(text *page, const chart_frame *frame, const chart_line *lines, size_t count);
void chart_bars(text *page, const chart_frame *frame, const chart_line *line, double width, const char *unit);

/* A line without points is one of bars, which tell their numbers themselves. */
void chart_legend(text *page, const chart_line *lines, size_t count);

/* ` data-line="label-2"`: pointing at an element that has it shows the line, and the other way round. */
void chart_line_name(text *page, const char *part, size_t style);

/* The colour of a style, in a table. */
void chart_swatch(text *page, size_t style);

#endif
