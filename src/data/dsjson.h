/* Lines of dsjson, the log of Azure Personalizer and Vowpal Wabbit: a JSON object for each decision. docs/log-format.md
 * has the fields. */
#ifndef EENET_DSJSON_H
#define EENET_DSJSON_H

#include "log_kind.h"
#include "text.h"

/* Room for what one line holds. */
typedef struct dsjson dsjson;

ee_status dsjson_create(memory *owner, dsjson **out, ee_error *error);

/* Reads a line, without its end. Fills event where the verdict is LOG_EVENT: its pointers lead into the bytes and the
 * room, and are valid until the next line. Fails for lack of memory only: what is wrong with the line is a note. */
ee_status dsjson_parse(dsjson *self, const char *bytes, size_t size, const log_options *options, log_event *event,
                       log_note *note, ee_error *error);

/* Adds the event as a line of dsjson, with its end. What was read from a line and is in the event is the same when the
 * new line is read; observations are not kept, but what became of them. */
void dsjson_format(text *into, const log_event *event);

/* What the server knows of a decision, beyond what is evaluated. */
typedef struct dsjson_source {
    const double *learned; /* (slots, or 1) the reward that was learned in place of the event's, which becomes
                            * _original_label_cost: apprentice mode; NULL: the event's */
    uint64_t version;      /* of the model that decided: VWState */
    uint64_t cursor;       /* _cursor */
} dsjson_source;

/* The same, with where it comes from. */
void dsjson_format_served(text *into, const log_event *event, const dsjson_source *source);

#endif
