/* Reads lines from standard input as they arrive, until it ends or SIGTERM, SIGINT or SIGHUP arrives. A signal takes
 * effect between lines, or immediately while waiting for one. */
#ifndef EENET_INPUT_LINES_H
#define EENET_INPUT_LINES_H

#include <stdbool.h>

#include "base/json.h"

enum { LONGEST_LINE = 64 << 20 }; /* bytes: more than any sane round */

typedef enum line_kind {
    LINE_WHOLE,
    LINE_TOO_LONG, /* its content is dropped */
    LINE_END,      /* of the input */
    LINE_STOPPED   /* a signal came */
} line_kind;

typedef struct input_lines {
    uint64_t number; /* of the line read last, from 1 */
    char *bytes;     /* (filled - taken) are read and not yet returned */
    size_t taken, filled, searched, capacity;
    bool ended;
} input_lines;

/* From this call on, the signals above no longer end the program. */
ee_status input_lines_start(input_lines *self, ee_error *error);

/* The next line without its line end, valid until the next call. The last one may lack its line end. */
ee_status input_lines_next(input_lines *self, line_kind *kind, json_text *line, ee_error *error);

void input_lines_release(input_lines *self);

#endif
