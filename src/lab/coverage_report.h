/* What studies of coverage found, as lines for programs and figures for people. */
#ifndef EENET_COVERAGE_REPORT_H
#define EENET_COVERAGE_REPORT_H

#include "coverage_study.h"
#include "kept_studies.h"

/* One behaviour on one data set. */
typedef struct coverage_entry {
    const dataset *data;
    size_t training; /* of the pool, and how many rounds that has */
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

/* Each gives one number of an interval or an estimator by its place. */
double coverage_covers(const coverage_candidate *of, size_t place);
double coverage_always(const coverage_candidate *of, size_t place);
double coverage_width(const coverage_candidate *of, size_t place);
double coverage_bias(const coverage_candidate *of, size_t place);
double coverage_error(const coverage_candidate *of, size_t place);

/* One line of JSON, newline included, as it is kept; to be freed with memory_free(line.bytes). */
text coverage_line(const coverage_entry *entry, ee_error *error);

/* Reads the result where the same study is kept, and says whether it is. */
ee_status coverage_find(kept_studies *from, coverage_entry *entry, bool *found, ee_error *error);

/* Keeps the result, and reads it back: so what is told of a study does not depend on when it was played. */
ee_status coverage_keep(kept_studies *into, coverage_entry *entry, ee_error *error);

/* Draws coverage and estimator-error into folder/figures. */
ee_status coverage_figures(const coverage_entry *entries, size_t count, const char *folder, ee_error *error);

#endif
