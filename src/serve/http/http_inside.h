/* Private to http: servers, workers, connections and exchanges. */
#ifndef EENET_HTTP_INSIDE_H
#define EENET_HTTP_INSIDE_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "http.h"
#include "http_chunks.h"
#include "http_head.h"
#include "http_transport.h"

typedef struct http_connection http_connection;
typedef struct http_worker http_worker;
typedef struct http_peers http_peers;
typedef struct pooled_exchange pooled_exchange;
typedef struct tls_certificates tls_certificates;

struct http_server {
    memory memory;
    http_options options;
    int listening; /* -1: none */
    uint16_t port;
    bool opened_socket; /* opened by us, not by systemd */
    http_worker *workers;
    size_t worker_count; /* that run */
    pthread_t acceptor;
    bool has_acceptor;
    int accept_wakes;     /* wakes the acceptor when written to; -1: none */
    int spare_descriptor; /* closed to accept and refuse a client when descriptors run out; -1: none */
    http_peers *peers;
    atomic_bool is_draining, is_stopping;
    atomic_size_t open;        /* requests whose answer is not sent */
    atomic_size_t connections; /* without refused ones */
    atomic_size_t refused;     /* connections whose first request is refused */
    atomic_size_t handled;     /* requests whose handler has not answered, and responses being handed over */

    pthread_mutex_t pool_lock; /* of: */
    pooled_exchange *free_exchanges;
    size_t free_count;

    pthread_mutex_t certificates_lock; /* of: */
    tls_certificates *certificates;    /* the latest first; older ones may still be in use */
    gnutls_priority_t priorities;
};

/* A thread with its connections. Others reach it only through its inbox. */
struct http_worker {
    http_server *server;
    pthread_t thread;
    int epoll, wakes;
    atomic_bool ends;

    pthread_mutex_t inbox_lock; /* of: */
    http_connection *inbox;     /* new ones, and those whose response is ready */

    http_connection *first; /* all */
    http_connection *ready; /* those that can continue at once but gave the others a turn */
    int64_t next_sweep;
    char *free_rooms; /* for input, linked by their first bytes */
    size_t free_room_count;
    char date[32]; /* as a header has it, at: */
    int64_t date_second;
};

typedef enum connection_state {
    CONNECTION_SHAKES_HANDS, /* TLS */
    CONNECTION_READS_HEAD,
    CONNECTION_READS_BODY,
    CONNECTION_HANDLED, /* another thread answers */
    CONNECTION_SENDS,
    CONNECTION_LINGERS, /* its last response is sent; input is discarded, so that the client does not lose the response
                         */
    CONNECTION_STATES
} connection_state;

/* Why a connection gets 503 or 429. */
typedef enum connection_refusal { REFUSAL_NONE, REFUSAL_TOO_MANY, REFUSAL_TOO_MANY_OF_ADDRESS } connection_refusal;

/* One client. Only its worker touches it. */
struct http_connection {
    http_server *server;
    http_worker *worker;
    http_transport transport;
    char peer[48];
    int64_t deadline; /* microseconds: when it is closed; INT64_MAX while a handler works */
    connection_state state;
    connection_refusal refusal;
    bool is_known;                 /* its worker lists it */
    bool is_readable, is_writable; /* as far as known */
    bool has_ended;                /* the client sends nothing after what is in the socket */
    bool is_answered;              /* CONNECTION_HANDLED is over */
    bool is_ready;                 /* in the worker's list */
    bool closes;                   /* after the current response */

    char *room; /* input: bytes start to end are unused; NULL: none */
    size_t start, end;
    http_head_search search;
    http_chunks chunks;
    uint64_t body_left; /* of Content-Length */
    size_t lingered;    /* bytes discarded at the end */
    pooled_exchange *current;
    http_connection *next, *previous, *next_in_inbox, *next_ready;
};

/* Who owns the exchange. A handler answers in any thread at any time, perhaps before the worker has returned from it:
 * the later of the two continues. */
typedef enum exchange_stage {
    STAGE_REQUEST,   /* is being read */
    STAGE_HANDLED,   /* the handler has it, and the worker has not returned from it */
    STAGE_SUSPENDED, /* the handler has it; the answering thread wakes the worker */
    STAGE_ANSWERED   /* the worker has it */
} exchange_stage;

/* An exchange with buffers that are reused. */
struct pooled_exchange {
    http_exchange exchange; /* the first member: each is found from the other */
    atomic_int stage;
    bool is_open;    /* `begin` has seen it, and `ended` will */
    bool is_handled; /* and its response was not taken over yet */
    http_head head;
    char *head_bytes; /* that the head points into */
    size_t head_capacity;
    char *body;
    size_t body_capacity;
    text headers;    /* of the answer: names and values, each ended by a zero */
    text out;        /* the encoded head of the response, or a piece of a stream */
    bool has_merged; /* the body is in out too */
    size_t sent;     /* bytes of out and, after them, of the answer's body */
    http_read *read;
    void (*release)(void *context);
    void *stream;
    bool stream_waits; /* for http_continue */
    bool stream_has_ended;
    pooled_exchange *next;
};

/* ---- http_clock.c: deadlines ---- */

/* Microseconds. */
int64_t http_now(const http_server *server);
/* The client has idle_seconds from now, and a second more for each 16 KB. */
void http_start_clock(http_connection *connection, size_t bytes);
/* Extends the deadline for bytes that were transferred: at most idle_seconds from now. */
void http_give_time(http_connection *connection, size_t bytes);
/* The deadline is at most this many seconds from now. */
void http_limit_time(http_connection *connection, double seconds);
/* No deadline: the server does not wait for the client. */
void http_stop_clock(http_connection *connection);

/* ---- http_pool.c ---- */

/* NULL: no memory. */
pooled_exchange *http_pool_take(http_server *server);
void http_pool_give(http_server *server, pooled_exchange *used);
void http_pool_free(http_server *server);

/* ---- http_inbox.c: in any thread ---- */

void http_inbox_put(http_worker *worker, http_connection *connection);
/* Takes all, linked by next_in_inbox. */
http_connection *http_inbox_take(http_worker *worker);
void http_inbox_wake(http_worker *worker);

/* ---- http_peers.c: in any thread ---- */

ee_status http_peers_create(http_peers **out, ee_error *error);
void http_peers_free(http_peers *self);
/* Counts a connection of an address. false: it has `most` already (0: no limit), or out of memory. */
bool http_peers_add(http_peers *self, const char *peer, size_t most);
void http_peers_remove(http_peers *self, const char *peer);

/* ---- steps of a connection ---- */

typedef enum connection_step {
    STEP_ON,   /* continue at once */
    STEP_WAIT, /* wait for the socket or the handler */
    STEP_CLOSE
} connection_step;

/* ---- http_input.c ---- */

/* Reads more. STEP_WAIT: nothing has arrived, or nothing will: then has_ended and is_readable are true. */
connection_step http_read_input(http_connection *self);
void http_release_room(http_connection *self);
void http_free_rooms(http_worker *worker);

/* ---- http_request.c ---- */

connection_step http_read_head(http_connection *self);
connection_step http_read_body(http_connection *self);
connection_step http_wait_for_answer(http_connection *self);
/* The deadline passed while a request was being read. STEP_WAIT: no request was. */
connection_step http_refuse_late(http_connection *self);

/* ---- http_response.c ---- */

/* The current exchange has its response. */
void http_begin_response(http_connection *self);
connection_step http_send_response(http_connection *self);
connection_step http_linger(http_connection *self);
/* Ends the current exchange. */
void http_end_exchange(http_connection *self);

/* ---- http_connection.c ---- */

/* Takes over the socket. NULL: out of memory, and the socket is closed. */
http_connection *http_connection_open(http_server *server, int socket, const char *peer, connection_refusal refusal);
/* Runs without waiting, as far as possible. The connection may be freed afterwards. */
void http_connection_run(http_connection *self);
void http_connection_check_deadline(http_connection *self, int64_t now);
void http_connection_close(http_connection *self);

/* ---- http_worker.c ---- */

ee_status http_workers_start(http_server *server, ee_error *error);
void http_workers_stop(http_server *server);

/* ---- http_listen.c ---- */

typedef union socket_name {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_storage room;
} socket_name;

/* *listening = a non-blocking listening socket. */
ee_status http_listen(const char *address, uint16_t port, int *listening, ee_error *error);
uint16_t http_socket_port(int listening);
/* Raises the limit of open files as far as allowed. Lowers *connections to what is possible. */
ee_status http_raise_files(size_t *connections, ee_error *error);

/* ---- http_accept.c ---- */

enum { REFUSED_AT_ONCE = 32 }; /* connections waiting for their 503 or 429 */

ee_status http_start_accepting(http_server *server, ee_error *error);
/* Call after is_draining was set. Clients that still connect wait in the socket's queue. */
void http_end_accepting(http_server *server);

/* ---- http_tls.c ---- */

struct tls_certificates {
    gnutls_certificate_credentials_t credentials;
    tls_certificates *next;
};

ee_status tls_certificates_read(const char *certificate, const char *key, tls_certificates **out, ee_error *error);
void tls_certificates_free(tls_certificates *first);

#endif
