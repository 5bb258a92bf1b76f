/* Deadlines of connections, enforced by a sweep. libmicrohttpd's timeout restarts with each byte, so that a slow client
 * could hold a connection forever. The sweep shuts a socket down when its deadline has passed or the client has left;
 * libmicrohttpd then finds the connection closed. */
#define _POSIX_C_SOURCE 200809L
#include <sys/socket.h>
#include <time.h>

#include "http_inside.h"
#include "serve/system/server_clock.h"

enum { SECOND = 1000000, LEAST_RATE = 16 << 10 /* bytes a second */ };

static int64_t time_for(size_t bytes)
{
    return (int64_t)((double)bytes * SECOND / LEAST_RATE);
}

static int64_t idle_time(const http_server *server)
{
    return (int64_t)(server->options.idle_seconds * SECOND);
}

static void set_deadline(http_connection *connection, int64_t deadline)
{
    atomic_store_explicit(&connection->deadline, deadline, memory_order_relaxed);
}

void http_start_clock(http_connection *connection, size_t bytes)
{
    set_deadline(connection, server_clock_real() + idle_time(connection->server) + time_for(bytes));
}

void http_give_time(http_connection *connection, size_t bytes)
{
    int64_t longer = atomic_load_explicit(&connection->deadline, memory_order_relaxed) + time_for(bytes);
    int64_t most = server_clock_real() + idle_time(connection->server);
    set_deadline(connection, longer < most ? longer : most);
}

void http_stop_clock(http_connection *connection)
{
    set_deadline(connection, INT64_MAX);
}

/* ---- the sweep ---- */

static bool is_late(const http_connection *connection, int64_t now)
{
    return atomic_load_explicit(&connection->deadline, memory_order_relaxed) < now;
}

/* Whether the client closed its side during a request. libmicrohttpd does not see that where it came together
 * with the last bytes. Said when it is seen the second time: those bytes could be the rest of the request, on their way
 * to the handler. */
static bool has_left(http_connection *connection)
{
    char byte;
    int expected = ASKING;
    if (atomic_load(&connection->asking) == ASKING_NOTHING) return false;
    if (recv(connection->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0) return false;
    return !atomic_compare_exchange_strong(&connection->asking, &expected, ASKING_NO_MORE) &&
           expected == ASKING_NO_MORE;
}

static void cut_connections(const http_server *self)
{
    int64_t now = server_clock_real();
    for (http_connection *each = self->first; each; each = each->next)
        if (is_late(each, now) || has_left(each)) shutdown(each->socket, SHUT_RDWR);
}

static void *sweep(void *context)
{
    http_server *self = context;
    int64_t pause = idle_time(self) / 4 < SECOND ? idle_time(self) / 4 : SECOND;
    pthread_mutex_lock(&self->list_lock);
    while (!self->sweep_ends) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        int64_t nanoseconds = until.tv_nsec + pause * 1000;
        until.tv_sec += nanoseconds / 1000000000;
        until.tv_nsec = nanoseconds % 1000000000;
        pthread_cond_timedwait(&self->sweep_wakes, &self->list_lock, &until);
        cut_connections(self);
    }
    pthread_mutex_unlock(&self->list_lock);
    return NULL;
}

ee_status http_start_sweep(http_server *server, ee_error *error)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* the clock that never jumps */
    pthread_cond_init(&server->sweep_wakes, &attributes);
    pthread_condattr_destroy(&attributes);
    server->has_sweep = pthread_create(&server->sweep, NULL, sweep, server) == 0;
    return server->has_sweep ? EE_OK : status_fail(error, EE_NO_MEMORY, "http: could not start a thread");
}

void http_stop_sweep(http_server *server)
{
    if (!server->has_sweep) return;
    pthread_mutex_lock(&server->list_lock);
    server->sweep_ends = true;
    pthread_cond_signal(&server->sweep_wakes);
    pthread_mutex_unlock(&server->list_lock);
    pthread_join(server->sweep, NULL);
    pthread_cond_destroy(&server->sweep_wakes);
}
