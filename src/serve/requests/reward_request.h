/* The body of a reward: {"id": "a1", "value": 1, "metrics": {"refund": 1}, "reward_id": "r1", "slot": "top"}. With
 * metrics, the value may be missing. */
#ifndef EENET_REWARD_REQUEST_H
#define EENET_REWARD_REQUEST_H

#include "request_members.h"
#include "serve/store/metric_values.h"

typedef struct reward_request {
    json_text id;
    json_text reward_id; /* bytes NULL: not given */
    json_text slot;      /* of a round with slots; bytes NULL: not given */
    bool has_value;
    double value;
    metric_values metrics; /* with the value; count 0: none */
} reward_request;

/* Reads a reward after its {. After EE_BAD_INPUT the reader is somewhere inside it. Texts lie in the input or in
 * `texts`. */
ee_status reward_request_read(reward_request *out, json_reader *reader, kept_texts *texts, ee_error *error);

/* Refuses metrics that the bandit does not have. */
ee_status reward_request_check(const reward_request *self, const joining_rules *rules, ee_error *error);

#endif
