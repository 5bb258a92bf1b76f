/* Peers: their queues, and which request gets which connection. */
#include "forward_inside.h"

enum { SECOND = 1000000 };
/* A resolver that does not answer stops the thread for seconds: it is not asked again at once. */
static const int64_t unresolved_time = 5 * SECOND;

/* ---- requests ---- */

static forward_peer *find_peer(forwarder *self, forward_request *request)
{
    forward_peer *peer = self->peers;
    while (peer && strcmp(peer->name, request->address) != 0) peer = peer->next;
    if (peer || memory_create(NULL, &peer, 1, sizeof *peer, &request->error)) return peer;
    if (forward_address_read(request->address, &peer->address, &request->error)) {
        memory_free(peer);
        return NULL;
    }
    memcpy(peer->name, request->address, strlen(request->address) + 1);
    peer->next = self->peers;
    self->peers = peer;
    return peer;
}

void forward_enqueue(forwarder *self, forward_request *request)
{
    forward_peer *peer = find_peer(self, request);
    if (!peer) {
        atomic_fetch_sub(&self->waiting, 1);
        forward_end_request(self, request);
        return;
    }
    request->peer = peer;
    peer->request_count++;
    queue_push_last(&peer->queue, request);
}

static void leave_queue(forwarder *self, forward_request *request)
{
    queue_remove(&request->peer->queue, request);
    atomic_fetch_sub(&self->waiting, 1);
}

void forward_abandon(forwarder *self, forward_request *request)
{
    if (request->connection)
        forward_close(request->connection);
    else
        leave_queue(self, request);
    forward_end_request(self, request);
}

/* ---- connections for requests ---- */

/* An idle connection that is open, as far as known; NULL: none. To read is the only way to learn that a peer has closed
 * it since the last event: a request must not be sent there, because it might not be sent again. */
static forward_connection *find_idle(forward_peer *peer)
{
    forward_connection *found;
    while ((found = peer->idle.first)) {
        if (forward_is_alive(found)) return found;
        forward_close(found);
    }
    return NULL;
}

/* Whether the peer's places are known; else the error of the request says why. Old places are better than none. */
static bool resolve(forwarder *self, forward_peer *peer, forward_request *request)
{
    int64_t lasts = peer->unresolved.status ? unresolved_time : (int64_t)FORWARD_NAME_SECONDS * SECOND;
    bool is_due = !peer->resolved || (peer->address.is_name && self->now - peer->resolved >= lasts);
    if (is_due) {
        peer->unresolved = (ee_error){EE_OK, ""};
        forward_address_resolve(&peer->address, &peer->unresolved);
        self->now = peer->resolved = forward_now(self);
    }
    if (peer->address.place_count) return true;
    request->error = peer->unresolved;
    return false;
}

/* false: the next request has to wait. */
static bool serve_next(forwarder *self, forward_peer *peer)
{
    forward_request *request = peer->queue.first;
    forward_connection *idle = request->needs_new ? NULL : find_idle(peer);
    if (!idle && peer->connection_count >= self->options.most_connections_each) {
        if (!peer->idle.last) return false;
        forward_close(peer->idle.last); /* for one that is new */
    }
    leave_queue(self, request);
    if (idle)
        forward_reuse(idle, request);
    else if (!resolve(self, peer, request) || !forward_open(self, peer, request))
        forward_end_request(self, request);
    return true;
}

void forward_serve_queues(forwarder *self)
{
    for (forward_peer *each = self->peers; each; each = each->next)
        while (each->queue.first && serve_next(self, each)) continue;
}

/* ---- what is unused ---- */

/* When the peer has to be looked at again; 0: it was freed from *at. */
static int64_t close_unused(forwarder *self, forward_peer **at)
{
    forward_peer *peer = *at;
    forward_connection *last;
    while ((last = peer->idle.last) && last->since + self->idle_time <= self->now) forward_close(last);
    if (last) return last->since + self->idle_time;
    if (peer->connection_count || peer->request_count) return INT64_MAX; /* their ends are events */
    int64_t end = peer->used + (int64_t)FORWARD_NAME_SECONDS * SECOND;   /* it keeps the resolved name */
    if (end > self->now) return end;
    *at = peer->next;
    memory_free(peer);
    return 0;
}

int64_t forward_close_unused(forwarder *self)
{
    int64_t first = INT64_MAX;
    for (forward_peer **at = &self->peers; *at;) {
        int64_t next = close_unused(self, at);
        if (!next) continue;
        if (next < first) first = next;
        at = &(*at)->next;
    }
    return first;
}

void forward_free_peers(forwarder *self)
{
    for (forward_peer *next; self->peers; self->peers = next) {
        next = self->peers->next;
        while (self->peers->idle.first) forward_close(self->peers->idle.first);
        memory_free(self->peers);
    }
}
