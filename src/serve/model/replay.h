/* Verifies the log: computes everything again, from a checkpoint or from the start, and compares each decision (the
 * model's choice, the response, probabilities, record) by the version that made it, and the model's bytes at each
 * checkpoint. A server may write to the folder meanwhile; replay reads the log up to where it ended when replay
 * started.
 *
 * A model that learned from an erased decision cannot be computed again: replay continues with the next stored model.
 */
#ifndef EENET_REPLAY_H
#define EENET_REPLAY_H

#include "serve/store/store.h"

typedef struct replay_request {
    const char *folder;
    const char *bandit;  /* NULL: all */
    int64_t from, until; /* times of the decisions to compare, without until. Replay starts at the last checkpoint
                            before all of them */
    bool from_beginning; /* not from a checkpoint */
    bool (*progress)(void *context, const char *bandit, double share); /* false stops it. May be NULL */
    void *context;
} replay_request;

typedef struct replay_result {
    uint64_t bandits, events, decisions, checkpoints, steps;
    uint64_t skipped;  /* decisions that cannot be computed again: the log before them was removed */
    uint64_t erased;   /* decisions whose content was erased */
    uint64_t unproven; /* decisions by models that learned from erased ones, before the next stored model */
    uint64_t other_decisions, other_models; /* that differ from the log: 0 unless something is wrong */
    char first[512];                        /* describes the first of these */
    int64_t log_first, log_last; /* times of the first and last decision of the bandits' logs; 0: there is none */
} replay_result;

/* EE_BAD_INPUT: there is no such bandit. */
ee_status replay_run(const replay_request *request, replay_result *out, ee_error *error);

#endif
