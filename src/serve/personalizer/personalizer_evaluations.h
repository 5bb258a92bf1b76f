/* Personalizer's evaluations as evaluation jobs: reads its requests, and writes jobs as its resources. */
#ifndef EENET_PERSONALIZER_EVALUATIONS_H
#define EENET_PERSONALIZER_EVALUATIONS_H

#include "data/values/text.h"
#include "serve/jobs/evaluation_jobs.h"

/* The job id of a resource id: the digits of a UUID, with or without dashes, or a checksum of any other name. */
void evaluation_id_read(const char *id, char out[JOB_ID_SIZE]);
/* The digits as a UUID. */
enum { UUID_SIZE = 37 };
void evaluation_id_write(const char digits[JOB_ID_SIZE], char out[UUID_SIZE]);

/* {"name", "startTime", "endTime", "policies": [{"name", "arguments"}], "enableOfflineExperimentation"}: each policy is
 * evaluated with the other settings of the bandit. *code becomes Personalizer's code of an error. */
ee_status evaluation_contract_read(json_text body, const bandit_settings *of, job_request *out, const char **code,
                                   ee_error *error);

/* Prefix of policies that the server adds: their source is OfflineExperimentation, that of others Custom. */
#define EXPERIMENT_PREFIX "experiment-"

/* The form of results; interval 0: all marks. */
typedef struct evaluation_view {
    bool newest;        /* as in 2022-09-01-preview */
    double interval;    /* seconds, of the newest */
    bool rolling;       /* each interval separately, not everything up to it */
    double from, until; /* seconds since 1970 */
    const char *called; /* the id in the request; NULL: a UUID */
} evaluation_view;

/* results NULL: without results. */
void evaluation_write(const job_about *about, const evaluation_job *results, const evaluation_view *view, text *into);

/* The policy as arguments: "eenet:POLICY OPTIONS propensity=RULE". */
void evaluation_arguments(const job_candidate *of, text *into);

#endif
