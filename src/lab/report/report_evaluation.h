/* The evaluations of a report: CSV, figures, and sections of the page. */
#ifndef EENET_REPORT_EVALUATION_H
#define EENET_REPORT_EVALUATION_H

#include "data/values/text.h"
#include "evaluate/evaluations/evaluation_file.h"
#include "report_place.h"

/* Evaluations of one log with the same request. */
typedef struct evaluation_group {
    const stored_evaluation **rows; /* (count) reliable ones first, then by value (evaluations_lead) */
    size_t count;
    char **labels;  /* (count) names of the candidates */
    size_t *styles; /* (count) the same number for the same name in all groups; see chart.h */
    char *title;    /* the log, and what tells it from other groups of the same log */
    char file[24];  /* "log-1", in links and in the names of files */
} evaluation_group;

typedef struct evaluation_groups {
    evaluation_group *groups; /* (count) in the order of the lines */
    size_t count, capacity;
} evaluation_groups;

/* from must outlive out. out starts as zeros; release it, also after a failure. */
ee_status evaluation_groups_create(const stored_evaluations *from, evaluation_groups *out, ee_error *error);
void evaluation_groups_release(evaluation_groups *self);

/* One row per candidate and estimator. The columns are documented in eenet-report(1). */
ee_status evaluation_csv(const evaluation_groups *of, const char *path, ee_error *error);

/* Writes all figures into the folder; adds their number to *count. */
ee_status evaluation_figures(const evaluation_groups *of, const char *folder, size_t *count, ee_error *error);

/* The values over time; and the weights, with where the candidate's choices lie. */
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

/* How many different candidates there are. */
size_t evaluation_candidates(const evaluation_groups *of);

/* Links to the sections, and the sections. */
void evaluation_links(text *page, const evaluation_groups *of);
void evaluation_sections(text *page, const evaluation_groups *of, const report_place *place);

#endif
