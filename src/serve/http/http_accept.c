/* A thread that accepts connections and passes them to libmicrohttpd's threads. Those could accept too, but stopping
 * that (MHD_quiesce_daemon) races with them: with many busy threads it sometimes aborts the program. */
#define _GNU_SOURCE /* accept4 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_inside.h"

enum { MOMENT = 10 }; /* milliseconds, until what was used up may be there again */

/* Takes one that waits; false where that cannot be had now. */
static bool accept_one(http_server *self)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    int client = accept4(self->listening, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    atomic_fetch_add(&self->accepted, 1);
    if (MHD_add_connection(self->daemon, client, (struct sockaddr *)&from, size) != MHD_YES) /* and closes it */
        atomic_fetch_sub(&self->accepted, 1);
    return true;
}

static void *accept_all(void *context)
{
    http_server *self = context;
    bool waits = false;
    while (!atomic_load(&self->is_draining)) {
        /* What is one too many waits in the socket's queue. */
        size_t connections = atomic_load(&self->accepted) + atomic_load(&self->connections);
        waits = waits || connections >= self->options.connections;
        struct pollfd watched[] = {{.fd = self->accept_wakes, .events = POLLIN},
                                   {.fd = waits ? -1 : self->listening, .events = POLLIN}};
        poll(watched, 2, waits ? MOMENT : -1);
        waits = !waits && watched[1].revents && !accept_one(self);
    }
    return NULL;
}

ee_status http_start_accepting(http_server *self, ee_error *error)
{
    self->accept_wakes = eventfd(0, EFD_CLOEXEC);
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
    self->accept_wakes = -1;
}
