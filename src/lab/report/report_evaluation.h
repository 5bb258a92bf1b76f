/* The evaluations of a report: figures, and sections of the page. */
#ifndef EENET_REPORT_EVALUATION_H
#define EENET_REPORT_EVALUATION_H

#include "evaluation_groups.h"
#include "figure_link.h"

/* Writes all figures into the folder; adds their number to *count. */
ee_status evaluation_figures(const evaluation_groups *of, const char *folder, size_t *count, ee_error *error);

/* The values over time; and the weights, with the overlap of the candidates' choices with the log. */
typedef enum evaluation_figure {
    EVALUATION_FIGURE_VALUE,
    EVALUATION_FIGURE_WEIGHTS,
    EVALUATION_FIGURES
} evaluation_figure;

/* "value-log-1", to be freed with memory_free. */
ee_status evaluation_figure_name(const evaluation_group *group, evaluation_figure which, char **out, ee_error *error);

/* As a chart of the page; see chart.h. Table rows that belong to a line of the chart have this part. */
#define EVALUATION_PART "candidate"
void evaluation_chart(text *page, const evaluation_group *group, evaluation_figure which, const char *title);

/* Links to the sections, and the sections. */
void evaluation_links(text *page, const evaluation_groups *of);
void evaluation_sections(text *page, const evaluation_groups *of, const char *results);

#endif
