/* Lines of the log about requests. A response with status 500 always has one. With log-requests = SHARE, so has each
 * response with a status of 400 or more, up to REQUEST_LOG_ERRORS per second, and this share of the others. At the
 * level debug each request has one. */
#ifndef EENET_REQUEST_LOG_H
#define EENET_REQUEST_LOG_H

#include "serve/http/http.h"
#include "server_log.h"
#include "trace_context.h"

/* Per second, so that a caller that is refused all the time does not fill the disk. */
enum { REQUEST_LOG_ERRORS = 100 };

/* Zeros at first. */
typedef struct request_log {
    atomic_uint_fast64_t requests; /* looked at; draws the sample */
    atomic_int_least64_t second;   /* of the count below */
    atomic_uint_fast64_t errors;   /* lines about errors in this second */
    atomic_uint_fast64_t left_out; /* errors without a line since the last line about one */
} request_log;

typedef struct request_line {
    const http_exchange *exchange; /* answered */
    double seconds;                /* it took */
    const char *key, *id;          /* names of the key and of the request; "" for none */
    const trace_context *trace;    /* NULL: none */
} request_line;

/* now: seconds of a clock that never goes back. */
void request_log_write(request_log *self, const server_log *log, double share, double now, const request_line *line);

#endif
