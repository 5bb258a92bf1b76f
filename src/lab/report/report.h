/* A folder of results as a table for programs, figures for papers and a page for people. */
#ifndef EENET_REPORT_H
#define EENET_REPORT_H

#include "report_evaluation.h"
#include "summary.h"

/* One row a cell, in the order of the summary. What is not known is an empty field. The columns are documented in
 * eenet-report(1). */
ee_status report_csv(const summary *of, const char *path, ee_error *error);

/* Writes all figures into the folder; *count is their number. */
ee_status report_figures(const summary *of, const char *folder, size_t *count, ee_error *error);

/* One file of HTML that needs no other. It links to the figures that have been drawn into folder/figures. Either of the
 * two may be empty. */
ee_status report_page(const summary *of, const evaluation_groups *evaluations, const char *folder, const char *path,
                      ee_error *error);

#endif
