/* The options and keys under which the runs of jobs are stored. */
#ifndef EENET_JOB_KEYS_H
#define EENET_JOB_KEYS_H

#include "run_index.h"

typedef struct job_key {
    char *options;  /* every option with its value; NULL if the bandit cannot be created: then it has no key */
    uint64_t run;   /* as in run_keys */
    size_t same_as; /* place of the first job that is the same; usually its own */
} job_key;

typedef struct job_keys {
    job_key *keys; /* (count) */
    size_t count;
    run_index index; /* by run */
} job_keys;

/* A job that cannot run is not an error. Release out, on failure too. */
ee_status job_keys_create(const run_job *jobs, size_t count, job_keys *out, ee_error *error);
void job_keys_release(job_keys *self);

#endif
