/* Lines of dsjson, the log of Azure Personalizer and Vowpal Wabbit: a JSON object for each decision. docs/log-format.md
 * has the fields. */
#ifndef EENET_DSJSON_H
#define EENET_DSJSON_H

#include "log_kind.h"

/* Room for what one line holds. */
typedef struct dsjson dsjson;

ee_status dsjson_create(memory *owner, dsjson **out, ee_error *error);

/* Reads a line, without its end. Fills event where the verdict is LOG_EVENT: its pointers lead into the bytes and the
 * room, and are valid until the next line. Fails for lack of memory only: what is wrong with the line is a note. */
ee_status dsjson_parse(dsjson *self, const char *bytes, size_t size, const log_options *options, log_event *event,
                       log_note *note, ee_error *error);

/* Text that grows. */
typedef struct log_line {
    char *bytes;
    size_t size, capacity;
} log_line;

/* The event as a line of dsjson, with its end, in place of what was in `line`; its bytes are to be freed with
 * memory_free. What was read from a line and is in the event is the same when the new line is read. */
ee_status dsjson_format(const log_event *event, log_line *line, ee_error *error);

#endif
