#define _POSIX_C_SOURCE 200809L
#include "trace_context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Copies size lower-case hexadecimal digits; false if there are other characters, or all are zero. */
static bool take_id(const char *from, size_t size, char *out)
{
    if (strspn(from, "0123456789abcdef") < size) return false;
    memcpy(out, from, size);
    out[size] = '\0';
    return strspn(out, "0") < size;
}

bool trace_context_read(const char *header, uint64_t span, trace_context *out)
{
    enum { VERSION = 0, TRACE = 3, PARENT = 36, FLAGS = 53 };
    static const char digits[] = "0123456789abcdef";
    if (!header || strnlen(header, TRACE_PARENT_SIZE) < TRACE_PARENT_SIZE) return false;
    if (header[TRACE - 1] != '-' || header[PARENT - 1] != '-' || header[FLAGS - 1] != '-') return false;
    if (strspn(header, digits) != 2 || strncmp(header, "ff", 2) == 0) return false;
    if (strspn(header + FLAGS, digits) != 2) return false;
    /* Later versions may add fields after another dash. */
    bool first = strncmp(header, "00", 2) == 0;
    if (header[TRACE_PARENT_SIZE] && (first || header[TRACE_PARENT_SIZE] != '-')) return false;
    if (!take_id(header + TRACE, TRACE_ID_SIZE, out->trace) || !take_id(header + PARENT, SPAN_ID_SIZE, out->parent))
        return false;
    snprintf(out->span, sizeof out->span, "%016" PRIx64, span);
    out->sampled = (strchr(digits, header[FLAGS + 1]) - digits) & 1;
    return true;
}

void trace_context_write(const trace_context *self, char out[TRACE_PARENT_SIZE + 1])
{
    snprintf(out, TRACE_PARENT_SIZE + 1, "00-%s-%s-%02x", self->trace, self->span, (unsigned)self->sampled);
}
