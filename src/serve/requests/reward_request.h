/* The body of a reward: {"id": "a1", "value": 1, "reward_id": "r1", "slot": "top"}. */
#ifndef EENET_REWARD_REQUEST_H
#define EENET_REWARD_REQUEST_H

#include "request_members.h"

typedef struct reward_request {
    json_text id;
    json_text reward_id; /* bytes NULL: not given */
    json_text slot;      /* of a round with slots; bytes NULL: not given */
    double value;
} reward_request;

/* Reads a reward after its {. After EE_BAD_INPUT the reader is somewhere inside it. Texts lie in the input or in
 * `texts`. */
ee_status reward_request_read(reward_request *out, json_reader *reader, kept_texts *texts, ee_error *error);

#endif
