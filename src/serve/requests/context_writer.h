/* Writes a decision's named features as they are stored: one JSON object on one line, into memory that is large enough.
 */
#ifndef EENET_CONTEXT_WRITER_H
#define EENET_CONTEXT_WRITER_H

#include <string.h>

#include "base/json.h"

static inline char *context_add_bytes(char *out, const char *bytes, size_t length)
{
    memcpy(out, bytes, length);
    return out + length;
}

static inline char *context_add(char *out, const char *string)
{
    return context_add_bytes(out, string, strlen(string));
}

/* In JSON, line ends occur only between values, where a blank is equivalent. */
static inline char *context_add_json(char *out, json_text value)
{
    char *end = value.length ? context_add_bytes(out, value.bytes, value.length) : out;
    for (; out < end; out++)
        if (*out == '\n' || *out == '\r') *out = ' ';
    return end;
}

/* Most bytes that json_quote writes for a name. */
static inline size_t context_quoted_most(json_text name)
{
    return 6 * name.length + 2;
}

#endif
