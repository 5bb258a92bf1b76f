/* A client of the server, for tests: one connection that is kept open, a request at a time. A thread has its own. */
#ifndef EENET_HTTP_CLIENT_H
#define EENET_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct http_client {
    uint16_t port; /* of 127.0.0.1; set it again when the server has another port */

    int status;         /* of the last answer; 0: there was none (whole) */
    const char *answer; /* its body: (size) bytes, and a zero */
    size_t size;

    int socket; /* the client's own from here on */
    uint16_t connected;
    char *room;
    size_t capacity, filled;
} http_client;

http_client http_client_start(uint16_t port);
void http_client_end(http_client *self);

/* Sends and waits for the answer: its status, or 0 where the connection broke, and then nobody
 * knows whether the request was taken. A connection that the server closed while it was idle is opened again. */
int http_client_call(http_client *self, const char *method, const char *path, const void *body, size_t size);
__attribute__((format(printf, 4, 5))) int http_client_ask(http_client *self, const char *method, const char *path,
                                                          const char *format, ...);

/* A member of the answer's object, or of an object in it ("error.code"): as text without its quotes, or as a number.
 * false: it has none. */
bool http_client_text(const http_client *self, const char *name, char *out, size_t capacity);
bool http_client_number(const http_client *self, const char *name, double *out);

#endif
