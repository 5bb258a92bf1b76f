/* W3C Trace Context: the header traceparent, which names the trace that a request belongs to.
 *
 *     00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *     version, trace id, id of the caller's span, flags
 *
 * https://www.w3.org/TR/trace-context/ */
#ifndef EENET_TRACE_CONTEXT_H
#define EENET_TRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

enum { TRACE_ID_SIZE = 32, SPAN_ID_SIZE = 16, TRACE_PARENT_SIZE = 55 };

/* Texts end with a zero. */
typedef struct trace_context {
    char trace[TRACE_ID_SIZE + 1];
    char parent[SPAN_ID_SIZE + 1]; /* the caller's span */
    char span[SPAN_ID_SIZE + 1];   /* ours */
    bool sampled;
} trace_context;

/* Reads a header; span is the new span's id, not 0. false: it is not valid, and is to be ignored. NULL is not valid. */
bool trace_context_read(const char *header, uint64_t span, trace_context *out);

/* The header for what continues the trace: the same trace, our span. */
void trace_context_write(const trace_context *self, char out[TRACE_PARENT_SIZE + 1]);

#endif
