/* Charts: described once as frames with lines or bars, then written as part of an HTML page (chart_page) or as an SVG
 * file for papers and other pages (chart_save). */
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
    double low, high; /* low < high; both above zero if it is logarithmic */
    bool is_log;
    chart_tick ticks[CHART_TICKS]; /* (count) */
    size_t count;
} chart_axis;

/* An axis with ticks at round numbers. */
chart_axis chart_linear(const char *title, double low, double high);
chart_axis chart_logarithmic(const char *title, double low, double high);

/* Adds a tick with a label. */
__attribute__((format(printf, 3, 4))) void chart_tick_add(chart_axis *axis, double at, const char *format, ...);

enum { CHART_PLAIN = 1 << 20 };

/* y is NaN in a gap; low and high are NaN if there is no band. */
typedef struct chart_point {
    double x, y, low, high;
} chart_point;

typedef struct chart_line {
    const char *part;          /* with the style it identifies the line in the page, as in "label-2" */
    size_t style;              /* number of its colour and dashes; CHART_PLAIN: grey and dotted */
    bool is_broad;             /* and below all others */
    const char *name;          /* in the legend */
    const chart_point *points; /* (count) borrowed */
    size_t count;
} chart_line;

typedef enum chart_view {
    CHART_ALWAYS,
    CHART_LINEAR, /* shown until the switch is on */
    CHART_LOG     /* shown when it is on; not in files */
} chart_view;

typedef struct chart_frame {
    const char *title; /* text alternative */
    chart_view view;
    bool is_low;             /* less high than other frames of the page */
    const chart_line *less;  /* lines are drawn minus this one, which has the same x; NULL: as they are */
    const char *bars;        /* unit of the values, drawn as bars side by side around each x; NULL: lines */
    const chart_line *lines; /* (count) borrowed; the first on top */
    size_t count;
    chart_axis x, y;
} chart_frame;

enum { CHART_FRAMES = 3 };

typedef struct chart {
    const char *name; /* of the file, and unique in the page */
    chart_frame frames[CHART_FRAMES];
    size_t count; /* of frames; the legend has the lines of the first */
} chart;

/* Adds the chart to a page. It fills the available width, in the colours of the page, and is complete without scripts;
 * page_assets/report.js adds the values under the pointer. A switch shows the frames with logarithmic axes. */
void chart_page(text *page, const chart *of);

/* Writes NAME.svg and NAME.dat, the numbers of its lines, into the folder, which is created if missing. */
ee_status chart_save(const chart *of, const char *folder, ee_error *error);

/* ` data-line="label-2"`: pointing at an element with it highlights the line, and the other way round. */
void chart_line_name(text *page, const char *part, size_t style);

/* A sample of the colour of a style, for a table. */
void chart_swatch(text *page, size_t style);

/* `--line-0:#d55e00;` and so on, for a style sheet: the colours on a white or a dark background. */
void chart_colours(text *sheet, bool dark);

#endif
