/* What the arguments of `eenet run` ask for. */
#ifndef EENET_RUN_REQUEST_H
#define EENET_RUN_REQUEST_H

#include "command.h"
#include "lab/runner.h"
#include "seeds.h"

typedef struct requested_policy {
    const char *name; /* the library's own */
    char *options;    /* from --set, as ee_settings takes them; NULL for none */
    size_t capacity;
} requested_policy;

typedef struct run_request {
    dataset *data;
    requested_policy *policies; /* (policy_count) */
    size_t policy_count, policy_capacity;
    seed_list seeds;
    uint64_t rounds;
    bool json;
    run_job *jobs; /* (policy_count, seeds.count) */
    size_t job_count;
} run_request;

enum { RUN_REQUEST_FLAGS = 6 };

extern const flag run_request_flags[RUN_REQUEST_FLAGS];

/* Reads the arguments, opens the data set and makes sure that every policy can be created. request starts as zeros.
 * Returns an exit status, after saying on stderr what is wrong where it is not EXIT_DONE; release the request then
 * too. */
int run_request_read(const command *self, int count, char **words, run_request *request);
void run_request_release(run_request *request);

#endif
