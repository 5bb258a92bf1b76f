/* Evaluation jobs as JSON: the request and the results. The same in the store and in responses. */
#ifndef EENET_EVALUATION_JOB_FILE_H
#define EENET_EVALUATION_JOB_FILE_H

#include "evaluation_jobs.h"

/* {"id":...,"name":...,"state":...,"trouble":...,"progress":...,"created":time,"ended":time or null,"from":...,
 *  "until":...,"confidence":...,"estimators":[...],"candidates":[{"name","policy","options","propensity"}]} */
void job_about_write(const job_about *from, text *into);

/* {"events":...,"skipped":...,"first_time":seconds,"last_time":...,"reward":...,"reward_low":...,"reward_high":...,
 *  "results":[{"name":...,"trouble":"","headline":...,"headline_estimator":"ips","trusted":true,"sentences":[...],
 *              "estimates":[{"estimator":"ips","value":...,"low","high","gain","gain_low","gain_high"}],
 *              "marks":[{"events","time","rounds","weights","rewards","squares","same","values":[[value,low,high]]}]}]}
 * null: unknown. */
void job_results_write(const evaluation_job *from, text *into);

/* Read these bytes; EE_BAD_INPUT if they are invalid. Release the result (evaluation_job_release), also after a
 * failure. */
ee_status job_about_read(job_about *into, const void *bytes, size_t size, ee_error *error);
ee_status job_results_read(evaluation_job *into, const void *bytes, size_t size, ee_error *error);

#endif
