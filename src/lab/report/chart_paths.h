/* What the two ways to write a chart share: places, paths and the looks of lines. */
#ifndef EENET_CHART_PATHS_H
#define EENET_CHART_PATHS_H

#include "chart.h"

/* The size of a frame in units of its paths, fine enough for whole numbers. */
enum { CHART_WIDTH = 3000, CHART_HEIGHT = 1500 };

/* Along an axis from 0 to 1; values outside are limited to what a path can have. */
double chart_place(const chart_axis *axis, double value);

/* In units from the upper left corner of the frame. */
long chart_across(const chart_frame *frame, double x);
long chart_down(const chart_frame *frame, double y);

/* The y of a point as drawn: minus the frame's reference line. */
double chart_value(const chart_frame *frame, const chart_line *line, size_t k);

/* The number of a style's colour, and how often the colours have been used up before it: then the line is dashed, each
 * time in another way. */
size_t chart_colour_number(size_t style);
size_t chart_colour_turn(size_t style);
const char *chart_colour(size_t style); /* on white */

typedef enum chart_shape { CHART_SHAPE_LINE, CHART_SHAPE_BAND, CHART_SHAPE_BAR } chart_shape;

/* Writes the element of a path with its looks, up to and including `d="`. */
typedef void chart_begin_path(text *to, chart_shape shape, const chart_line *line);

/* The bands and lines of a frame, or its bars. */
void chart_frame_draw(text *to, const chart_frame *frame, chart_begin_path *begin);

#endif
