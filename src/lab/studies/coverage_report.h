/* Results of coverage studies as JSON lines and figures. */
#ifndef EENET_COVERAGE_REPORT_H
#define EENET_COVERAGE_REPORT_H

#include "coverage_study.h"
#include "kept_studies.h"

/* One logging policy on one data set. */
typedef struct coverage_entry {
    const dataset *data;
    size_t training; /* rounds before the pool, and rounds of the pool */
    size_t pool;
    coverage_plan plan;
    coverage_result result;
} coverage_entry;

/* The mean over the candidates, and the least and the largest. */
typedef struct coverage_spread {
    double mean, least, most;
} coverage_spread;

typedef double coverage_number(const coverage_candidate *of, size_t place);
coverage_spread coverage_over_candidates(const coverage_entry *entry, coverage_number *number, size_t place);

/* Numbers of the interval or estimator at a place. */
double coverage_covers(const coverage_candidate *of, size_t place);
double coverage_always(const coverage_candidate *of, size_t place);
double coverage_width(const coverage_candidate *of, size_t place);
double coverage_bias(const coverage_candidate *of, size_t place);
double coverage_error(const coverage_candidate *of, size_t place);

/* One line of JSON with its newline, as stored; free with memory_free(line.bytes). */
text coverage_line(const coverage_entry *entry, ee_error *error);

/* Reads the result if the same study is stored. */
ee_status coverage_find(kept_studies *from, coverage_entry *entry, bool *found, ee_error *error);

/* Stores the result and reads it back, so that the output does not depend on when it was computed. */
ee_status coverage_keep(kept_studies *into, coverage_entry *entry, ee_error *error);

/* Draws coverage and estimator-error into folder/figures. */
ee_status coverage_figures(const coverage_entry *entries, size_t count, const char *folder, ee_error *error);

#endif
