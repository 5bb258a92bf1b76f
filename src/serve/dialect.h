/* The ways in which the same is asked and answered: ours (/v1), and that of Personalizer, whose clients people have. A
 * dialect reads requests into what all share, and writes the answers; deciding, joining and logging know none. */
#ifndef EENET_DIALECT_H
#define EENET_DIALECT_H

#include "answers.h"
#include "decide_request.h"

struct call;
struct call_item;

typedef struct dialect {
    /* Read what is asked, whose { was read last: the decision into the call's request, rewards into its items, of which
     * the first is there. After EE_BAD_INPUT the reader is somewhere within it. */
    ee_status (*read_decision)(struct call *self, json_reader *reader, const decide_limits *limits, ee_error *error);
    ee_status (*read_reward)(struct call *self, struct call_item *item, json_reader *reader, ee_error *error);
    /* Adds the context of named features as it is stored, one object without an end of line, and the features of a slot
     * as one. */
    ee_status (*write_context)(const decide_request *request, memory *owner, char **bytes, size_t *size,
                               size_t *capacity, ee_error *error);
    void (*write_slot)(text *into, const decide_slot *slot);
    /* One that has slots is answered between the two others, slot by slot. */
    void (*answer_decision)(text *into, json_text id, const decision_body *body);
    void (*begin_round)(text *into, json_text id);
    void (*end_round)(text *into, uint64_t version);
    void (*answer_reward)(text *into, event_outcome outcome, bool repeated);
    void (*answer_activation)(text *into, event_outcome outcome);
    void (*answer_event)(text *into, uint64_t number); /* the model was replaced or reset by this event */
    int decided, noted; /* the statuses of answers: to decisions; to what was noted, as rewards and activations */
} dialect;

extern const dialect dialect_own, dialect_personalizer;

#endif
