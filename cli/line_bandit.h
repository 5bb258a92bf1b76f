/* A bandit that is asked in lines of JSON, and answers each with a line:
 *
 *     {"context": {"user": {"age": 31}}, "actions": [{"id": "a", "features": {"price": 9.5}}, ...], "tag": "x"}
 *     {"id":17,"arm":0,"action":"a","probability":1,"probabilities":[1,0],"tag":"x"}
 *     {"id": 17, "reward": 1}
 *     {"id":17,"learned":true}
 *
 * A round is what the server's decide takes, without slots. Of a model whose arms are the context in one of its blocks
 * the context is enough, and the blocks are the actions: an array of numbers, or of the model of a table the row,
 * {"context": {"column": value, ...}}, and the classes are the actions. */
#ifndef EENET_LINE_BANDIT_H
#define EENET_LINE_BANDIT_H

#include "data/kind/block_arms.h"
#include "data/tables/row_encoding.h"
#include "data/values/text.h"
#include "request_body.h"
#include "serve/model/decision_arms.h"

typedef struct line_bandit {
    ee_bandit *bandit;        /* borrowed */
    const row_encoding *rows; /* borrowed; NULL: a context is not a row */
    row_unknown unknown;      /* set by the caller: called for values that are not in the training table */
    size_t dim;               /* of vectors; 0: named features */
    size_t blocks;            /* number of blocks if a round may be a context only; else 0 */

    memory memory; /* of all that follows */
    ee_round *round;
    decide_request request;
    request_body_room context;
    decision_arms arms;
    double *of_arms, *probabilities; /* (arms), (actions) */
    size_t of_arms_capacity, probability_capacity;
    uint32_t *indices; /* (entries) of a context; the arms of the blocks lie in room */
    float *values;
    size_t entries;
    block_room room;
} line_bandit;

/* bandit and rows must outlive it; rows may be NULL. Release *out, on failure too. */
ee_status line_bandit_start(ee_bandit *bandit, const row_encoding *rows, line_bandit *out, ee_error *error);
void line_bandit_release(line_bandit *self);

/* Adds the answer to a line, without a line end. On failure nothing was decided or learned, and the answer is
 * unchanged; the message does not name the line. */
ee_status line_bandit_answer(line_bandit *self, json_text line, text *answer, ee_error *error);

/* Adds an example of a round for this model. The round of a table has as many columns as fit into `most` bytes; it is
 * valid without the others, which count as missing. */
void line_bandit_example(const line_bandit *self, size_t most, text *into);

enum { LONG_EXAMPLE = 4000 }; /* bytes, for a terminal */

#endif
