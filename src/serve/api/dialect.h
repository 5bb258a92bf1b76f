/* The two forms of the API: ours (/v1) and Azure Personalizer's. A dialect reads requests into common structures and
 * writes responses; deciding, joining and logging do not depend on it. */
#ifndef EENET_DIALECT_H
#define EENET_DIALECT_H

#include "serve/http/http.h"
#include "serve/requests/answers.h"
#include "serve/requests/decide_request.h"

struct call;
struct call_item;

typedef struct dialect {
    /* Called after the {: read a decision into the call's request, or rewards into its items, the first of which
     * exists. After EE_BAD_INPUT the reader is somewhere inside the object. */
    ee_status (*read_decision)(struct call *self, json_reader *reader, const decide_limits *limits, ee_error *error);
    ee_status (*read_reward)(struct call *self, struct call_item *item, json_reader *reader, ee_error *error);
    /* Write the context of named features in the form of the log (one object on one line), and the features of a slot.
     */
    ee_status (*write_context)(const decide_request *request, memory *owner, char **bytes, size_t *size,
                               size_t *capacity, ee_error *error);
    void (*write_slot)(text *into, const decide_slot *slot);
    /* The response of a round with slots is begin_round, answer_decision for each slot, end_round. */
    void (*answer_decision)(text *into, json_text id, const decision_body *body);
    void (*begin_round)(text *into, json_text id);
    void (*end_round)(text *into, uint64_t version);
    void (*answer_reward)(text *into, event_outcome outcome, bool repeated);
    void (*answer_activation)(text *into, event_outcome outcome);
    void (*answer_spooled)(text *into);                /* a reward or an activation that is in the spool */
    void (*answer_event)(text *into, uint64_t number); /* the model was replaced or reset by this event */
    int decided, noted; /* status of responses to decisions; to rewards and activations */
} dialect;

extern const dialect dialect_v1, dialect_personalizer;

/* For http_exchange.name_error, with Personalizer's names. */
const char *personalizer_name_error(http_exchange *exchange, int status, const char *code);
/* The event id in the path. */
ee_status personalizer_event_id(const struct call *self, json_text *out, ee_error *error);

#endif
