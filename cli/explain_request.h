/* A decision to explain and the model that explains it: from files, or from a server's folder. */
#ifndef EENET_EXPLAIN_REQUEST_H
#define EENET_EXPLAIN_REQUEST_H

#include "engine/snapshot.h"
#include "request_body.h"
#include "serve/model/decision_arms.h"
#include "serve/model/follower.h"
#include "serve/requests/decide_request.h"
#include "serve/requests/explain_answer.h"

typedef struct explain_request {
    const char *model, *context;             /* files; "-": standard input */
    const char *folder, *bandit, *id, *slot; /* or of a server; slot NULL: none was given */
} explain_request;

typedef struct explained {
    explained_decision of;
    const char *id;   /* of a decision that was made; "" of a round from a file */
    uint64_t version; /* of the model that explains it, where it is a server's */

    memory memory; /* of all that follows */
    ee_bandit *bandit;
    follower *follower;
    ee_snapshot *snapshot;
    ee_scratch *scratch;
    ee_round *round;
    decision_arms arms;
    decision_body body;
    event_room room;
    decide_request request;
    uint8_t *bytes; /* of the context's file, or of the event */
    size_t size;
    request_body_room context;
} explained;

/* *out is to be ended in every case, and then is what the sentence says. */
ee_status explain_run(const explain_request *request, explained *out, ee_error *error);
void explain_end(explained *self);

#endif
