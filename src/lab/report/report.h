/* The report of a folder of results: a CSV table, figures and an HTML page. */
#ifndef EENET_REPORT_H
#define EENET_REPORT_H

#include "report_evaluation.h"
#include "summary.h"

/* One row per cell, in the order of the summary; unknown values are empty. The columns are documented in
 * eenet-report(1). */
ee_status report_csv(const summary *of, const char *path, ee_error *error);

/* Writes all figures into the folder; *count is their number. */
ee_status report_figures(const summary *of, const char *folder, size_t *count, ee_error *error);

/* A self-contained HTML file with links to the figures in folder/figures. Either of the two may be empty. */
ee_status report_page(const summary *of, const evaluation_groups *evaluations, const char *folder, const char *path,
                      ee_error *error);

#endif
