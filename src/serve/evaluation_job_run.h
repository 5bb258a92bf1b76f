/* An evaluation job, played: the part of the log is written beside the job's file, evaluated, and removed. */
#ifndef EENET_EVALUATION_JOB_RUN_H
#define EENET_EVALUATION_JOB_RUN_H

#include "evaluation_jobs.h"

/* Who looks on, in the thread that plays. */
typedef struct job_watch {
    bool (*wanted)(void *context); /* false ends it */
    void (*progress)(void *context, double share);
    void *context;
} job_watch;

/* Whether the candidates and estimators are such, for this bandit. */
ee_status job_request_check(const job_request *request, const bandit_settings *of, ee_error *error);

/* into->about is there; fills the rest, which is to be released, on failure too. log: where the part of the log may
 * lie, which ends with ".eelog.zst". *finished false: it was not wanted any more. */
ee_status job_run(evaluation_job *into, store *kept, const bandit_settings *of, const char *log, const job_watch *watch,
                  bool *finished, ee_error *error);

#endif
