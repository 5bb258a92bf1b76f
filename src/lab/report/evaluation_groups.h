/* Stored evaluations, grouped by log and request for a report; and their CSV. */
#ifndef EENET_EVALUATION_GROUPS_H
#define EENET_EVALUATION_GROUPS_H

#include "evaluate/evaluations/evaluation_file.h"

/* Evaluations of one log with the same request. */
typedef struct evaluation_group {
    const stored_evaluation **rows; /* (count) reliable ones first, then by value (evaluations_lead) */
    size_t count;
    char **labels;  /* (count) names of the candidates */
    size_t *styles; /* (count) the same number for the same name in all groups; see chart.h */
    char *title;    /* the log, and what distinguishes it from other groups of the same log */
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

/* The number of different candidates. */
size_t evaluation_candidates(const evaluation_groups *of);

#endif
