/* Bodies in chunks (RFC 9112, section 7.1), read strictly. Extensions and trailers are checked and ignored. */
#ifndef EENET_HTTP_CHUNKS_H
#define EENET_HTTP_CHUNKS_H

#include "base/json.h"

/* {0} starts it. */
typedef struct http_chunks {
    int state;
    uint64_t left;  /* bytes of the chunk that have not arrived */
    size_t digits;  /* of its size so far; 0: the size is complete */
    size_t ignored; /* bytes of extensions and trailers in this body */
    size_t name;    /* bytes of the name of a trailer so far */
} http_chunks;

typedef enum chunks_result { CHUNKS_MORE, CHUNKS_DATA, CHUNKS_END, CHUNKS_INVALID } chunks_result;

/* Reads from *input and advances it. CHUNKS_DATA: *data is a piece of the body, within the input. CHUNKS_MORE: the
 * input is used up. CHUNKS_END: the body is complete; the rest of the input is the next request. */
chunks_result http_chunks_next(http_chunks *self, json_text *input, json_text *data);

#endif
