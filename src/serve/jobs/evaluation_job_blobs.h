/* Evaluation jobs as blobs: the request, and the results. */
#ifndef EENET_EVALUATION_JOB_BLOBS_H
#define EENET_EVALUATION_JOB_BLOBS_H

#include "evaluation_jobs.h"

ee_status job_write_about(blobs *into, const job_about *about, ee_error *error);
ee_status job_write_results(blobs *into, const evaluation_job *job, ee_error *error);
ee_status job_read_about(const blobs *from, uint32_t bandit, const char *id, job_about *out, ee_error *error);
/* into->about must be set. */
ee_status job_read_results(const blobs *from, evaluation_job *into, ee_error *error);
ee_status job_remove(blobs *from, uint32_t bandit, const char *id, ee_error *error);

/* The ids of a bandit's jobs; free them with memory_free. Removes results without a job, which a crash may leave. */
ee_status job_list(blobs *from, uint32_t bandit, blob_key **ids, size_t *count, ee_error *error);

/* Moves the jobs of older versions, whose names did not have the bandit. */
ee_status job_move_old(blobs *from, ee_error *error);

#endif
