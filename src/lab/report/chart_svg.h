/* Pieces of an SVG file: plain attributes, which every viewer and converter understands. */
#ifndef EENET_CHART_SVG_H
#define EENET_CHART_SVG_H

#include "data/values/text.h"

enum { SVG_LINE = 20 }; /* height of a line of text */

/* Writes the head of the file: the size in pixels, the font and a white background. */
void svg_begin(text *svg, double width, double height);

/* anchor: start, middle or end; y is the baseline. */
void svg_label(text *svg, double x, double y, const char *anchor, const char *words);

/* An upper estimate of the width of a label. */
double svg_width(const char *words);

/* Ends the file and writes NAME.svg and NAME.dat into the folder, which is created if missing. Frees both texts. */
ee_status svg_save(text *svg, text *data, const char *folder, const char *name);

#endif
