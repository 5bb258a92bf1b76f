/* Messages between ranks, as bytes.
 *
 * A message is its kind, its fields, zeros up to a multiple of eight bytes, and the checksum of all that: numbers are
 * little-endian. Rank 0 sends down, the others send up:
 *
 *     down, to a rank    MESSAGE_CALL      runs follow; `datasets` data sets come first
 *                        MESSAGE_DATA      one of them
 *                        MESSAGE_LEAVE     there will be no more calls
 *     up, from a rank    MESSAGE_ANSWER    after the last data set: whether its workers are ready
 *     down, to a worker  MESSAGE_JOB       a run to do; only to an idle worker
 *                        MESSAGE_END       stop, report and leave; once per call
 *     up, from a worker  MESSAGE_PROGRESS  during a run
 *                        MESSAGE_REPORT    its run has ended
 */
#ifndef EENET_MESSAGES_H
#define EENET_MESSAGES_H

#include "lab/runs/runner.h"

typedef enum message_kind {
    MESSAGE_CALL = 1,
    MESSAGE_DATA,
    MESSAGE_LEAVE,
    MESSAGE_ANSWER,
    MESSAGE_JOB,
    MESSAGE_END,
    MESSAGE_PROGRESS,
    MESSAGE_REPORT
} message_kind;

typedef struct call_message {
    const char *version; /* of the program and its kernels: others give different results */
    size_t workers;      /* of each rank */
    size_t datasets;     /* that follow */
} call_message;

typedef struct data_message {
    const char *text;  /* dataset_text */
    const char *cache; /* "": none */
    uint64_t fingerprint;
} data_message;

typedef struct answer_message {
    const char *host; /* the rank's */
    size_t workers;   /* that are ready, at least one; 0 if it failed */
    ee_error error;   /* the reason */
} answer_message;

typedef struct job_message {
    run_job job;    /* without its data set and its log */
    size_t dataset; /* the place of its data set in the call */
    bool curve;     /* the report must have one */
} job_message;

typedef struct progress_message {
    uint64_t played; /* rounds */
    double seconds;  /* of processor time */
} progress_message;

typedef struct report_message {
    run_result result;
    const char *options; /* as in run_report */
    const char *machine; /* host_describe */
    const double *curve; /* (result.rounds), or NULL */
    ee_error error;
} report_message;

typedef struct message {
    message_kind kind;
    union {
        call_message call;
        data_message data;
        answer_message answer;
        job_message job;
        progress_message progress;
        report_message report;
    };
} message;

/* *words is (*count), to be freed with memory_free. */
ee_status message_write(const message *from, uint64_t **words, size_t *count, ee_error *error);

/* Strings and curve point into words. EE_BAD_INPUT if they are not a complete message. */
ee_status message_read(const uint64_t *words, size_t count, message *out, ee_error *error);

#endif
