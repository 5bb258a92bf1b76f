/* The head of a request: its first line and its header fields, by the grammar of RFC 9112 and without exceptions. A
 * request that two programs could read differently is refused: a proxy and this server must agree on where it ends. */
#ifndef EENET_HTTP_HEAD_H
#define EENET_HTTP_HEAD_H

#include "http.h"

enum { HTTP_FIELDS = 100 }; /* at most in one head; more is 431 */

/* Why a request is refused. */
typedef struct http_fault {
    int status; /* 400, 413, 417, 431 or 505; 0: no fault */
    const char *message;
} http_fault;

typedef struct http_field {
    const char *name, *value; /* each ended by a zero */
} http_field;

typedef struct http_head {
    http_method method;
    json_text path, query; /* see http_exchange */
    bool is_old;           /* HTTP/1.0 */
    bool keeps_open;       /* the client allows another request on this connection */
    bool expects_continue;
    bool is_chunked;
    uint64_t body_bytes; /* by Content-Length; 0 if the body is chunked */
    size_t field_count;
    http_field fields[HTTP_FIELDS];
} http_head;

/* The search for the end of a head, continued when more bytes have arrived; {0} starts it. */
typedef struct http_head_search {
    size_t start; /* of the head: after an empty line, if the input begins with one */
    size_t seen;  /* bytes that were searched */
    size_t line;  /* start of the current line */
    size_t lines; /* complete ones */
} http_head_search;

/* Searches bytes (length), which extend those of the last call. Returns the size of the input up to the end of the
 * head, or 0: incomplete, or invalid if fault->status is set. A fault is reported as soon as it is visible. */
size_t http_head_find(http_head_search *search, const char *bytes, size_t length, http_fault *fault);

/* Reads a complete head. bytes (length) begin with the request line and end with the empty line; they are changed, and
 * *out points into them. Returns false and sets *fault if the head is invalid; out->method is correct even then if the
 * request line is valid. */
bool http_head_read(http_head *out, char *bytes, size_t length, http_fault *fault);

/* The value of a field; NULL: there is none. */
const char *http_head_field(const http_head *head, const char *name);

#endif
