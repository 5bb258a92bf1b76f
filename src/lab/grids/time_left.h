/* How much of the work of many runs is done, and how long the rest takes, by extrapolation from finished runs and those
 * that run now. */
#ifndef EENET_TIME_LEFT_H
#define EENET_TIME_LEFT_H

#include "lab/results/job_keys.h"
#include "lab/results/run_times.h"

typedef struct time_left {
    const run_job *jobs; /* (count) */
    run_times times;
    size_t *settings; /* (count) of each job: its place in times */
    double done;      /* seconds of processor time of the jobs that have ended */
    double spent;     /* those of them that ran in this call */
    double share;     /* the last one that was reported */
} time_left;

/* The jobs are borrowed. keys are those of the jobs, or have no entries. out is to be released, on failure too. */
ee_status time_left_start(const run_job *jobs, size_t count, const job_keys *keys, time_left *out, ee_error *error);
void time_left_release(time_left *self);

/* A job has ended, or (stored) does not run in this call. */
void time_left_end(time_left *self, size_t place, const run_result *result, bool stored);

/* Fills in the share and the seconds left of a standing of these jobs. The share never decreases. */
void time_left_estimate(time_left *self, run_standing *now);

#endif
