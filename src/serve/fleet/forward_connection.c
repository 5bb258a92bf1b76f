/* One connection to a peer: connects, sends a request, reads its response. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "forward_inside.h"

enum {
    LEAST_ROOM = 4 << 10,   /* for a read */
    MORE_ROOM = 16 << 10,   /* added if there is less */
    KEPT_ROOM = 64 << 10,   /* by an idle connection */
    MERGED_BODY = 12 << 10, /* with TLS, a body up to this size shares a record with the head */
};

/* ---- the end of a connection ---- */

static void drop_socket(forward_connection *self)
{
    bool is_connecting = self->state == FORWARD_CONNECTING || self->state == FORWARD_SHAKES_HANDS;
    if (is_connecting) connections_remove(&self->owner->connecting, self);
    if (self->state == FORWARD_IDLE) connections_remove(&self->peer->idle, self);
    if (self->transport.socket >= 0) http_transport_close(&self->transport);
    self->transport = (http_transport){-1, NULL};
    self->watched = 0;
    self->state = FORWARD_NEW;
}

void forward_close(forward_connection *self)
{
    if (self->request) self->request->connection = NULL;
    drop_socket(self);
    self->peer->connection_count--;
    atomic_fetch_sub(&self->owner->connections, 1);
    memory_free(self->out.bytes);
    memory_free(self->in);
    memory_free(self);
}

/* The peer may have closed a reused connection before the request arrived. The next one is new: it happens once. */
static bool may_send_again(const forward_connection *connection)
{
    bool is_untouched = connection->is_reused && !connection->in_size;
    return is_untouched && (connection->request->safe || !connection->has_sent);
}

/* The connection has failed; the error of its request says why. The request is sent again, if that is safe, or ends. */
static void give_up(forward_connection *connection)
{
    forwarder *self = connection->owner;
    forward_request *request = connection->request;
    bool again = may_send_again(connection);
    forward_close(connection);
    if (!again) {
        forward_end_request(self, request);
        return;
    }
    request->needs_new = true;
    request->error = (ee_error){EE_OK, ""};
    atomic_fetch_add(&self->waiting, 1);
    queue_push_first(&request->peer->queue, request);
}

static void explain(forward_connection *self, const char *what, const char *why)
{
    status_fail(&self->request->error, EE_FILE_ERROR, "forward: %.100s: %s%s%s", self->peer->address.origin, what,
                why ? ": " : "", why ? why : "");
}

static void fail(forward_connection *self, const char *what, const char *why)
{
    explain(self, what, why);
    give_up(self);
}

static bool watch(forward_connection *self, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = self};
    if (self->watched == events) return true;
    int how = self->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(self->owner->epoll, how, self->transport.socket, &event)) return false;
    self->watched = events;
    return true;
}

/* ---- the request ---- */

static void encode(forward_connection *self)
{
    const forward_request *request = self->request;
    text *out = &self->out;
    out->length = 0;
    out->status = EE_OK;
    text_bytes(out, request->method, strlen(request->method));
    text_bytes(out, " ", 1);
    text_bytes(out, request->target.bytes, request->target.length);
    text_add(out, " HTTP/1.1\r\nHost: %s\r\n", self->peer->address.authority);
    bool has_no_body = !request->body.length && (!strcmp(request->method, "GET") || self->response.is_to_head);
    if (!has_no_body) text_add(out, "Content-Length: %zu\r\n", request->body.length);
    if (request->headers.length) text_bytes(out, request->headers.bytes, request->headers.length);
    text_bytes(out, "\r\n", 2);
    self->body = request->body;
    if (!self->transport.tls || request->body.length > MERGED_BODY) return;
    if (request->body.length) text_bytes(out, request->body.bytes, request->body.length);
    self->body.length = 0;
}

static void receive(forward_connection *self);

static bool is_sent(const forward_connection *self)
{
    return self->sent == self->out.length + self->body.length;
}

/* Sends what the socket takes. The connection may be freed. */
static void send_more(forward_connection *self)
{
    forward_request *request = self->request;
    while (!is_sent(self) && !self->cannot_send) {
        size_t of_head = self->sent < self->out.length ? self->sent : self->out.length;
        size_t of_body = self->sent - of_head;
        struct iovec pieces[2] = {{self->out.bytes + of_head, self->out.length - of_head},
                                  {(void *)(self->body.bytes + of_body), self->body.length - of_body}};
        ssize_t sent = http_transport_write(&self->transport, pieces);
        if (sent == TRANSPORT_LOST) {
            self->cannot_send = true;
            receive(self); /* perhaps it has refused the request */
            return;
        }
        /* With TLS, a part of a record may have been sent. */
        if (sent > 0 || self->transport.tls) request->sent = self->has_sent = true;
        if (sent == TRANSPORT_WAIT) break;
        self->sent += (size_t)sent;
    }
    bool waits = !is_sent(self) && !self->cannot_send;
    if (!watch(self, waits ? EPOLLIN | EPOLLOUT : EPOLLIN)) fail(self, "could not wait for the socket", NULL);
}

/* Starts the request on an open connection. The connection may be freed. */
static void begin(forward_connection *self)
{
    self->state = FORWARD_BUSY;
    self->sent = self->in_size = 0;
    self->has_sent = self->cannot_send = false;
    self->response = (forward_response){.most_bytes = self->owner->options.most_response_bytes,
                                        .is_to_head = strcmp(self->request->method, "HEAD") == 0};
    encode(self);
    if (self->out.status)
        fail(self, "out of memory", NULL);
    else
        send_more(self);
}

void forward_reuse(forward_connection *self, forward_request *request)
{
    connections_remove(&self->peer->idle, self);
    self->request = request;
    request->connection = self;
    begin(self);
}

/* ---- the response ---- */

static bool make_room(forward_connection *self)
{
    if (self->in_capacity - self->in_size >= LEAST_ROOM) return true;
    return !memory_grow(NULL, &self->in, &self->in_capacity, self->in_size + MORE_ROOM, 1, NULL);
}

static void become_idle(forward_connection *self)
{
    self->state = FORWARD_IDLE;
    self->is_reused = true;
    self->since = self->owner->now;
    if (self->in_capacity > KEPT_ROOM) {
        memory_free(self->in);
        self->in = NULL;
        self->in_capacity = 0;
    }
    if (self->out.capacity > KEPT_ROOM) {
        memory_free(self->out.bytes);
        self->out = (text){0};
    }
    connections_push_first(&self->peer->idle, self);
}

/* The response is complete. */
static void finish(forward_connection *self)
{
    forward_request *request = self->request;
    const forward_response *response = &self->response;
    bool keeps = response->keeps_open && !response->has_more && is_sent(self);
    if (self->transport.tls && gnutls_record_check_pending(self->transport.tls)) keeps = false;
    request->status = response->status;
    request->error = (ee_error){EE_OK, ""}; /* another place may have failed before */
    request->response_headers = response->headers;
    request->response = response->body;
    request->connection = NULL;
    self->request = NULL;
    forward_end_request(self->owner, request); /* the response is in this connection's memory */
    if (keeps)
        become_idle(self);
    else
        forward_close(self);
}

static void fail_early(forward_connection *self)
{
    fail(self,
         self->in_size ? "the connection was closed in the middle of the response"
                       : "the connection was closed before the response",
         NULL);
}

/* Reads what has arrived. The connection may be freed. */
static void receive(forward_connection *self)
{
    do {
        if (!make_room(self)) {
            fail(self, "out of memory", NULL);
            return;
        }
        ssize_t got =
            http_transport_read(&self->transport, self->in + self->in_size, self->in_capacity - self->in_size);
        if (got == TRANSPORT_WAIT && !self->cannot_send) return;
        if (got <= 0) {
            fail_early(self);
            return;
        }
        self->in_size += (size_t)got;
        response_result result = forward_response_read(&self->response, self->in, &self->in_size);
        if (result == RESPONSE_END)
            finish(self);
        else if (result == RESPONSE_INVALID)
            fail(self, "invalid response", self->response.fault);
        if (result != RESPONSE_MORE) return;
    } while (self->transport.tls || self->cannot_send); /* records that GnuTLS has read raise no event */
}

bool forward_is_alive(forward_connection *self)
{
    char byte;
    return http_transport_read(&self->transport, &byte, 1) == TRANSPORT_WAIT;
}

/* ---- connecting ---- */

/* Starts to connect to a place. false: the error of the request says why. */
static bool connect_to(forward_connection *self, size_t place)
{
    const int on = 1;
    const forward_address *address = &self->peer->address;
    const struct sockaddr *to = (const struct sockaddr *)&address->places[place];
    self->place = place;
    self->transport.socket = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool starts = self->transport.socket >= 0;
    if (starts) {
        setsockopt(self->transport.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        starts = (!connect(self->transport.socket, to, address->place_sizes[place]) || errno == EINPROGRESS) &&
                 watch(self, EPOLLOUT);
    }
    if (!starts) {
        explain(self, "could not connect", strerror(errno));
        drop_socket(self);
        return false;
    }
    self->state = FORWARD_CONNECTING;
    self->since = self->owner->now;
    connections_push_last(&self->owner->connecting, self);
    return true;
}

/* Tries the places that are left. The connection may be freed. */
static void connect_anywhere(forward_connection *self)
{
    const forward_peer *peer = self->peer;
    for (; self->tried < peer->address.place_count; self->tried++)
        if (connect_to(self, (peer->first_place + self->tried) % peer->address.place_count)) return;
    give_up(self);
}

static void connect_to_next(forward_connection *self)
{
    drop_socket(self);
    self->tried++;
    connect_anywhere(self);
}

static void shake_hands(forward_connection *self)
{
    int result = forward_tls_shake_hands(self);
    if (result == TRANSPORT_LOST) {
        connect_to_next(self);
    } else if (result == TRANSPORT_WAIT) {
        if (!watch(self, forward_tls_writes(self) ? EPOLLIN | EPOLLOUT : EPOLLIN))
            fail(self, "could not wait for the socket", NULL);
    } else {
        connections_remove(&self->owner->connecting, self);
        begin(self);
    }
}

/* The socket is connected, or cannot be. */
static void end_connecting(forward_connection *self)
{
    int code = 0;
    socklen_t size = sizeof code;
    getsockopt(self->transport.socket, SOL_SOCKET, SO_ERROR, &code, &size);
    if (code) {
        explain(self, "could not connect", strerror(code));
        connect_to_next(self);
        return;
    }
    self->peer->first_place = self->place;
    atomic_fetch_add(&self->owner->connected, 1);
    if (!self->peer->address.is_tls) {
        connections_remove(&self->owner->connecting, self);
        begin(self);
    } else if (forward_tls_start(self)) {
        self->state = FORWARD_SHAKES_HANDS;
        shake_hands(self);
    } else {
        give_up(self);
    }
}

bool forward_open(forwarder *owner, forward_peer *peer, forward_request *request)
{
    forward_connection *self;
    if (memory_create(NULL, &self, 1, sizeof *self, &request->error)) return false;
    self->owner = owner;
    self->peer = peer;
    self->transport.socket = -1;
    self->request = request;
    request->connection = self;
    peer->connection_count++;
    atomic_fetch_add(&owner->connections, 1);
    connect_anywhere(self);
    return true;
}

void forward_connect_late(forward_connection *self)
{
    char seconds[64];
    snprintf(seconds, sizeof seconds, "no connection within %g s", self->owner->options.connect_seconds);
    explain(self, seconds, NULL);
    connect_to_next(self);
}

/* ---- events ---- */

static void run_busy(forward_connection *self, uint32_t events)
{
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        receive(self); /* what is left to send waits for the next event */
    else
        send_more(self);
}

void forward_connection_run(forward_connection *self, uint32_t events)
{
    switch (self->state) {
    case FORWARD_CONNECTING:
        end_connecting(self);
        break;
    case FORWARD_SHAKES_HANDS:
        shake_hands(self);
        break;
    case FORWARD_BUSY:
        run_busy(self, events);
        break;
    case FORWARD_IDLE:
        if (!forward_is_alive(self)) forward_close(self);
        break;
    case FORWARD_NEW:
        break;
    }
}
