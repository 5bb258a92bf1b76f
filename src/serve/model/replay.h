/* Proof that nothing was lost and nothing invented: makes everything again from the log, from a checkpoint or from the
 * beginning, and compares: each decision (the model's choice, the answer, probabilities, record) on the version that
 * made it, and the model's bytes at each checkpoint. Works beside a server that writes to the same folder, on what was
 * there when it began.
 *
 * A model that learned from an erased decision cannot be made again: replay continues with the next one that is stored.
 */
#ifndef EENET_REPLAY_H
#define EENET_REPLAY_H

#include "serve/store/store.h"

typedef struct replay_request {
    const char *folder;
    const char *bandit;  /* NULL: all */
    int64_t from, until; /* time: of the decisions that are compared, until not among them. It starts at the last
                            checkpoint that all of them come after */
    bool from_beginning; /* not at a checkpoint */
    void (*progress)(void *context, const char *bandit, double share); /* may be NULL */
    void *context;
} replay_request;

typedef struct replay_result {
    uint64_t bandits, events, decisions, checkpoints, steps;
    uint64_t skipped;  /* decisions that cannot be made again: their log's beginning is no longer kept */
    uint64_t erased;   /* decisions whose content was erased */
    uint64_t unproven; /* made by models that learned from them, before the next one that is stored */
    uint64_t other_decisions, other_models; /* that are not what the log says: 0, or something is wrong */
    char first[512];                        /* what the first of these is */
    int64_t log_first, log_last; /* times of the first and last decision of the bandits' logs; 0: there is none */
} replay_result;

/* EE_BAD_INPUT where there is no such bandit. */
ee_status replay_run(const replay_request *request, replay_result *out, ee_error *error);

#endif
