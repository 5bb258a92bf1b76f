/* The table that the parts of the benchmark print. */
#ifndef EENET_BENCH_REPORT_H
#define EENET_BENCH_REPORT_H

#include "bench.h"
#include "machine.h"
#include "measure.h"

typedef struct bench_report {
    const bench_request *request;
    machine peak;
    const char *part;  /* as "kernels" */
    const char *title; /* of the rows to come; printed before the first that is wanted */
    bool title_printed, columns_printed;
} bench_report;

/* Begins a part, or goes on in it under another title. The strings are borrowed. */
void bench_report_begin(bench_report *self, const char *part, const char *title);

/* Whether the row, "PART/TITLE/NAME", is to be measured. */
bool bench_report_wants(const bench_report *self, const char *name);

/* A row. Rates and the ratio to the floor are by processor time, which others on the machine change least. needed may
 * be NULL, or not know: then there is nothing to compare with. */
void bench_report_row(bench_report *self, const char *name, const measurement *taken, const work *needed);

/* A row of text. */
__attribute__((format(printf, 3, 4))) void bench_report_say(bench_report *self, const char *name, const char *format,
                                                            ...);

/* value as "12.34 us". */
typedef struct bench_report_text {
    char text[24];
} bench_report_text;

bench_report_text bench_report_seconds(double value);

/* ---- the parts ---- */

ee_status bench_kernels(bench_report *to, ee_error *error);
ee_status bench_json(bench_report *to, ee_error *error);
ee_status bench_calls(bench_report *to, ee_error *error);
ee_status bench_features(bench_report *to, ee_error *error);
ee_status bench_runs(bench_report *to, ee_error *error);
ee_status bench_growth(bench_report *to, ee_error *error);
ee_status bench_jobs(bench_report *to, ee_error *error);
ee_status bench_estimators(bench_report *to, ee_error *error);

#endif
