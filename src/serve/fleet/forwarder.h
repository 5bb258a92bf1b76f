/* Sends requests to other servers and hands back their responses. One thread with epoll and connections that are kept
 * open: a peer that hangs costs memory, not threads.
 *
 * Connections are pooled by address. A request takes an idle connection, else opens one, else waits in the order of
 * submission until one of the peer's connections is free.
 *
 * A request is sent at most once, unless it is `safe`. Only when nothing was sent on a connection that the peer had
 * closed meanwhile, the request goes to a new one. `sent` says whether the peer may have executed a request that
 * failed.
 *
 * Host names are resolved in the thread, which waits for it: at most once per FORWARD_NAME_SECONDS and name. Numeric
 * addresses do not wait. So that only idle connections are closed early, idle_seconds must be less than the timeout of
 * the peers. */
#ifndef EENET_FORWARDER_H
#define EENET_FORWARDER_H

#include "base/json.h"

typedef struct forwarder forwarder;
typedef struct forward_request forward_request;

enum { FORWARD_ADDRESS_SIZE = 192, FORWARD_NAME_SECONDS = 30 };

/* Two lists that have the request; private to the forwarder. */
typedef struct forward_link {
    forward_request *next, *previous;
} forward_link;

/* Must stay valid, with all that it points to, until `done` is called. */
struct forward_request {
    /* "http://10.0.0.5:8080", "https://[::1]:443", optionally "#" and the SHA-256 fingerprint (hex) of the peer's
     * certificate. Then that is the only certificate accepted; else the system's trust store verifies it for the
     * host. */
    char address[FORWARD_ADDRESS_SIZE];
    const char *method; /* "POST" */
    json_text target;   /* path and query, as received: it is not escaped or checked */
    json_text headers;  /* whole lines "Name: value\r\n", besides Host, Content-Length and Connection */
    json_text body;
    double seconds; /* timeout, from submission to the end of the response; `extend` adds to it */
    bool safe;      /* may be executed twice: it is sent again if a reused connection was closed without a response */
    void (*done)(
        forward_request *request); /* once, in the forwarder's thread; must not wait. It may free the request */
    /* Optional: called when the timeout is over. Returns the seconds by which it is extended; 0: the request ends. In
     * the forwarder's thread; must not wait. */
    double (*extend)(const forward_request *request);
    void *context;

    /* result */
    int status;     /* of the response; 0: none, see error */
    bool sent;      /* at least a part of the request was sent, so the peer may have executed it */
    bool timed_out; /* why there is no response */
    ee_error error;
    json_text response_headers; /* the lines, as received; valid while done runs */
    json_text response;         /* the body; valid while done runs */

    /* private to the forwarder */
    int64_t deadline;
    bool needs_new; /* an idle connection was closed by the peer: the others may be too */
    forward_link timed, queued;
    struct forward_peer *peer;
    struct forward_connection *connection;
};

/* Zero: the default. */
typedef struct forwarder_options {
    size_t most_connections_each; /* per address; 256 */
    size_t most_response_bytes;   /* of a body; 64 MiB */
    double connect_seconds;       /* timeout of a connection and its TLS handshake, for each address of a name; 2 */
    double idle_seconds;          /* after which an unused connection is closed; 20 */
    /* For tests: the clock of these timeouts, in microseconds. Any thread calls. NULL: the system's. */
    int64_t (*clock)(void *context);
    void *clock_context;
} forwarder_options;

/* options NULL: defaults. */
ee_status forwarder_start(const forwarder_options *options, forwarder **out, ee_error *error);
/* Ends all requests with status 0, and frees. NULL is allowed. */
void forwarder_stop(forwarder *self);

/* In any thread, also in `done`; never waits. The result need not be set before. false: the forwarder is stopping, and
 * done is not called. */
bool forwarder_send(forwarder *self, forward_request *request);

typedef struct forwarder_counts {
    uint64_t requests;    /* submitted so far */
    uint64_t failures;    /* that ended without a response */
    uint64_t connected;   /* connections opened so far */
    uint64_t connections; /* open now */
    uint64_t open;        /* requests that have not ended */
    uint64_t waiting;     /* of them, those without a connection */
} forwarder_counts;

/* In any thread. */
forwarder_counts forwarder_count(const forwarder *self);

/* A header of the response; bytes NULL: it has none. While done runs. */
json_text forward_header(const forward_request *request, const char *name);

#endif
