/* The life of a connection. */
#define _POSIX_C_SOURCE 200809L
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_inside.h"

enum { STEPS_AT_ONCE = 64 }; /* before other connections have their turn */
static const double refused_seconds = 2;

/* ---- opening and closing ---- */

static bool start_tls(http_connection *self)
{
    http_server *server = self->server;
    pthread_mutex_lock(&server->certificates_lock);
    bool started = http_transport_start_tls(&self->transport, server->certificates->credentials, server->priorities);
    pthread_mutex_unlock(&server->certificates_lock);
    self->state = CONNECTION_SHAKES_HANDS;
    return started;
}

http_connection *http_connection_open(http_server *server, int socket, const char *peer, connection_refusal refusal)
{
    const int on = 1;
    http_connection *self;
    if (memory_create(NULL, &self, 1, sizeof *self, NULL)) {
        close(socket);
        return NULL;
    }
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    self->server = server;
    self->transport.socket = socket;
    self->state = CONNECTION_READS_HEAD;
    self->refusal = refusal;
    self->is_readable = self->is_writable = true;
    memcpy(self->peer, peer, strlen(peer) + 1);
    http_start_clock(self, 0);
    if (refusal) http_limit_time(self, refused_seconds);
    if (!server->options.certificate || start_tls(self)) return self;
    http_transport_close(&self->transport);
    memory_free(self);
    return NULL;
}

void http_connection_close(http_connection *self)
{
    http_server *server = self->server;
    http_end_exchange(self);
    http_release_room(self);
    http_transport_close(&self->transport);
    if (self->next) self->next->previous = self->previous;
    if (self->previous)
        self->previous->next = self->next;
    else
        self->worker->first = self->next;
    if (self->refusal) {
        atomic_fetch_sub(&server->refused, 1);
    } else {
        http_peers_remove(server->peers, self->peer);
        atomic_fetch_sub(&server->connections, 1);
    }
    memory_free(self);
}

/* ---- running ---- */

static connection_step shake_hands(http_connection *self)
{
    int result = http_transport_shake_hands(&self->transport);
    if (result) return result == TRANSPORT_WAIT ? STEP_WAIT : STEP_CLOSE;
    self->state = CONNECTION_READS_HEAD;
    return STEP_ON;
}

static connection_step (*const steps[CONNECTION_STATES])(http_connection *self) = {
    [CONNECTION_SHAKES_HANDS] = shake_hands,  [CONNECTION_READS_HEAD] = http_read_head,
    [CONNECTION_READS_BODY] = http_read_body, [CONNECTION_HANDLED] = http_wait_for_answer,
    [CONNECTION_SENDS] = http_send_response,  [CONNECTION_LINGERS] = http_linger,
};

void http_connection_run(http_connection *self)
{
    connection_step step = STEP_ON;
    if (self->is_ready) return; /* it will have its turn */
    for (int i = 0; i < STEPS_AT_ONCE && step == STEP_ON; i++) step = steps[self->state](self);
    if (step == STEP_CLOSE) {
        http_connection_close(self);
    } else if (step == STEP_ON) {
        self->is_ready = true;
        self->next_ready = self->worker->ready;
        self->worker->ready = self;
    }
}

void http_connection_check_deadline(http_connection *self, int64_t now)
{
    if (self->deadline > now || self->is_ready) return;
    connection_step step = http_refuse_late(self);
    if (step == STEP_ON)
        http_connection_run(self);
    else
        http_connection_close(self);
}
