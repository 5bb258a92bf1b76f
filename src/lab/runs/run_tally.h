/* Results of the jobs of a pool, and their progress. Not thread-safe. */
#ifndef EENET_RUN_TALLY_H
#define EENET_RUN_TALLY_H

#include "runner.h"

typedef struct run_tally {
    const run_job *jobs; /* (count) */
    run_result *results; /* (count) */
    size_t count;
    uint64_t rounds;       /* of all jobs */
    size_t ended;          /* jobs */
    uint64_t ended_rounds; /* all requested rounds of these */
    size_t first_failed;   /* place in jobs; count if none failed */
    ee_error failure;      /* its error */
} run_tally;

/* Before the first run: sets all results to zero. */
run_tally run_tally_start(const run_job *jobs, size_t count, run_result *results);

/* The job has ended; error is the reason if it failed. */
void run_tally_end(run_tally *self, const run_job *job, const run_result *result, const ee_error *error);

/* runs are those that run now, borrowed by the standing; seconds since the start. */
run_standing run_tally_standing(const run_tally *self, const run_playing *runs, size_t running, double seconds);

/* The status and error of the first job in the list that failed. */
ee_status run_tally_status(const run_tally *self, ee_error *error);

#endif
