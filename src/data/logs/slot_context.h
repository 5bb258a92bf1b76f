/* The context of one slot of an event with named features: the slot's features, the shared features and the actions,
 * as one round in Vowpal Wabbit's JSON. The server (for a decision) and an evaluation (from the log) build the same
 * bytes. */
#ifndef EENET_SLOT_CONTEXT_H
#define EENET_SLOT_CONTEXT_H

#include "data/values/text.h"

/* Adds {"_slot":N,members of the slot,members of the context}, where N is the length of the slot's members. Both are
 * valid objects or empty. A line end within them becomes a space. Names that begin with _ are not features. */
void slot_context(text *into, json_text context, json_text features);

/* Splits it again into the two, as members without braces inside the joined context. False if slot_context did not make
 * it. */
bool slot_context_split(json_text joined, json_text *context, json_text *features);

#endif
