/* HTTP/1.1 for the rest of the server. Requests arrive complete, and any thread may answer them later. A pool of
 * threads that never block does the work: slow clients cost memory, not threads.
 *
 * Each worker has its connections and waits for them with epoll (http_worker.c). A connection is a state machine
 * (http_connection.c): it reads a request (http_request.c), gives it to its handler, and sends the answer
 * (http_response.c). Requests are read strictly (http_head.h, http_chunks.h): a malformed request gets one response,
 * 4xx or 505, and the connection is closed. */
#ifndef EENET_HTTP_H
#define EENET_HTTP_H

#include "base/json.h"
#include "data/values/text.h"

typedef struct http_server http_server;

typedef enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE, HTTP_OTHER } http_method;

/* One request and its response. It lives until the response is sent. */
typedef struct http_exchange http_exchange;
struct http_exchange {
    http_method method;
    json_text path;  /* as received: not decoded, without the query */
    json_text query; /* as received, without the question mark */
    json_text body;
    size_t body_limit; /* set by admit; a larger body is refused with 413 */
    const void *route; /* set by admit, for handle */
    /* The code of an error in the API of this request, given its status and our code; NULL: our code. Set by admit. */
    const char *(*name_error)(struct http_exchange *exchange, int status, const char *code);
    char peer[48];  /* the client's address */
    double arrived; /* seconds of a monotonic clock */

    int status;               /* of the response; 0: not answered yet */
    text answer;              /* its body */
    const char *content_type; /* NULL: JSON; lives as long as the server */

    memory memory; /* for what the handler needs until the exchange ends */
    void *context; /* the handler's */
    struct http_connection *connection;
};

typedef struct http_options {
    const char *address; /* "127.0.0.1", "::1", "0.0.0.0" */
    uint16_t port;       /* 0: any free one */
    int listening;       /* a listening socket (systemd); -1: none */
    size_t threads;
    size_t connections, connections_each; /* limits: in total (then 503), per address (then 429; 0: no limit) */
    double idle_seconds; /* timeout for the next request, for a body, and for reading a response; one second more for
                            each 16 KB */
    int64_t (*clock)(void *context); /* of these timeouts, in microseconds, for tests; NULL: the system's */
    size_t header_bytes;             /* of a request, about; 431 if exceeded */
    const char *certificate, *key;   /* files, PEM; NULL: no TLS */

    /* Called first for each request, even a malformed one: adds the headers of every response (optional). */
    void (*begin)(void *context, http_exchange *exchange);
    /* Called when the headers have arrived: sets route and body_limit and returns true, or answers and returns false;
     * then the body is not read. */
    bool (*admit)(void *context, http_exchange *exchange);
    /* Called when the body has arrived. Answers now or later. */
    void (*handle)(void *context, http_exchange *exchange);
    /* Called after the response was sent or the connection was lost, for counting. The exchange ends after it. */
    void (*ended)(void *context, http_exchange *exchange);
    void *context;
} http_options;

ee_status http_start(const http_options *options, http_server **out, ee_error *error);
uint16_t http_port(const http_server *self);

/* Whether only this machine can reach a listening socket. */
bool http_socket_is_local(int listening);

/* Replaces the certificate for new connections. Only if there was one at the start. */
ee_status http_set_certificate(http_server *self, const char *certificate, const char *key, ee_error *error);

/* Accepts no more connections; open ones continue, with "Connection: close". */
void http_drain(http_server *self);
/* Requests whose response is not sent yet. */
size_t http_open_requests(const http_server *self);
size_t http_connections(const http_server *self);
/* Drains, refuses new requests (503), waits until every handler has answered, and frees. NULL is allowed. */
void http_stop(http_server *self);

/* A header of the request; NULL: it has none. */
const char *http_header(const http_exchange *exchange, const char *name);
/* A parameter of the query, decoded, in the exchange's memory; not decoded if its encoding is invalid. NULL: it is not
 * given. */
const char *http_query(http_exchange *exchange, const char *name);
/* Finds the first name in the query that is not one of names (count); false: there is none. */
bool http_query_unknown(const http_exchange *exchange, const char *const *names, size_t count, json_text *unknown);

/* ---- answering: in any thread, once. After it the caller must not use the exchange ---- */

/* Adds a header of the response. Both texts are copied; control characters in the value become question marks. */
void http_add_header(http_exchange *exchange, const char *name, const char *value);

/* Sends exchange->answer with this status. */
void http_answer(http_exchange *exchange, int status);

/* {"error": {"code": ..., "message": ...}}. If the message is not UTF-8, its bytes above 127 become question marks. */
void http_error(text *into, const char *code, const char *message);

/* Answers with such an error: this status, and its http_code. */
__attribute__((format(printf, 3, 4))) void http_refuse(http_exchange *exchange, int status, const char *format, ...);

/* Answers with a body of unknown length. read fills up to capacity bytes and returns how many; 0: the end; -1: it
 * failed, and the connection is cut. It is called in the pool's threads whenever the client can take more. release is
 * called once, in every case. */
typedef long http_read(void *context, char *bytes, size_t capacity);
enum { HTTP_READ_LATER = -2 }; /* no bytes yet: http_continue follows */
void http_stream(http_exchange *exchange, int status, http_read *read, void (*release)(void *context), void *context);

/* After HTTP_READ_LATER, in any thread: has read called again. Not after release. */
void http_continue(http_exchange *exchange);

/* The status as text, as "Not Found", and the code of our errors with it, as "NotFound". */
const char *http_reason(int status);
const char *http_code(int status);

#endif
