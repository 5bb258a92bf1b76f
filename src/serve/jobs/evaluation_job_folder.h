/* The files of evaluation jobs, in a folder that has nothing else: ID.json, ID.results.json, and ID.eelog.zst while it
 * is played. Each is written synced and then renamed.
 * The JSON files end with their checksum: text_seal.h. */
#ifndef EENET_EVALUATION_JOB_FOLDER_H
#define EENET_EVALUATION_JOB_FOLDER_H

#include "evaluation_jobs.h"

ee_status job_folder_write_about(const char *folder, const job_about *about, ee_error *error);
ee_status job_folder_write_results(const char *folder, const evaluation_job *job, ee_error *error);
ee_status job_folder_read_about(const char *folder, const char *id, job_about *out, ee_error *error);
/* Of the job whose about is there. */
ee_status job_folder_read_results(const char *folder, evaluation_job *into, ee_error *error);
ee_status job_folder_remove(const char *folder, const char *id, ee_error *error);

/* Where the part of the log lies; to be freed with memory_free. */
ee_status job_folder_log(const char *folder, const char *id, char **path, ee_error *error);

/* Each job, in any order; what a crash left is removed on the way. What visit gets is valid while it runs. */
typedef ee_status visit_job(void *context, const char *id, ee_error *error);
ee_status job_folder_each(const char *folder, visit_job *visit, void *context, ee_error *error);

#endif
