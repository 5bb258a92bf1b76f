/* What the files of HTTP share: servers, connections and exchanges from the inside. */
#ifndef EENET_HTTP_INSIDE_H
#define EENET_HTTP_INSIDE_H

#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "http.h"

typedef struct http_connection http_connection;
typedef struct pooled_exchange pooled_exchange;
typedef struct tls_certificates tls_certificates;

struct http_server {
    memory memory;
    http_options options;
    struct MHD_Daemon *daemon;
    int listening; /* -1: none */
    uint16_t port;
    bool own_socket; /* opened by us, not by systemd */
    pthread_t acceptor;
    bool has_acceptor;
    int accept_wakes; /* to be written to; -1: none */
    atomic_bool is_draining, is_stopping;
    atomic_size_t open;        /* requests whose answer is not sent */
    atomic_size_t connections; /* that there are */
    atomic_size_t accepted;    /* that a thread of the pool is to begin with */
    atomic_size_t handled;     /* requests whose handler has not answered, and answers that are being given */

    pthread_mutex_t pool_lock; /* of: */
    pooled_exchange *free_exchanges;
    size_t free_count;

    pthread_mutex_t list_lock; /* of the connections, the certificates, and: */
    http_connection *first;
    tls_certificates *certificates; /* the latest first; older ones may still be in use */
    bool sweep_ends;
    pthread_cond_t sweep_wakes;
    pthread_t sweep;
    bool has_sweep;
};

/* Whether it is the client's turn to send the rest of a request. */
typedef enum http_asking {
    ASKING_NOTHING,
    ASKING,
    ASKING_NO_MORE /* it has closed its side, and what it sent before was read or is being read */
} http_asking;

/* One client. */
struct http_connection {
    http_server *server;
    struct MHD_Connection *mhd;
    int socket;
    char peer[48];
    atomic_int_least64_t deadline; /* microseconds: when it is cut; INT64_MAX while a handler has it */
    atomic_int asking;             /* an http_asking */
    pooled_exchange *current;
    http_connection *next, *previous;
};

/* The owner of the exchange. Handlers answer in any thread at any time, perhaps before the pool's thread has returned
 * from them and suspended the connection: the second of the two continues. */
typedef enum exchange_stage {
    STAGE_HEADERS,   /* are being read */
    STAGE_BODY,      /* is being read */
    STAGE_HANDLED,   /* the handler has it, and the pool's thread is still within it */
    STAGE_SUSPENDED, /* the handler owns it; the answering thread resumes the connection */
    STAGE_ANSWERED   /* the pool's thread has it */
} exchange_stage;

/* An exchange with the buffers that it keeps when it is used again. */
struct pooled_exchange {
    http_exchange exchange; /* the first member: each is found from the other */
    atomic_int stage;
    bool is_open;    /* admit has seen it, and `ended` will */
    bool is_handled; /* and its answer was not taken over yet */
    char *target;    /* the raw path and query */
    size_t target_capacity;
    char *body;
    size_t body_capacity;
    text headers;    /* of the answer: names and values, each ended by a zero */
    http_read *read; /* of a stream that libmicrohttpd does not have yet */
    void (*release)(void *context);
    void *stream;
    pooled_exchange *next;
};

/* ---- http.c ---- */

/* The answer of a handler is there, or it will not be sent. */
void http_leave_handler(pooled_exchange *self);

/* ---- http_deadline.c ---- */

/* The client has idle_seconds from now, and a second more for each 16 KB. */
void http_start_clock(http_connection *connection, size_t bytes);
/* So many bytes came or went: never more than idle_seconds from now. */
void http_give_time(http_connection *connection, size_t bytes);
/* It is not the client that is waited for. */
void http_stop_clock(http_connection *connection);

ee_status http_start_sweep(http_server *server, ee_error *error);
void http_stop_sweep(http_server *server);

/* ---- http_pool.c ---- */

/* NULL: no memory. */
pooled_exchange *http_pool_take(http_server *server);
void http_pool_give(http_server *server, pooled_exchange *used);
void http_pool_free(http_server *server);

/* ---- http_answer.c ---- */

/* Hands the answer to libmicrohttpd, in the pool's thread. */
enum MHD_Result http_send_answer(pooled_exchange *self);
/* Sends the response as bytes while a body is being received, when libmicrohttpd does not accept one. The connection
 * is closed after it. */
void http_send_last(pooled_exchange *self);

/* ---- http_listen.c ---- */

/* *listening = a socket that listens there, and does not block. */
ee_status http_listen(const char *address, uint16_t port, int *listening, ee_error *error);
uint16_t http_socket_port(int listening);
/* Raises the limit of open files for this number of connections; returns how many are possible. */
size_t http_raise_files(size_t connections);

/* ---- http_accept.c ---- */

ee_status http_start_accepting(http_server *server, ee_error *error);
/* After is_draining was set. Who still connects waits in the socket's queue. */
void http_end_accepting(http_server *server);

/* ---- http_tls.c ---- */

struct tls_certificates {
    gnutls_certificate_credentials_t credentials;
    uint8_t *certificate, *key; /* PEM, zero-terminated; only of the first */
    tls_certificates *next;
};

ee_status tls_certificates_read(const char *certificate, const char *key, tls_certificates **out, ee_error *error);
void tls_certificates_free(tls_certificates *first);

#endif
