/* Runs an evaluation job: writes its part of the log next to the job's file, evaluates it, and removes it. */
#ifndef EENET_EVALUATION_JOB_RUN_H
#define EENET_EVALUATION_JOB_RUN_H

#include "evaluation_jobs.h"

/* Callbacks, in the thread that evaluates. */
typedef struct job_watch {
    bool (*wanted)(void *context); /* false: stop */
    void (*progress)(void *context, double share);
    void *context;
} job_watch;

/* Checks the candidates and estimators for this bandit. */
ee_status job_request_check(const job_request *request, const bandit_settings *of, ee_error *error);

/* into->about must be set; fills the rest. Release it, also after a failure. log: path for the part of the log, ending
 * with ".eelog.zst". *finished false: the watch stopped it. */
ee_status job_run(evaluation_job *into, store *kept, const bandit_settings *of, const char *log, const job_watch *watch,
                  bool *finished, ee_error *error);

#endif
