/* From runs to a bandit that somebody uses: which of several did best, and what it knew at the end of its run. */
#ifndef EENET_TRAINING_H
#define EENET_TRAINING_H

#include "runner.h"

/* Whichever of the series, each of so many runs, has the least mean regret; the first of equals. count where no series
 * has all its runs: a mean over other seeds compares with nothing. */
ee_status training_best(const run_result *const *series, size_t count, size_t runs, size_t *best, ee_error *error);

/* Plays the job once more and saves its bandit as it is after the last round: the very bandit of that run. Where the
 * watch ended the run, nothing is saved and result->finished is false. */
ee_status training_save(const run_job *job, const char *path, const run_watch *watch, run_result *result,
                        ee_error *error);

#endif
