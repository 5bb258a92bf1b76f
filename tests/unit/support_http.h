/* A little server on serve/http.h, and a client that sends what it is told, byte by byte if need be. */
#ifndef EENET_TEST_SUPPORT_HTTP_H
#define EENET_TEST_SUPPORT_HTTP_H

#include <pthread.h>
#include <stdatomic.h>

#include "serve/http/http.h"

/* ---- the server ----
 *
 *   POST /echo    answers the body; at once
 *   POST /later   the same, by another thread, at some moment: before or after the handler has returned
 *   GET  /never   answered by echo_release
 *   GET  /stream  ?bytes=N bytes, of unknown length to the client; ?break=1: it breaks after them
 *   GET  /size    ?bytes=N bytes, of known length
 *   GET  /seen    path, query, a decoded value of the query and headers, as they were understood
 */
typedef struct exchange_list { /* that wait for another thread; linked by their context */
    http_exchange *first;
    size_t count;
} exchange_list;

typedef struct echo_server {
    http_server *http;
    uint16_t port;
    atomic_size_t ended, released; /* exchanges that ended, streams that were released, so far */
    atomic_bool has_stopped;
    atomic_int_least64_t clock; /* microseconds; it stands still */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wakes;
    exchange_list later, never;
    bool is_stopping;
} echo_server;

/* Seconds: a limit for what hangs. */
enum { RAW_PATIENCE = 600 };

/* NULL: defaults. Of what is given here address, port, admit and handlers are set by it. The program ends where it
 * cannot be started. */
echo_server *echo_start(const http_options *options);
void echo_stop(echo_server *self);
/* Stops HTTP alone, and answers those that wait once it accepts nobody. The rest stays, for clients that still ask for
 * the port. Returns whether HTTP had not stopped before. */
bool echo_stop_http(echo_server *self);
/* The clock of its timeouts, which stands still, goes on. */
void echo_pass(echo_server *self, double seconds);

/* Answers those that wait at /never. */
void echo_release(echo_server *self);
size_t echo_waiting(echo_server *self);

/* Connections and requests that are open now. */
size_t echo_connections(echo_server *self);
size_t echo_open(echo_server *self);

http_options echo_options(void);

/* ---- the client ---- */

typedef struct http_reply {
    int status;
    char head[4096];
    char *body; /* (length) and a zero; to be freed with free */
    size_t length;
    bool closed; /* "Connection: close" */
    int interim; /* answers of status 100 before it */
} http_reply;

int raw_connect(uint16_t port);
/* false where the connection is gone. */
bool raw_send(int socket, const char *bytes, size_t size);
bool raw_send_text(int socket, const char *words);
/* Reads one answer, chunked or not; false where the connection ends before. is_head: it has no body. */
bool raw_read(int socket, http_reply *reply, bool is_head);
/* So many bytes; false where the connection ends before. */
bool raw_read_some(int socket, char *bytes, size_t size);
/* Waits until the other side closes; what still comes is thrown away. */
bool raw_is_closed(int socket);
void raw_close(int socket);
/* Closes so that the other side sees an error. */
void raw_reset(int socket);

/* Sends a whole request and reads its answer. */
bool raw_ask(int socket, const char *request, http_reply *reply);

#endif
