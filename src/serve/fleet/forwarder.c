/* The forwarder's thread. */
#define _POSIX_C_SOURCE 200809L
#include "forwarder.h"

#include <errno.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "forward_inside.h"
#include "serve/system/server_clock.h"

enum { EVENTS = 64, SECOND = 1000000, MOVED = 10000 /* microseconds: how often a clock that tests move is read */ };

/* ---- the loop ---- */

/* Returns whether the forwarder is stopping: then no more requests will come. */
static bool take_inbox(forwarder *self)
{
    pthread_mutex_lock(&self->lock);
    forward_request *each = self->inbox;
    bool is_stopping = self->is_stopping;
    self->inbox = NULL;
    self->inbox_end = &self->inbox;
    pthread_mutex_unlock(&self->lock);
    for (forward_request *next; each; each = next) {
        next = each->queued.next;
        timed_insert(&self->timed, each);
        forward_enqueue(self, each);
    }
    return is_stopping;
}

/* Whether a request whose timeout is over goes on. */
static bool is_extended(forwarder *self, forward_request *late)
{
    double more = late->extend ? late->extend(late) : 0;
    if (!(more > 0)) return false;
    timed_remove(&self->timed, late);
    late->seconds += more;
    late->deadline = self->now + (int64_t)(more * SECOND);
    timed_insert(&self->timed, late);
    return true;
}

static void end_late(forwarder *self)
{
    forward_request *late;
    while ((late = self->timed.first) && late->deadline <= self->now) {
        if (is_extended(self, late)) continue;
        late->timed_out = true;
        status_fail(&late->error, EE_FILE_ERROR, "forward: %.100s: no response within %g s", late->peer->address.origin,
                    late->seconds);
        forward_abandon(self, late);
    }
    forward_connection *slow;
    while ((slow = self->connecting.first) && slow->since + self->connect_time <= self->now) forward_connect_late(slow);
}

static void end_all(forwarder *self)
{
    for (forward_request *each; (each = self->timed.first);) {
        status_fail(&each->error, EE_FILE_ERROR, "forward: %.100s: this server is stopping",
                    each->peer->address.origin);
        forward_abandon(self, each);
    }
}

/* Milliseconds until something is late. */
static int wait_time(const forwarder *self, int64_t first)
{
    const forward_connection *slow = self->connecting.first;
    if (self->timed.first && self->timed.first->deadline < first) first = self->timed.first->deadline;
    if (slow && slow->since + self->connect_time < first) first = slow->since + self->connect_time;
    if (first == INT64_MAX) return -1;
    int64_t left = first - forward_now(self);
    if (left <= 0) return 0;
    if (self->options.clock && left > MOVED) left = MOVED;
    return left < (int64_t)60 * SECOND ? (int)(left / 1000) + 1 : 60000;
}

static void *work(void *context)
{
    forwarder *self = context;
    struct epoll_event events[EVENTS];
    bool stops = false;
    while (!stops) {
        int64_t next = forward_close_unused(self);
        int count = epoll_wait(self->epoll, events, EVENTS, wait_time(self, next));
        self->now = forward_now(self);
        for (int i = 0; i < count; i++)
            if (events[i].data.ptr) forward_connection_run(events[i].data.ptr, events[i].events);
        stops = take_inbox(self);
        end_late(self);
        forward_serve_queues(self);
    }
    end_all(self);
    forward_free_peers(self);
    return NULL;
}

/* ---- starting and stopping ---- */

static void release(forwarder *self)
{
    if (self->epoll >= 0) close(self->epoll);
    if (self->wakes >= 0) close(self->wakes);
    forward_tls_free(&self->tls);
    pthread_mutex_destroy(&self->lock);
    memory_free(self);
}

static void set_options(forwarder *self, const forwarder_options *given)
{
    forwarder_options *options = &self->options;
    if (given) *options = *given;
    if (!options->most_connections_each) options->most_connections_each = 256;
    if (!options->most_response_bytes) options->most_response_bytes = (size_t)64 << 20;
    if (!(options->connect_seconds > 0)) options->connect_seconds = 2;
    if (!(options->idle_seconds > 0)) options->idle_seconds = 20;
    self->connect_time = (int64_t)(options->connect_seconds * SECOND);
    self->idle_time = (int64_t)(options->idle_seconds * SECOND);
}

ee_status forwarder_start(const forwarder_options *options, forwarder **out, ee_error *error)
{
    forwarder *self;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    set_options(self, options);
    self->now = forward_now(self);
    self->inbox_end = &self->inbox;
    pthread_mutex_init(&self->lock, NULL);
    self->epoll = epoll_create1(EPOLL_CLOEXEC);
    self->wakes = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (self->epoll < 0 || self->wakes < 0 || epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->wakes, &event) ||
        pthread_create(&self->thread, NULL, work, self)) {
        release(self);
        return status_fail(error, EE_NO_MEMORY, "forward: could not start a thread");
    }
    *out = self;
    return EE_OK;
}

void forwarder_stop(forwarder *self)
{
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->is_stopping = true;
    pthread_mutex_unlock(&self->lock);
    eventfd_write(self->wakes, 1);
    pthread_join(self->thread, NULL);
    release(self);
}

/* ---- in any thread ---- */

bool forwarder_send(forwarder *self, forward_request *request)
{
    static const double longest = 1e9; /* seconds */
    double seconds = request->seconds < longest ? request->seconds : longest;
    request->status = 0;
    request->sent = request->timed_out = request->needs_new = false;
    request->error = (ee_error){EE_OK, ""};
    request->response_headers = request->response = (json_text){NULL, 0};
    request->peer = NULL;
    request->connection = NULL;
    request->queued = (forward_link){NULL, NULL};
    request->deadline = forward_now(self) + (int64_t)(seconds * SECOND);
    pthread_mutex_lock(&self->lock);
    bool is_taken = !self->is_stopping, was_empty = !self->inbox;
    if (is_taken) {
        *self->inbox_end = request;
        self->inbox_end = &request->queued.next;
        atomic_fetch_add(&self->requests, 1);
        atomic_fetch_add(&self->waiting, 1);
        /* Under the lock: once the request has ended, forwarder_stop may free the forwarder. */
        if (was_empty) eventfd_write(self->wakes, 1);
    }
    pthread_mutex_unlock(&self->lock);
    return is_taken;
}

forwarder_counts forwarder_count(const forwarder *self)
{
    uint64_t ended = atomic_load(&self->ended), requests = atomic_load(&self->requests);
    return (forwarder_counts){.requests = requests,
                              .failures = atomic_load(&self->failures),
                              .connected = atomic_load(&self->connected),
                              .connections = atomic_load(&self->connections),
                              .open = requests - ended,
                              .waiting = atomic_load(&self->waiting)};
}

json_text forward_header(const forward_request *request, const char *name)
{
    json_text lines = request->response_headers, found, value;
    size_t length = strlen(name);
    while (forward_next_header(&lines, &found, &value))
        if (found.length == length && strncasecmp(found.bytes, name, length) == 0) return value;
    return (json_text){NULL, 0};
}
