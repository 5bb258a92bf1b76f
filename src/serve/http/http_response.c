/* Sending an answer, and the end of an exchange. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

#include "http_inside.h"

enum {
    PIECE = 32 << 10,   /* of a stream */
    ONE_RECORD = 16384, /* through TLS, smaller answers are sent in one record with their head */
    LINGER_BYTES = 4 << 20
};
static const double linger_seconds = 2;

/* ---- the head ---- */

static const char *date_now(http_worker *worker)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    if (now == worker->date_second) return worker->date;
    struct tm parts;
    gmtime_r(&now, &parts);
    snprintf(worker->date, sizeof worker->date, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * parts.tm_wday,
             parts.tm_mday, months + 3 * parts.tm_mon, (parts.tm_year + 1900) % 10000, parts.tm_hour, parts.tm_min,
             parts.tm_sec);
    worker->date_second = now;
    return worker->date;
}

/* Reads the header at *place and advances it; false past the last. */
static bool next_header(const pooled_exchange *self, size_t *place, const char **name, const char **value)
{
    if (*place >= self->headers.length) return false;
    *name = self->headers.bytes + *place;
    *value = *name + strlen(*name) + 1;
    *place += strlen(*name) + strlen(*value) + 2;
    return true;
}

static void add_word(text *into, const char *word)
{
    text_bytes(into, word, strlen(word));
}

static void write_head(http_connection *self)
{
    pooled_exchange *current = self->current;
    http_exchange *exchange = &current->exchange;
    text *out = &current->out;
    const char *name, *value;
    size_t place = 0;
    char line[160];
    bool has_no_body = exchange->status == 204 || exchange->status == 304;
    int length = snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\nDate: %s\r\n", exchange->status,
                          http_reason(exchange->status), date_now(self->worker));
    text_bytes(out, line, (size_t)length);
    if (current->read && !current->head.is_old) {
        add_word(out, "Transfer-Encoding: chunked\r\n");
    } else if (!current->read && !has_no_body) {
        length = snprintf(line, sizeof line, "Content-Length: %zu\r\n", exchange->answer.length);
        text_bytes(out, line, (size_t)length);
    }
    if (current->read || exchange->answer.length) {
        add_word(out, "Content-Type: ");
        add_word(out, exchange->content_type ? exchange->content_type : "application/json");
        add_word(out, "\r\n");
    }
    while (next_header(current, &place, &name, &value)) {
        add_word(out, name);
        add_word(out, ": ");
        add_word(out, value);
        add_word(out, "\r\n");
    }
    if (self->closes)
        add_word(out, "Connection: close\r\n");
    else if (current->head.is_old)
        add_word(out, "Connection: keep-alive\r\n");
    add_word(out, "\r\n");
}

/* ---- the body ---- */

static json_text body_of(const pooled_exchange *self)
{
    bool has_none = self->has_merged || self->exchange.method == HTTP_HEAD || self->read ||
                    self->exchange.status == 204 || self->exchange.status == 304;
    return has_none ? (json_text){NULL, 0} : (json_text){self->exchange.answer.bytes, self->exchange.answer.length};
}

void http_begin_response(http_connection *self)
{
    pooled_exchange *current = self->current;
    http_exchange *exchange = &current->exchange;
    if (current->is_handled) atomic_fetch_sub(&self->server->handled, 1);
    current->is_handled = false;
    if (exchange->answer.status || current->headers.status) { /* no memory for all of it */
        exchange->status = 500;
        exchange->answer.length = current->headers.length = 0;
    }
    /* The end of a stream of HTTP/1.0 is the end of the connection. */
    if (!current->head.keeps_open || atomic_load_explicit(&self->server->is_draining, memory_order_relaxed) ||
        (current->read && (current->head.is_old || exchange->method == HTTP_HEAD)))
        self->closes = true;
    write_head(self);
    json_text body = body_of(current);
    if (self->transport.tls && body.length && body.length + current->out.length <= ONE_RECORD) {
        text_bytes(&current->out, body.bytes, body.length);
        current->has_merged = true;
    }
    current->stream_has_ended = exchange->method == HTTP_HEAD;
    self->state = CONNECTION_SENDS;
    http_start_clock(self, body.length);
}

/* A stream that waits for http_continue counts as handled, so that http_stop waits for it. */
static long read_stream(http_connection *self, char *bytes, size_t capacity)
{
    pooled_exchange *current = self->current;
    atomic_size_t *handled = &self->server->handled;
    atomic_fetch_add(handled, 1);
    self->is_answered = false;
    long got = atomic_load(&self->server->is_stopping) ? -1 : current->read(current->stream, bytes, capacity);
    current->stream_waits = got == HTTP_READ_LATER;
    if (current->stream_waits)
        http_stop_clock(self);
    else
        atomic_fetch_sub(handled, 1);
    return got;
}

/* Reads the next piece of a stream into out, as a chunk unless the client is old. */
static connection_step next_piece(http_connection *self)
{
    pooled_exchange *current = self->current;
    text *out = &current->out;
    enum { SIZE = 8 };
    char size[24];
    if (memory_grow(NULL, &out->bytes, &out->capacity, PIECE + 16, 1, NULL)) return STEP_CLOSE;
    long got = read_stream(self, out->bytes + SIZE, PIECE);
    if (got == HTTP_READ_LATER) return STEP_WAIT;
    if (got < 0) return STEP_CLOSE;
    bool is_old = current->head.is_old;
    snprintf(size, sizeof size, "%06lx\r\n", (unsigned long)got);
    memcpy(out->bytes, size, SIZE);
    memcpy(out->bytes + SIZE + got, "\r\n", 2);
    out->length = SIZE + (size_t)got + (is_old ? 0 : 2);
    current->sent = is_old ? SIZE : 0;
    current->stream_has_ended = got == 0;
    http_give_time(self, (size_t)got);
    return STEP_ON;
}

void http_end_exchange(http_connection *self)
{
    http_server *server = self->server;
    pooled_exchange *current = self->current;
    self->current = NULL;
    if (!current) return;
    if (current->is_handled) atomic_fetch_sub(&server->handled, 1);
    current->is_handled = false;
    if (current->is_open) {
        server->options.ended(server->options.context, &current->exchange);
        atomic_fetch_sub(&server->open, 1);
    }
    http_pool_give(server, current);
}

static connection_step end_response(http_connection *self)
{
    http_end_exchange(self);
    if (self->closes) {
        http_transport_end(&self->transport);
        self->state = CONNECTION_LINGERS;
        http_start_clock(self, 0);
        http_limit_time(self, linger_seconds);
        return STEP_ON;
    }
    http_start_clock(self, 0);
    self->search = (http_head_search){0};
    self->state = CONNECTION_READS_HEAD;
    return STEP_ON;
}

connection_step http_send_response(http_connection *self)
{
    pooled_exchange *current = self->current;
    json_text body = body_of(current);
    size_t head = current->out.length, sent = current->sent;
    if (current->out.status) return STEP_CLOSE; /* no memory for its head */
    if (current->stream_waits) {
        if (!self->is_answered) return STEP_WAIT; /* even if the client is gone: it is in the inbox, or will be */
        current->stream_waits = false;
        atomic_fetch_sub(&self->server->handled, 1);
        http_start_clock(self, 0);
    }
    if (sent == head + body.length) {
        if (!current->read || current->stream_has_ended) return end_response(self);
        return next_piece(self);
    }
    if (!self->is_writable) return STEP_WAIT;
    size_t of_body = sent > head ? sent - head : 0;
    const struct iovec pieces[2] = {{current->out.bytes + (sent < head ? sent : head), sent < head ? head - sent : 0},
                                    {(char *)(uintptr_t)body.bytes + of_body, body.length - of_body}};
    ssize_t more = http_transport_write(&self->transport, pieces);
    if (more == TRANSPORT_LOST) return STEP_CLOSE;
    if (more == TRANSPORT_WAIT)
        self->is_writable = false;
    else
        current->sent += (size_t)more;
    return STEP_ON;
}

/* Closing a socket with unread input resets the connection, and the client may lose the answer. */
connection_step http_linger(http_connection *self)
{
    char bytes[4096];
    http_release_room(self);
    ssize_t got = recv(self->transport.socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got > 0) self->lingered += (size_t)got;
    if (got == 0 || self->lingered > LINGER_BYTES) return STEP_CLOSE;
    if (got < 0) return errno == EAGAIN ? STEP_WAIT : STEP_CLOSE;
    return STEP_ON;
}
