/* The contents of a folder of results (runs, evaluations or both) and its report. */
#ifndef EENET_REPORT_FOLDER_H
#define EENET_REPORT_FOLDER_H

#include "report.h"

typedef struct report_folder {
    stored_runs runs;
    stored_evaluations stored;
    summary all;                   /* of runs */
    evaluation_groups evaluations; /* of stored */
} report_folder;

/* reference: see summary_create. EE_BAD_INPUT if nothing is finished yet. out starts as zeros; release it, also after a
 * failure. */
ee_status report_folder_read(const char *folder, const char *reference, report_folder *out, ee_error *error);
void report_folder_release(report_folder *of);

/* Called after each file is written, with a line for the user. */
typedef void report_progress(const char *line);

/* Writes the tables and figures into the folder, and the page to path (default, if NULL: the folder's report.html).
 * progress may be NULL. */
ee_status report_folder_write(const report_folder *of, const char *folder, const char *path, report_progress *progress,
                              ee_error *error);

#endif
