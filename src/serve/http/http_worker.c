/* Worker threads: each waits for the events of its connections and runs them. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "http_inside.h"
#include "serve/system/server_clock.h"

enum { EVENTS = 64, SECOND = 1000000 };

/* Adds a new connection. Events are edges: each says that something has changed, once. */
static bool add_connection(http_worker *self, http_connection *added)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = added};
    added->is_known = true;
    added->next = self->first;
    if (added->next) added->next->previous = added;
    self->first = added;
    return !epoll_ctl(self->epoll, EPOLL_CTL_ADD, added->transport.socket, &event);
}

static void empty_inbox(http_worker *self)
{
    for (http_connection *each = http_inbox_take(self), *next; each; each = next) {
        next = each->next_in_inbox;
        if (each->is_known) {
            each->is_answered = true;
        } else if (!add_connection(self, each)) {
            http_connection_close(each);
            continue;
        }
        http_connection_run(each);
    }
}

static void take_event(const struct epoll_event *event)
{
    http_connection *connection = event->data.ptr;
    if (!connection) return; /* the inbox */
    if (event->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) connection->is_readable = true;
    if (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) connection->has_ended = true;
    if (event->events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) connection->is_writable = true;
    http_connection_run(connection);
}

static void run_ready(http_worker *self)
{
    http_connection *each = self->ready;
    self->ready = NULL;
    for (http_connection *next; each; each = next) {
        next = each->next_ready;
        each->is_ready = false;
        http_connection_run(each);
    }
}

static void sweep(http_worker *self)
{
    int64_t now = http_now(self->server), pause = (int64_t)(self->server->options.idle_seconds * SECOND / 4);
    if (now < self->next_sweep) return;
    self->next_sweep = now + (pause < SECOND ? pause : SECOND);
    for (http_connection *each = self->first, *next; each; each = next) {
        next = each->next;
        http_connection_check_deadline(each, now);
    }
}

static int wait_time(const http_worker *self)
{
    int64_t left = self->next_sweep - http_now(self->server);
    if (self->ready || left <= 0) return 0;
    return self->first ? (int)(left / 1000) + 1 : -1;
}

static void *work(void *context)
{
    http_worker *self = context;
    struct epoll_event events[EVENTS];
    while (!atomic_load(&self->ends)) {
        int count = epoll_wait(self->epoll, events, EVENTS, wait_time(self));
        for (int i = 0; i < count; i++) take_event(&events[i]);
        empty_inbox(self);
        run_ready(self);
        sweep(self);
    }
    empty_inbox(self);
    while (self->first) http_connection_close(self->first);
    http_free_rooms(self);
    return NULL;
}

static bool start_worker(http_worker *self, http_server *server)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    self->server = server;
    self->epoll = epoll_create1(EPOLL_CLOEXEC);
    self->wakes = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&self->inbox_lock, NULL);
    if (self->epoll >= 0 && self->wakes >= 0 && !epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->wakes, &event) &&
        !pthread_create(&self->thread, NULL, work, self))
        return true;
    if (self->epoll >= 0) close(self->epoll);
    if (self->wakes >= 0) close(self->wakes);
    pthread_mutex_destroy(&self->inbox_lock);
    return false;
}

ee_status http_workers_start(http_server *server, ee_error *error)
{
    size_t count = server->options.threads ? server->options.threads : 1;
    ee_status status = memory_create(&server->memory, &server->workers, count, sizeof *server->workers, error);
    if (status) return status;
    for (; server->worker_count < count; server->worker_count++)
        if (!start_worker(&server->workers[server->worker_count], server))
            return status_fail(error, EE_NO_MEMORY, "http: could not start a thread");
    return EE_OK;
}

void http_workers_stop(http_server *server)
{
    for (size_t i = 0; i < server->worker_count; i++) {
        http_worker *each = &server->workers[i];
        atomic_store(&each->ends, true);
        http_inbox_wake(each);
        pthread_join(each->thread, NULL);
        close(each->epoll);
        close(each->wakes);
        pthread_mutex_destroy(&each->inbox_lock);
    }
    server->worker_count = 0;
}
