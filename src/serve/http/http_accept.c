/* A thread that accepts connections and gives them to the workers. Connections above the limits are accepted too: their
 * first request gets a 503 or 429. If REFUSED_AT_ONCE of them are open, further ones get it at once, so that clients
 * above a limit never delay those within it. */
#define _GNU_SOURCE /* accept4 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_inside.h"

enum { MOMENT = 10 }; /* milliseconds, until what was used up may be there again */

/* An IPv4 address in IPv6 form is written as IPv4. A client without an address (a Unix socket) has an empty one. */
static void write_peer(const socket_name *from, char *out, size_t capacity)
{
    out[0] = '\0';
    if (from->any.sa_family == AF_INET) inet_ntop(AF_INET, &from->four.sin_addr, out, (socklen_t)capacity);
    if (from->any.sa_family != AF_INET6) return;
    const struct in6_addr *six = &from->six.sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(six))
        inet_ntop(AF_INET, &six->s6_addr[12], out, (socklen_t)capacity);
    else
        inet_ntop(AF_INET6, six, out, (socklen_t)capacity);
}

/* Counts the connection, as one that is served or as one that is refused. */
static connection_refusal count_connection(http_server *self, const char *peer)
{
    connection_refusal refusal = REFUSAL_NONE;
    if (atomic_load(&self->connections) >= self->options.connections)
        refusal = REFUSAL_TOO_MANY;
    else if (!http_peers_add(self->peers, peer, self->options.connections_each))
        refusal = REFUSAL_TOO_MANY_OF_ADDRESS;
    atomic_fetch_add(refusal ? &self->refused : &self->connections, 1);
    return refusal;
}

static void uncount_connection(http_server *self, const char *peer, connection_refusal refusal)
{
    if (!refusal) http_peers_remove(self->peers, peer);
    atomic_fetch_sub(refusal ? &self->refused : &self->connections, 1);
}

/* Refuses a client in this thread, without waiting for it: what it has sent so far is read, because unread input would
 * reset the connection. Through TLS that would take too long, and the connection is only closed. */
static void refuse_at_once(const http_server *self, int client, const char *message)
{
    char request[4096], answer[512];
    text body = text_start(NULL);
    http_error(&body, "Unavailable", message);
    if (!self->options.certificate && !body.status) {
        int length = snprintf(answer, sizeof answer,
                              "HTTP/1.1 503 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                              "Retry-After: 1\r\nConnection: close\r\n\r\n%s\n",
                              http_reason(503), body.length + 1, body.bytes);
        if (recv(client, request, sizeof request, 0) >= 0 || errno == EAGAIN)
            send(client, answer, (size_t)length, MSG_NOSIGNAL);
        shutdown(client, SHUT_WR);
    }
    memory_free(body.bytes);
    close(client);
}

static void open_spare(http_server *self)
{
    if (self->spare_descriptor < 0) self->spare_descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* No descriptor is left, though the limits allow more connections: something else has taken them. Uses the spare one to
 * tell a client. false: it is gone, too. */
static bool refuse_with_spare(http_server *self)
{
    if (self->spare_descriptor >= 0) close(self->spare_descriptor);
    self->spare_descriptor = -1;
    int client = accept4(self->listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client >= 0) {
        struct pollfd comes = {.fd = client, .events = POLLIN};
        poll(&comes, 1, MOMENT);
        refuse_at_once(self, client, "out of file descriptors; retry later");
    }
    open_spare(self);
    return client >= 0;
}

static void start_connection(http_server *self, int client, const char *peer, size_t *turn)
{
    connection_refusal refusal = count_connection(self, peer);
    if (refusal && atomic_load(&self->refused) > REFUSED_AT_ONCE) {
        uncount_connection(self, peer, refusal);
        refuse_at_once(self, client, "too many connections; retry later");
        return;
    }
    http_connection *opened = http_connection_open(self, client, peer, refusal);
    if (!opened) {
        uncount_connection(self, peer, refusal);
        return;
    }
    opened->worker = &self->workers[(*turn)++ % self->worker_count];
    http_inbox_put(opened->worker, opened);
}

/* Takes one that waits; false: nothing can be taken now. */
static bool accept_one(http_server *self, size_t *turn)
{
    socket_name from = {.any.sa_family = 0};
    socklen_t size = sizeof from;
    char peer[48];
    int client = accept4(self->listening, &from.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0 && (errno == EMFILE || errno == ENFILE)) return refuse_with_spare(self);
    if (client < 0) return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    open_spare(self);
    write_peer(&from, peer, sizeof peer);
    start_connection(self, client, peer, turn);
    return true;
}

static void *accept_all(void *context)
{
    http_server *self = context;
    size_t turn = 0;
    bool waits = false;
    while (!atomic_load(&self->is_draining)) {
        struct pollfd watched[] = {{.fd = self->accept_wakes, .events = POLLIN},
                                   {.fd = waits ? -1 : self->listening, .events = POLLIN}};
        poll(watched, 2, waits ? MOMENT : -1);
        waits = !waits && watched[1].revents && !accept_one(self, &turn);
    }
    return NULL;
}

ee_status http_start_accepting(http_server *self, ee_error *error)
{
    self->accept_wakes = eventfd(0, EFD_CLOEXEC);
    open_spare(self);
    self->has_acceptor = self->accept_wakes >= 0 && !pthread_create(&self->acceptor, NULL, accept_all, self);
    return self->has_acceptor ? EE_OK : status_fail(error, EE_NO_MEMORY, "http: could not start a thread");
}

void http_end_accepting(http_server *self)
{
    if (self->has_acceptor) {
        eventfd_write(self->accept_wakes, 1);
        pthread_join(self->acceptor, NULL);
        self->has_acceptor = false;
    }
    if (self->accept_wakes >= 0) close(self->accept_wakes);
    if (self->spare_descriptor >= 0) close(self->spare_descriptor);
    self->accept_wakes = self->spare_descriptor = -1;
}
