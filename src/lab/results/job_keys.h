/* Jobs as their runs are kept: with every option, and by which key. */
#ifndef EENET_JOB_KEYS_H
#define EENET_JOB_KEYS_H

#include "run_index.h"

typedef struct job_key {
    char *options;  /* every option with its value; NULL where the bandit cannot be created: it has no key */
    uint64_t run;   /* as in run_keys */
    size_t same_as; /* the first job that is the same: its own place, mostly */
} job_key;

typedef struct job_keys {
    job_key *keys; /* (count) */
    size_t count;
    run_index index; /* by run */
} job_keys;

/* A job that cannot be played is no failure. out is to be released, on failure too. */
ee_status job_keys_create(const run_job *jobs, size_t count, job_keys *out, ee_error *error);
void job_keys_release(job_keys *self);

#endif
