/* The answers to decisions and rewards as JSON. One of a decision is made from its event alone, so that it is the same,
 * byte for byte, whenever it is asked for again. */
#ifndef EENET_ANSWERS_H
#define EENET_ANSWERS_H

#include "data/text.h"
#include "event.h"

void answer_decision(text *into, json_text id, const decision_body *body);

/* {"outcome": "joined"}; repeated: the reward id came before, and this is what became of it then. */
void answer_reward(text *into, event_outcome outcome, bool repeated);

#endif
