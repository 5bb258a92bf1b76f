/* Private to the forwarder: its thread, peers and connections. Only the thread touches them, except for the inbox and
 * the counts. */
#ifndef EENET_FORWARD_INSIDE_H
#define EENET_FORWARD_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "data/values/text.h"
#include "forward_address.h"
#include "forward_response.h"
#include "forwarder.h"
#include "serve/http/http_transport.h"
#include "serve/system/server_clock.h"

typedef struct forward_peer forward_peer;
typedef struct forward_connection forward_connection;

/* The first and last of a doubly linked list. */
typedef struct request_list {
    forward_request *first, *last;
} request_list;

typedef struct connection_list {
    forward_connection *first, *last;
} connection_list;

/* What connections with TLS share; created when the first needs it. */
typedef struct forward_tls {
    gnutls_priority_t priorities;
    gnutls_certificate_credentials_t pinned;  /* no trust store: the fingerprint decides */
    gnutls_certificate_credentials_t trusted; /* by the system */
} forward_tls;

struct forwarder {
    forwarder_options options;
    int64_t connect_time, idle_time; /* microseconds */
    pthread_t thread;
    int epoll, wakes;

    pthread_mutex_t lock; /* of: */
    forward_request *inbox, **inbox_end;
    bool is_stopping;

    atomic_uint_least64_t requests, ended, failures, connected, connections, waiting;

    int64_t now;                /* of this turn of the loop */
    request_list timed;         /* all requests, by deadline */
    connection_list connecting; /* by the time at which they began */
    forward_peer *peers;
    forward_tls tls;
};

/* One address, with its connections and the requests that wait for one. */
struct forward_peer {
    char name[FORWARD_ADDRESS_SIZE]; /* as requests give it */
    forward_address address;
    int64_t resolved;    /* when its name was resolved; 0: never */
    ee_error unresolved; /* why the last attempt failed; EE_OK: it did not */
    size_t first_place;  /* that accepted the last connection */
    size_t connection_count;
    size_t request_count; /* that wait or have a connection */
    connection_list idle; /* the last used first */
    request_list queue;
    int64_t used; /* when it last had a request */
    forward_peer *next;
};

typedef enum forward_state {
    FORWARD_NEW, /* no socket yet */
    FORWARD_CONNECTING,
    FORWARD_SHAKES_HANDS, /* TLS */
    FORWARD_BUSY,         /* sends the request and reads the response */
    FORWARD_IDLE
} forward_state;

struct forward_connection {
    forwarder *owner;
    forward_peer *peer;
    http_transport transport; /* socket -1: none */
    forward_state state;
    uint32_t watched;         /* events that epoll reports */
    size_t place, tried;      /* which of the peer's places, and how many before it failed */
    bool is_reused;           /* it has served a request before */
    bool has_sent;            /* at least a part of the current request */
    bool cannot_send;         /* the peer takes no more; its response may have arrived before */
    int64_t since;            /* when it became idle or began to connect */
    forward_request *request; /* NULL: idle */

    text out;       /* the head of the request, and a short body */
    json_text body; /* that is not in out */
    size_t sent;    /* bytes of both */

    char *in; /* the response */
    size_t in_size, in_capacity;
    forward_response response;
    forward_connection *next, *previous; /* in the list of its state: connecting or idle */
};

/* Microseconds, of the clock of its timeouts. */
static inline int64_t forward_now(const forwarder *self)
{
    return self->options.clock ? self->options.clock(self->options.clock_context) : server_clock_real();
}

/* ---- forward_requests.c ---- */

void connections_push_first(connection_list *list, forward_connection *added);
void connections_push_last(connection_list *list, forward_connection *added);
void connections_remove(connection_list *list, forward_connection *removed);

void queue_push_first(request_list *list, forward_request *added);
void queue_push_last(request_list *list, forward_request *added);
void queue_remove(request_list *list, forward_request *removed);

/* Keeps the order of the deadlines. */
void timed_insert(request_list *list, forward_request *added);
void timed_remove(request_list *list, forward_request *removed);

/* The request has its result, and is neither queued nor has a connection: counts it and calls done. */
void forward_end_request(forwarder *self, forward_request *request);

/* ---- forward_tls.c ---- */

/* Adds TLS to a connected socket. false: request->error says why. */
bool forward_tls_start(forward_connection *self);
/* The handshake. 0: it is complete and the peer is verified; TRANSPORT_WAIT; TRANSPORT_LOST: request->error is set. */
int forward_tls_shake_hands(forward_connection *self);
/* Whether the handshake waits to write, not to read. */
bool forward_tls_writes(const forward_connection *self);
void forward_tls_free(forward_tls *self);

/* ---- forward_connection.c ---- */

/* Opens a connection for a request. false: out of memory, request->error is set. */
bool forward_open(forwarder *owner, forward_peer *peer, forward_request *request);
/* Sends a request on an idle connection. */
void forward_reuse(forward_connection *self, forward_request *request);
/* Whether an idle connection is still open, as far as this side knows. */
bool forward_is_alive(forward_connection *self);
/* Continues after events of epoll. It may be freed. */
void forward_connection_run(forward_connection *self, uint32_t events);
/* The time to connect is over: tries the next place, or fails. */
void forward_connect_late(forward_connection *self);
/* Closes and frees it; its request, if there is one, has no connection then. */
void forward_close(forward_connection *self);

/* ---- forward_peers.c ---- */

/* Adds a new request to the queue of its peer, or ends it if its address is invalid. */
void forward_enqueue(forwarder *self, forward_request *request);
/* Ends a request that is queued or has a connection, without a response. Its error is set. */
void forward_abandon(forwarder *self, forward_request *request);
/* Gives connections to the requests that wait. */
void forward_serve_queues(forwarder *self);
/* Closes connections and frees peers that are unused for long. Returns when it has to be called again. */
int64_t forward_close_unused(forwarder *self);
/* Frees all peers, which have no requests, with their connections. */
void forward_free_peers(forwarder *self);

#endif
