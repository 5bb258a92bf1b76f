/* The figures of runs, in the page and as files: see chart.h. */
#ifndef EENET_RUN_CHART_H
#define EENET_RUN_CHART_H

#include "data/values/text.h"
#include "figure_cells.h"

/* title is the text alternative. */
void run_chart(text *page, const summary_group *group, figure_kind kind, const char *title);

/* Writes the figure into the folder as NAME.svg and NAME.dat. */
ee_status run_figure(const summary_group *group, figure_kind kind, const char *folder, ee_error *error);

/* ` data-line="label-2"` of a cell's row in a table: see chart_line_name. */
void run_chart_line_name(text *page, summary_part part, size_t style);

#endif
