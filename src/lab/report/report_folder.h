/* All that a folder of results holds, runs, evaluations or both, and its report. */
#ifndef EENET_REPORT_FOLDER_H
#define EENET_REPORT_FOLDER_H

#include "report.h"

typedef struct report_folder {
    stored_runs runs;
    stored_evaluations stored;
    summary all;                   /* of the runs */
    evaluation_groups evaluations; /* of what is stored */
} report_folder;

/* reference is as in summary_create. EE_BAD_INPUT where nothing is finished yet. out starts as zeros, and is to be
 * released, on failure too. */
ee_status report_folder_read(const char *folder, const char *reference, report_folder *out, ee_error *error);
void report_folder_release(report_folder *of);

/* Writes the tables and figures into the folder, and the page to path; NULL: the folder's report.html. told, unless
 * NULL, gets a line about each part as soon as it is there. */
ee_status report_folder_write(const report_folder *of, const char *folder, const char *path,
                              void (*told)(const char *line), ee_error *error);

#endif
