/* Counts the runs of a command without playing them, and estimates their time from finished runs.
 *
 * Give the plan's pool to experiment_run, study_run or run_pool_play, with no folder: it takes stored results for runs
 * that the folders have, and counts the others, as if each had finished with regret 0. A call to the pool is a stage:
 * its runs end before those of the next begin. */
#ifndef EENET_RUN_PLAN_H
#define EENET_RUN_PLAN_H

#include "experiment.h"
#include "lab/results/run_index.h"
#include "lab/results/run_times.h"

typedef struct run_plan {
    size_t tuning, final; /* runs */
    size_t stored;        /* of both, those that the folders have */
    size_t workers;       /* runs at a time */
    double seconds;       /* of processor time of the others; NaN: unknown, because a policy has no finished run */
    double parallel;      /* seconds with that number of workers */
    double least;         /* with any number of workers: the longest run of each stage */

    stored_runs runs;
    run_index index;
    run_times times;
} run_plan;

/* Reads the site's folders, which need not exist. out starts as zeros, and is to be released, on failure too. */
ee_status run_plan_start(const experiment_site *site, size_t workers, run_plan *out, ee_error *error);
void run_plan_release(run_plan *self);

run_pool run_plan_pool(run_plan *self);

#endif
