/* Background evaluations: what candidates would have earned in a part of a bandit's log. One low-priority thread runs
 * them one after the other. A job is a blob of the store, written when it is created and when it ends; its results are
 * another. After a restart, unfinished jobs start again. While a job runs, its part of the log is in a temporary file,
 * as a compact log.
 *
 * All calls may wait for the disk. */
#ifndef EENET_EVALUATION_JOBS_H
#define EENET_EVALUATION_JOBS_H

#include "evaluate/evaluations/evaluation.h"
#include "serve/model/served_bandit.h"

typedef struct evaluation_jobs evaluation_jobs;

typedef enum job_state { JOB_WAITING, JOB_RUNNING, JOB_DONE, JOB_FAILED } job_state;
extern const char *const job_state_names[]; /* "waiting", ... */

enum {
    JOB_ID_SIZE = 33, /* 32 hexadecimal digits */
    JOB_NAME_SIZE = 129,
    JOB_CANDIDATES = 32,
    JOB_ESTIMATORS = 8,
    JOBS_EACH = 100 /* maximum per bandit */
};

/* A policy with options and a propensity rule, as for a bandit, or `logged` (the bandit's own decisions), `first` (the
 * baseline), `uniform`, `arm:N`, `arm:NAME`. */
typedef struct job_candidate {
    char name[JOB_NAME_SIZE];
    char policy[64];
    char options[CHALLENGER_TEXT_SIZE];
    char propensity[64]; /* "": the bandit's if the policy supports it, else its own */
} job_candidate;

typedef struct job_request {
    char name[JOB_NAME_SIZE]; /* for people; need not be unique */
    int64_t from, until;      /* times of decisions, microseconds since 1970; INT64_MIN, INT64_MAX: all */
    job_candidate candidates[JOB_CANDIDATES]; /* (candidate_count) their names differ */
    size_t candidate_count;
    char estimators[JOB_ESTIMATORS][32]; /* (estimator_count) "ips", "dr", ...: those of eenet evaluate */
    size_t estimator_count;
    double confidence; /* 0.95 */
} job_request;

/* The defaults: ips; logged, first and uniform as "online", "baseline" and "uniform"; the whole log; 0.95. */
void job_request_usual(job_request *out);

/* A job without its results. */
typedef struct job_about {
    char id[JOB_ID_SIZE];
    uint32_t bandit;
    job_state state;
    double progress; /* of a running one, 0 to 1 */
    char trouble[256];
    int64_t created, ended; /* microseconds since 1970; ended 0: not ended */
    job_request request;
} job_about;

typedef struct evaluation_job {
    job_about about;
    evaluated_log log;          /* only what job_results_write writes */
    evaluation_result *results; /* (about.request.candidate_count) the same; NULL unless JOB_DONE */
} evaluation_job;

/* Reads the jobs, and starts the thread. */
ee_status evaluation_jobs_start(store *kept, served_bandits *bandits, evaluation_jobs **out, ee_error *error);
/* Cancels the running job, which starts again with the next start. NULL is allowed. */
void evaluation_jobs_stop(evaluation_jobs *self);

/* This process owns the bandit from now on: reads its jobs, and runs the unfinished ones. */
ee_status evaluation_jobs_adopt(evaluation_jobs *self, uint32_t bandit, ee_error *error);
/* It does not any more: its jobs stay in the store, and a running one is stopped. */
void evaluation_jobs_release(evaluation_jobs *self, uint32_t bandit);

/* EE_BAD_INPUT for an invalid candidate or estimator, or too many jobs. */
ee_status evaluation_jobs_create(evaluation_jobs *self, const served_bandit *bandit, const job_request *request,
                                 char id[JOB_ID_SIZE], ee_error *error);
/* The same with the caller's id. EE_BAD_INPUT also if the id exists. */
ee_status evaluation_jobs_create_as(evaluation_jobs *self, const served_bandit *bandit, const job_request *request,
                                    const char *id, ee_error *error);

/* The jobs of a bandit, oldest first; free them with memory_free. */
ee_status evaluation_jobs_list(evaluation_jobs *self, uint32_t bandit, job_about **out, size_t *count, ee_error *error);

/* EE_NO_FILE: there is none. Release out, also after a failure. */
ee_status evaluation_jobs_read(evaluation_jobs *self, uint32_t bandit, const char *id, evaluation_job *out,
                               ee_error *error);
void evaluation_job_release(evaluation_job *self);

/* Also cancels a waiting or running job. EE_NO_FILE: there is none. */
ee_status evaluation_jobs_delete(evaluation_jobs *self, uint32_t bandit, const char *id, ee_error *error);
/* Deletes all of a bandit, and waits until a running one has stopped. */
ee_status evaluation_jobs_delete_all(evaluation_jobs *self, uint32_t bandit, ee_error *error);

#endif
