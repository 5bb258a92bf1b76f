/* Plays policies through the rounds of a data set and adds up what it costs them. */
#ifndef EENET_RUNNER_H
#define EENET_RUNNER_H

#include <stdbool.h>

#include "environment.h"

/* One run: what it plays and for how long. The strings and the data set are borrowed. */
typedef struct run_job {
    const dataset *data;
    const char *policy;
    const char *options; /* as in ee_settings; NULL: none */
    uint64_t seed;       /* of the rounds and of the policy; each draws from streams of its own */
    uint64_t rounds;
} run_job;

typedef struct run_result {
    ee_status status; /* why it failed, or EE_OK */
    bool finished;    /* all rounds were played */
    uint64_t rounds;  /* played */
    uint64_t optimal; /* rounds in which no arm had a better expected reward than the one played */
    double regret;    /* sum over the rounds: the best expected reward less that of the arm played */
    double reward;    /* sum of the rewards received */
    double seconds;   /* of processor time, creating the policy and drawing the rounds included; 0 until it ended */
} run_result;

/* A run that has ended, for whoever keeps it. Valid during the call. */
typedef struct run_report {
    const run_job *job;
    const run_result *result;
    const char *options;   /* every option with its value; "" where the bandit could not be created */
    const ee_error *error; /* the reason, where result->status is one */
} run_report;

/* Who looks on. Either function may be NULL. Both say whether to go on: after false nothing more is played. */
typedef struct run_watch {
    bool (*round)(void *context, const run_job *job, const run_result *so_far); /* after every round */
    bool (*ended)(void *context, const run_report *report);                     /* after every run that was started */
    void *context;
} run_watch;

/* Whether the job could start: creates the bandit and frees it. */
ee_status runner_check(const run_job *job, ee_error *error);

/* Plays one job. A run that the watch stopped is EE_OK, and not finished. */
ee_status runner_run(const run_job *job, const run_watch *watch, run_result *result, ee_error *error);

/* Plays the jobs in turn; one that fails does not keep the others from being played. results is (count); those of jobs
 * that were not started are all zero. Returns the first failure's status, with its error. */
ee_status runner_run_all(const run_job *jobs, size_t count, const run_watch *watch, run_result *results,
                         ee_error *error);

/* What the finished ones among the runs of one policy say together. Where there is none, or for the deviation one, the
 * numbers are NaN. */
typedef struct run_summary {
    size_t runs;   /* finished */
    double regret; /* the mean, as of all below */
    double regret_deviation;
    double optimal; /* share of the rounds */
    double seconds; /* a run */
} run_summary;

ee_status runner_summarize(const run_result *results, size_t count, run_summary *summary, ee_error *error);

#endif
