/* A study: on each data set, chooses the settings of each policy on tuning seeds, then runs them on the final seeds. */
#ifndef EENET_STUDY_H
#define EENET_STUDY_H

#include "grid.h"

typedef struct study_plan {
    grid_plan grid;        /* its seeds are the tuning seeds, none of the final ones */
    const uint64_t *seeds; /* (seed_count) */
    size_t seed_count;
    bool ablations; /* the chosen EE-Net with other labels of f2 and other kinds of f3, the paper's, and without f2 */
} study_plan;

/* One setting on one data set. */
typedef struct study_series {
    size_t dataset; /* place in the plan */
    size_t policy;
    grid_choice choice;   /* without options if every setting failed: then no result is finished */
    const char *ablation; /* "label=abs": the option that differs; NULL for the chosen setting */
    run_result *results;  /* (seed_count) */
} study_series;

typedef struct study {
    study_series *series; /* (count) by data set, then by policy; the ablations after all */
    size_t count, capacity;
    bool stopped; /* by the watch, or because other shards have runs: some results are not finished */
} study;

/* site and watch as in experiment_run. out starts as zeros; release it, on failure too. */
ee_status study_run(const study_plan *plan, const experiment_site *site, const run_watch *watch, study *out,
                    ee_error *error);
void study_release(study *out);

/* The job of one run of a series; it borrows from the series and the plan. */
run_job study_job(const study_plan *plan, const study_series *from, size_t seed);

#endif
