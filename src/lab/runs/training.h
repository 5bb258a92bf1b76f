/* From runs to a saved bandit: the best of several, as it was at the end of its run. */
#ifndef EENET_TRAINING_H
#define EENET_TRAINING_H

#include "runner.h"

/* A policy with its settings, and what they came to. */
typedef struct training_candidate {
    run_job job;               /* of its first seed */
    const run_result *results; /* one for each seed */
} training_candidate;

/* The lowest mean regret over all seeds; the first if equal. count if none has finished all its runs: means over
 * different seeds cannot be compared. */
ee_status training_best(const training_candidate *candidates, size_t count, size_t seeds, size_t *best,
                        ee_error *error);

/* Plays the job once more and saves its bandit as it is after the last round: the very bandit of that run. Where the
 * watch ended the run, nothing is saved and result->finished is false. */
ee_status training_save(const run_job *job, const char *path, const run_watch *watch, run_result *result,
                        ee_error *error);

#endif
