/* Lines of dsjson, the log format of Azure Personalizer and Vowpal Wabbit: one JSON object per decision. docs/log-
 * format.md describes the keys. */
#ifndef EENET_DSJSON_H
#define EENET_DSJSON_H

#include "data/values/text.h"
#include "log_kind.h"

/* Buffers for one line. */
typedef struct dsjson dsjson;

ee_status dsjson_create(memory *owner, dsjson **out, ee_error *error);

/* Parses a line without its line end. Fills event if the verdict is LOG_EVENT; its pointers are valid until the next
 * line. Fails only if memory runs out: problems of the line go into the note. */
ee_status dsjson_parse(dsjson *self, const char *bytes, size_t size, const log_options *options, log_event *event,
                       log_note *note, ee_error *error);

/* Adds the event as a line of dsjson, with its line end. Reading it gives the same event again; observations are
 * replaced by the reward computed from them. */
void dsjson_format(text *into, const log_event *event);

/* What the server adds to an event. */
typedef struct dsjson_source {
    const double *learned; /* (slots, or 1) the reward that was learned in place of the event's, which becomes
                            * _original_label_cost: apprentice mode; NULL: the event's */
    uint64_t version;      /* of the model that decided: VWState */
    uint64_t cursor;       /* _cursor */
} dsjson_source;

/* The same, with the server's additions. */
void dsjson_format_served(text *into, const log_event *event, const dsjson_source *source);

#endif
