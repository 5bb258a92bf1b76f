/* The figures of runs as charts of the page: see chart.h. */
#ifndef EENET_RUN_CHART_H
#define EENET_RUN_CHART_H

#include "data/values/text.h"
#include "figure_cells.h"

/* title is the text alternative. */
void run_chart(text *page, const summary_group *group, figure_kind kind, const char *title);

/* ` data-line="label-2"` of a cell's row in a table: see chart_line_name. */
void run_chart_line_name(text *page, summary_part part, size_t style);

#endif
