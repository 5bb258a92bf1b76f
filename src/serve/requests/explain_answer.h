/* An explanation as JSON, and the names of its entries; for the API and the program. */
#ifndef EENET_EXPLAIN_ANSWER_H
#define EENET_EXPLAIN_ANSWER_H

#include "data/values/text.h"
#include "engine/explanation.h"
#include "serve/store/event.h"

/* A decision that was explained. */
typedef struct explained_decision {
    const decision_body *body;      /* of the decision */
    const ee_round *round;          /* with the names of named features; NULL: the arms are vectors */
    const explanation *explanation; /* ranked, see explanation_rank */
} explained_decision;

/* Adds the name of an entry of an arm: "user.age", "user.age*item.id=a7", "constant", or "[3]" of a vector. */
void explain_name(text *into, const explained_decision *self, size_t arm, const explained_entry *entry);

/* Adds the array of the actions that could be chosen, each with its `most` largest features, and the sum of the others.
 */
void explain_answer_actions(text *into, const explained_decision *self, size_t most);

#endif
