/* Reads a response of HTTP/1.1 (RFC 9112), as strictly as the server reads requests: a response that two programs could
 * read differently is invalid. Its body has a Content-Length or comes in chunks; one that ends with the connection is
 * invalid, because its end cannot be told from a failure. */
#ifndef EENET_FORWARD_RESPONSE_H
#define EENET_FORWARD_RESPONSE_H

#include "serve/http/http_chunks.h"

enum { RESPONSE_HEAD_BYTES = 64 << 10 }; /* at most in the head of a response */

/* {.most_bytes = ..., .is_to_head = ...} starts it. */
typedef struct forward_response {
    size_t most_bytes; /* of the body */
    bool is_to_head;   /* the request was HEAD: the response has no body */

    int status;
    bool keeps_open;    /* the peer allows another request on this connection */
    bool has_more;      /* bytes follow the response, which no request asked for */
    const char *fault;  /* why it is invalid */
    json_text headers;  /* the lines, each with its end; set with RESPONSE_END, within the bytes */
    json_text body;     /* the same */
    size_t searched;    /* bytes in which the end of the head was searched */
    size_t head_bytes;  /* of the head; 0: it is incomplete */
    size_t first_line;  /* bytes of the status line, with its end */
    uint64_t body_left; /* by Content-Length, what has not arrived */
    size_t body_bytes;  /* that have arrived, after the head */
    bool is_chunked;
    http_chunks chunks;
} forward_response;

typedef enum response_result { RESPONSE_MORE, RESPONSE_END, RESPONSE_INVALID } response_result;

/* Reads bytes (*size): all that has arrived of the response, which extend those of the last call. Bytes are moved and
 * *size decreases when chunks are decoded or an interim response (100) is dropped. */
response_result forward_response_read(forward_response *self, char *bytes, size_t *size);

/* The next line of *lines, which is advanced; false: there is none, or it is invalid: then lines->length is not 0. */
bool forward_next_header(json_text *lines, json_text *name, json_text *value);

#endif
