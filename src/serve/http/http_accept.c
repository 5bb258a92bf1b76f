/* A thread that accepts connections and gives them to the workers. Connections above the limits are accepted too, up to
 * REFUSED_AT_ONCE, and get a 503 or 429 in place of an answer. */
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

typedef union socket_name {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_storage room;
} socket_name;

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

/* No descriptor is left, though the limits allow more connections: something else has taken them. Uses the spare one to
 * tell a client. Through TLS that would take too long: the connection is closed. */
static void refuse_with_spare(http_server *self)
{
    static const char answer[] =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
        "Content-Length: 76\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
        "{\"error\":{\"code\":\"Unavailable\",\"message\":\"out of file descriptors; retry\"}}\n";
    char request[4096];
    if (self->spare_descriptor < 0) return;
    close(self->spare_descriptor);
    int client = accept4(self->listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client >= 0 && !self->options.certificate) {
        struct pollfd comes = {.fd = client, .events = POLLIN};
        poll(&comes, 1, MOMENT); /* unread input would reset the connection */
        while (recv(client, request, sizeof request, 0) > 0) continue;
        send(client, answer, sizeof answer - 1, MSG_NOSIGNAL);
        shutdown(client, SHUT_WR);
    }
    if (client >= 0) close(client);
    self->spare_descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Takes one that waits; false: nothing can be taken now. */
static bool accept_one(http_server *self, size_t *turn)
{
    socket_name from = {.any.sa_family = 0};
    socklen_t size = sizeof from;
    char peer[48];
    int client = accept4(self->listening, &from.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) {
        bool is_full = errno == EMFILE || errno == ENFILE;
        if (is_full) refuse_with_spare(self);
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    }
    write_peer(&from, peer, sizeof peer);
    connection_refusal refusal = count_connection(self, peer);
    http_connection *opened = http_connection_open(self, client, peer, refusal);
    if (!opened) {
        uncount_connection(self, peer, refusal);
        return true;
    }
    opened->worker = &self->workers[(*turn)++ % self->worker_count];
    http_inbox_put(opened->worker, opened);
    return true;
}

static void *accept_all(void *context)
{
    http_server *self = context;
    size_t turn = 0;
    bool waits = false;
    while (!atomic_load(&self->is_draining)) {
        waits = waits || atomic_load(&self->refused) >= REFUSED_AT_ONCE;
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
    self->spare_descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
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
