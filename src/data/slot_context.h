/* What one of several slots sees of an event with named features: the features of the slot beside those that all slots
 * share and the actions. It is one round as Vowpal Wabbit has it, and the same whoever makes it: the server for its
 * decision, and an evaluation from the log. */
#ifndef EENET_SLOT_CONTEXT_H
#define EENET_SLOT_CONTEXT_H

#include "text.h"

/* Adds {"_slot":N,members of the slot,members of the context}, N the bytes of the slot's. Both are objects that were
 * read, or empty. A line end within them becomes a blank. Names that begin with _ are no features. */
void slot_context(text *into, json_text context, json_text features);

/* The two again, as members without their braces that lie in the joined context. False where it was not made so. */
bool slot_context_split(json_text joined, json_text *context, json_text *features);

#endif
