/* Personalizer's evaluations on the evaluation jobs of this server: requests read into theirs, and jobs written as its
 * resources. */
#ifndef EENET_PERSONALIZER_EVALUATIONS_H
#define EENET_PERSONALIZER_EVALUATIONS_H

#include "data/values/text.h"
#include "serve/jobs/evaluation_jobs.h"

/* A resource's id, in the path, as the digits of a job: those of a UUID, with or without dashes; of any other name a
 * checksum. */
void evaluation_id_read(const char *id, char out[JOB_ID_SIZE]);
/* The digits as a UUID. */
enum { UUID_SIZE = 37 };
void evaluation_id_write(const char digits[JOB_ID_SIZE], char out[UUID_SIZE]);

/* {"name", "startTime", "endTime", "policies": [{"name", "arguments"}], "enableOfflineExperimentation"}: policies are
 * played as they would be after they were put in the place of the bandit's, whose settings these are. *code becomes the
 * name of what is wrong. */
ee_status evaluation_contract_read(json_text body, const bandit_settings *of, job_request *out, const char **code,
                                   ee_error *error);

/* Of the names of policies that the server plays by itself: they are OfflineExperimentation, others Custom. */
#define EXPERIMENT_PREFIX "experiment-"

/* How results are asked for; interval 0: as they were made. */
typedef struct evaluation_view {
    bool newest;        /* as 2022-09-01-preview has it */
    double interval;    /* seconds, of the newest */
    bool rolling;       /* each interval alone, not all up to it */
    double from, until; /* seconds since 1970 */
    const char *called; /* the id as it was asked for; NULL: a UUID */
} evaluation_view;

/* results NULL: without. */
void evaluation_write(const job_about *about, const evaluation_job *results, const evaluation_view *view, text *into);

/* The arguments by which a policy can be said: "eenet:POLICY OPTIONS propensity=RULE". */
void evaluation_arguments(const job_candidate *of, text *into);

#endif
