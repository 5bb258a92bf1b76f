/* How long runs take, learned from finished ones. Policies differ by a factor of a thousand, so each setting (data set,
 * policy, options) is timed separately. */
#ifndef EENET_RUN_TIMES_H
#define EENET_RUN_TIMES_H

#include "results.h"

typedef struct timed_setting {
    uint64_t data, policy, options; /* checksums */
    double rounds, seconds;         /* sums over its runs, in processor time; a round with K slots counts K times */
    double unfinished, longest;     /* rounds of all jobs that are still to be done, and of the longest job */
} timed_setting;

/* Starts as zeros. */
typedef struct run_times {
    timed_setting *settings; /* (count) */
    size_t count, capacity;
} run_times;

/* Adds stored runs. */
ee_status run_times_learn(run_times *self, const stored_runs *runs, ee_error *error);

/* Adds a job that is still to be done; *place is its setting. options: as in stored runs, every option with its value,
 * or the same form for all jobs; NULL is as "". */
ee_status run_times_expect(run_times *self, const run_job *job, const char *options, size_t *place, ee_error *error);

/* This number of rounds of a job in units of the times. */
double run_times_rounds(const run_job *job, uint64_t rounds);

/* Seconds of processor time of a round of a setting: the mean of its runs, otherwise of its policy's on the data set,
 * otherwise of its policy's, otherwise, if any, of all. NaN if there are none. */
double run_times_round(const run_times *self, const timed_setting *of, bool any);

/* Seconds for all unfinished rounds, and for the longest job. */
double run_times_left(const run_times *self, bool any, double *longest);

void run_times_release(run_times *self);

#endif
