/* What `eenet evaluate` was asked for, from its arguments. */
#ifndef EENET_EVALUATE_REQUEST_H
#define EENET_EVALUATE_REQUEST_H

#include "evaluate/evaluations/evaluation.h"
#include "log_flags.h"
#include "seeds.h"

enum {
    EVALUATE_POLICIES = LOG_FLAGS,
    EVALUATE_ESTIMATOR,
    EVALUATE_INTERVAL,
    EVALUATE_CONFIDENCE,
    EVALUATE_MODE,
    EVALUATE_JUDGE_FROM,
    EVALUATE_MODEL,
    EVALUATE_TUNING,
    EVALUATE_SLOTS,
    EVALUATE_REWARDS,
    EVALUATE_METRICS,
    EVALUATE_LEAST,
    EVALUATE_FEATURES,
    EVALUATE_SET,
    EVALUATE_SEEDS,
    EVALUATE_JOBS,
    EVALUATE_OUTPUT,
    EVALUATE_WARM,
    EVALUATE_JSON,
    EVALUATE_FLAGS
};

extern const flag evaluate_flags[EVALUATE_FLAGS];

typedef struct evaluate_candidate {
    char *text;
    char *options; /* from --set; NULL for none */
    size_t capacity;
} evaluate_candidate;

typedef struct evaluate_request {
    const char *given[EVALUATE_FLAGS]; /* those that are given once; NULL where they are not */
    const char **sets;                 /* (set_count) */
    size_t set_count, set_capacity;

    evaluate_candidate *listed; /* (listed_count) as -p has them */
    size_t listed_count, listed_capacity;
    seed_list seeds;
    candidate_request *candidates; /* (whole.candidate_count) */
    evaluation_request whole;
    const char *warm_path, *warm_name; /* a model to be saved; of this candidate, NULL: of the best */
} evaluate_request;

/* An exit status, after saying on stderr what is wrong where it is not EXIT_DONE. request starts as zeros, and is to be
 * released, then too. */
int evaluate_request_read(const command *self, int argc, char **argv, evaluate_request *request);
void evaluate_request_release(evaluate_request *request);

#endif
