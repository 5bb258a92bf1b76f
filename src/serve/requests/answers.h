/* Responses to decisions and rewards as JSON. The response to a decision depends only on its event, so that a repeated
 * request gets the same bytes. */
#ifndef EENET_ANSWERS_H
#define EENET_ANSWERS_H

#include "data/values/text.h"
#include "serve/store/event.h"

void answer_decision(text *into, json_text id, const decision_body *body);

/* Parts of it: the quoted id of the action; its probability and those of all actions, null if unknown. */
void answer_action(text *into, const decision_body *body);
void answer_probabilities(text *into, const decision_body *body);

/* The response of a round with slots: these two, with the slots and commas between them. */
/* What guardrails did to a decision, as the object "guardrails" of an explanation: its group and segment, the rules
 * that applied, the decision that it repeats, and why actions were excluded. */
void answer_guardrails(text *into, const decision_body *body);

void answer_begin_round(text *into, json_text id);
void answer_end_round(text *into, uint64_t version);

/* {"outcome": "joined"}; repeated: the reward id was sent before, and this is the outcome of that reward. */
void answer_reward(text *into, event_outcome outcome, bool repeated);

/* {"outcome": "activated"}, or "repeated", "late", "unknown". */
void answer_activation(text *into, event_outcome outcome);

/* {"outcome": "spooled"}: the outcome of a reward or an activation is not known yet. */
void answer_spooled(text *into);

#endif
