/* HTTP/1.1, as the rest of the server sees it: requests that arrive complete, and answers that may be given later and
 * by another thread. Beneath is a pool of threads that never block: slow clients cost memory, not threads.
 *
 * Each worker has its connections and waits for them with epoll (http_worker.c). A connection is a state machine
 * (http_connection.c): it reads a request (http_request.c), gives it to its handler, and sends the answer
 * (http_response.c). Requests are read strictly (http_head.h, http_chunks.h): whatever is malformed gets one answer
 * with a 4xx or 505, and the connection is closed. */
#ifndef EENET_HTTP_H
#define EENET_HTTP_H

#include "base/json.h"
#include "data/values/text.h"

typedef struct http_server http_server;

typedef enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE, HTTP_OTHER } http_method;

/* One request and its answer. It lives until the answer was sent. */
typedef struct http_exchange http_exchange;
struct http_exchange {
    http_method method;
    json_text path;  /* as it came, before percent-decoding, without the query */
    json_text query; /* as it came, without the question mark */
    json_text body;
    size_t body_limit; /* set by admit; more is 413 */
    const void *route; /* set by admit, for handle */
    /* How the API that is asked calls an error, given its status and our code; NULL: as we do. Set by admit. */
    const char *(*name_error)(struct http_exchange *exchange, int status, const char *code);
    char peer[48];  /* the client's address */
    double arrived; /* seconds, of a clock that never goes back */

    int status;               /* of the answer; 0: not answered yet */
    text answer;              /* its body */
    const char *content_type; /* NULL: JSON; lives as long as the server */

    memory memory; /* for what the handler needs until the exchange ends */
    void *context; /* the handler's */
    struct http_connection *connection;
};

typedef struct http_options {
    const char *address; /* "127.0.0.1", "::1", "0.0.0.0" */
    uint16_t port;       /* 0: any free one */
    int listening;       /* a socket that listens already (systemd); -1: none */
    size_t threads;
    size_t connections, connections_each; /* at most: in all (then 503), of one address (then 429; 0: no limit) */
    double idle_seconds;                  /* in which a connection must bring its next request, a request its body, and
                                             a client take its answer; 16 KB give a second more */
    size_t header_bytes;                  /* of a request, about; more is 431 */
    const char *certificate, *key;        /* files, PEM; NULL: no TLS */

    /* For each request, before anything else and even if it is malformed: adds what every answer has (optional). */
    void (*begin)(void *context, http_exchange *exchange);
    /* When the headers are there: sets route and body_limit and returns true; or answers, and returns false: the body
     * is then not read. */
    bool (*admit)(void *context, http_exchange *exchange);
    /* When the body is there. Answers, now or later. */
    void (*handle)(void *context, http_exchange *exchange);
    /* After the answer was sent, or the connection was lost: to count it. The exchange is over after it. */
    void (*ended)(void *context, http_exchange *exchange);
    void *context;
} http_options;

ee_status http_start(const http_options *options, http_server **out, ee_error *error);
uint16_t http_port(const http_server *self);

/* Whether none but this machine reaches a socket that listens. */
bool http_socket_is_local(int listening);

/* Another certificate, for connections that come from now on. Only where there was one at the start. */
ee_status http_set_certificate(http_server *self, const char *certificate, const char *key, ee_error *error);

/* Accepts no more connections; open ones continue, with "Connection: close". */
void http_drain(http_server *self);
/* Requests that were admitted or refused, and whose answer is not sent yet. */
size_t http_open_requests(const http_server *self);
size_t http_connections(const http_server *self);
/* Drains, refuses what still comes (503), and waits until every exchange was answered by its handler. Frees; NULL is
 * allowed. */
void http_stop(http_server *self);

/* A header of the request; NULL where it has none. */
const char *http_header(const http_exchange *exchange, const char *name);
/* A value of the query, decoded, in the exchange's memory; what does not decode comes as it is. NULL where there is
 * none. */
const char *http_query(http_exchange *exchange, const char *name);
/* The first name in the query that is not one of names, which is (count); false: there is none. */
bool http_query_unknown(const http_exchange *exchange, const char *const *names, size_t count, json_text *unknown);

/* ---- answering: in any thread, once. From then on the exchange is not the caller's any more ---- */

/* Before the answer. Both are copied; control characters of the value become question marks. */
void http_add_header(http_exchange *exchange, const char *name, const char *value);

/* Sends exchange->answer with this status. */
void http_answer(http_exchange *exchange, int status);

/* {"error": {"code": ..., "message": ...}}. What is no UTF-8 in the message, or was cut, becomes question marks. */
void http_error(text *into, const char *code, const char *message);

/* The same as the answer, with this status and its http_code. */
__attribute__((format(printf, 3, 4))) void http_refuse(http_exchange *exchange, int status, const char *format, ...);

/* An answer whose length is not known: read fills up to capacity bytes and returns how many; 0: the end, -1: it broke,
 * and the connection is cut. Called in the pool's threads, whenever the client took what it had. release is called
 * once, whatever happens. */
typedef long http_read(void *context, char *bytes, size_t capacity);
enum { HTTP_READ_LATER = -2 }; /* nothing is there yet: http_continue follows */
void http_stream(http_exchange *exchange, int status, http_read *read, void (*release)(void *context), void *context);

/* After HTTP_READ_LATER, in any thread: read is called again. Not after release. */
void http_continue(http_exchange *exchange);

/* The status as text, as "Not Found", and the code of our errors with it, as "NotFound". */
const char *http_reason(int status);
const char *http_code(int status);

#endif
