/* The table that the parts of the benchmark print. */
#ifndef EENET_REPORT_H
#define EENET_REPORT_H

#include "bench.h"
#include "machine.h"
#include "measure.h"

typedef struct report {
    const bench_request *request;
    machine peak;
    const char *part;  /* as "kernels" */
    const char *title; /* of the rows to come; printed before the first that is wanted */
    bool title_printed, columns_printed;
} report;

/* Begins a part, or goes on in it under another title. The strings are borrowed. */
void report_begin(report *self, const char *part, const char *title);

/* Whether the row, "PART/TITLE/NAME", is to be measured. */
bool report_wants(const report *self, const char *name);

/* A row. Rates and the ratio to the floor are by processor time, which others on the machine change least. needed may
 * be NULL, or not know: then there is nothing to compare with. */
void report_row(report *self, const char *name, const measurement *taken, const work *needed);

/* A row of text. */
__attribute__((format(printf, 3, 4))) void report_say(report *self, const char *name, const char *format, ...);

/* value as "12.34 us". */
typedef struct report_text {
    char text[24];
} report_text;

report_text report_seconds(double value);

/* ---- the parts ---- */

ee_status bench_kernels(report *to, ee_error *error);
ee_status bench_calls(report *to, ee_error *error);
ee_status bench_runs(report *to, ee_error *error);
ee_status bench_growth(report *to, ee_error *error);
ee_status bench_jobs(report *to, ee_error *error);

#endif
