/* Proof that nothing was lost and nothing invented: makes everything again from the log, from a checkpoint or from the
 * beginning, and compares: each decision (action, probabilities, record) on the version that made it, and the model's
 * bytes at each checkpoint. */
#ifndef EENET_REPLAY_H
#define EENET_REPLAY_H

#include "store.h"

typedef struct replay_request {
    const char *folder;
    const char *bandit;  /* NULL: all */
    int64_t from, until; /* time: of the decisions that are compared. It starts at the last checkpoint before `from` */
    bool from_beginning; /* not at a checkpoint, where the log still has its beginning */
    void (*progress)(void *context, const char *bandit, double share);
    void *context;
} replay_request;

typedef struct replay_result {
    uint64_t bandits, events, decisions, checkpoints, steps;
    uint64_t other_decisions, other_models; /* that are not what the log says: 0, or something is wrong */
    char first[252];                        /* what the first of these is */
} replay_result;

ee_status replay_run(const replay_request *request, replay_result *out, ee_error *error);

#endif
