/* Reading a request: its head, then its body, then its handler. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "http_inside.h"
#include "serve/system/server_clock.h"

enum {
    DISCARDED_BYTES = 4 << 20, /* of the body of a refused request, to keep the connection */
    DISCARDED_TOO_LARGE = 64 << 10
};

static const char *const ends_early = "the connection ended before the request was complete";

/* ---- refusing ---- */

static connection_step answer_and_close(http_connection *self)
{
    self->closes = true;
    http_begin_response(self);
    return STEP_ON;
}

/* A new exchange; NULL: no memory. */
static pooled_exchange *begin_exchange(http_connection *self)
{
    pooled_exchange *made = http_pool_take(self->server);
    if (!made) return NULL;
    http_exchange *exchange = &made->exchange;
    exchange->connection = self;
    exchange->path = exchange->query = exchange->body = (json_text){"", 0};
    exchange->method = HTTP_OTHER;
    exchange->arrived = (double)server_clock_real() * 1e-6;
    memcpy(exchange->peer, self->peer, sizeof exchange->peer);
    made->head.field_count = 0;
    made->head.is_old = made->head.keeps_open = false;
    self->current = made;
    return made;
}

/* Counts it, and gives it what every answer has. */
static void open_exchange(pooled_exchange *self)
{
    http_server *server = self->exchange.connection->server;
    atomic_fetch_add(&server->open, 1);
    self->is_open = true;
    if (server->options.begin) server->options.begin(server->options.context, &self->exchange);
}

/* What came is not a request that can be understood: nothing after it can be, either. */
static connection_step refuse_head(http_connection *self, const http_fault *fault)
{
    pooled_exchange *current = self->current ? self->current : begin_exchange(self);
    if (!current) return STEP_CLOSE;
    if (!current->is_open) open_exchange(current);
    http_refuse(&current->exchange, fault->status, "%s", fault->message);
    return answer_and_close(self);
}

static void refuse_size(http_exchange *exchange)
{
    if (!exchange->body_limit)
        http_refuse(exchange, 413, "this request takes no body");
    else
        http_refuse(exchange, 413, "the body has more than %zu bytes, the limit for this request",
                    exchange->body_limit);
}

static void refuse_stopping(http_exchange *exchange)
{
    http_add_header(exchange, "Retry-After", "1");
    http_refuse(exchange, 503, "the server is stopping");
}

static connection_step refuse_connection(http_connection *self)
{
    http_exchange *exchange = &self->current->exchange;
    http_add_header(exchange, "Retry-After", "1");
    if (self->refusal == REFUSAL_TOO_MANY)
        http_refuse(exchange, 503, "too many connections; retry later");
    else
        http_refuse(exchange, 429, "more than %zu connections from your address",
                    self->server->options.connections_each);
    return answer_and_close(self);
}

connection_step http_refuse_late(http_connection *self)
{
    static const http_fault late = {408, "the request took too long"};
    bool has_begun = self->state == CONNECTION_READS_HEAD && self->start < self->end;
    if (self->state == CONNECTION_READS_BODY && atomic_load(&self->current->stage) == STAGE_ANSWERED)
        return answer_and_close(self); /* it was refused, and its body is being discarded */
    if (!has_begun && self->state != CONNECTION_READS_BODY) return STEP_WAIT;
    return refuse_head(self, &late);
}

/* ---- the head ---- */

static connection_step begin_body(http_connection *self)
{
    const http_head *head = &self->current->head;
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    self->state = CONNECTION_READS_BODY;
    self->body_left = head->body_bytes;
    self->chunks = (http_chunks){0};
    if (!head->expects_continue || self->start < self->end || (!head->is_chunked && !head->body_bytes)) return STEP_ON;
    const struct iovec pieces[2] = {{(char *)(uintptr_t)go_on, sizeof go_on - 1}, {NULL, 0}};
    return http_transport_write(&self->transport, pieces) == sizeof go_on - 1 ? STEP_ON : STEP_CLOSE;
}

/* The answer is there before the body. Many clients read it only after they have sent all, so that bodies of a usual
 * size are read and discarded; otherwise the connection is closed after it. */
static connection_step discard_body(http_connection *self, size_t most)
{
    const http_head *head = &self->current->head;
    if (head->is_chunked || head->body_bytes > (head->expects_continue ? 0 : most)) return answer_and_close(self);
    self->state = CONNECTION_READS_BODY;
    self->body_left = head->body_bytes;
    return STEP_ON;
}

static connection_step admit(http_connection *self)
{
    http_server *server = self->server;
    http_exchange *exchange = &self->current->exchange;
    if (self->refusal) return refuse_connection(self);
    http_start_clock(self, 0);
    if (atomic_load(&server->is_stopping)) {
        refuse_stopping(exchange);
        return discard_body(self, DISCARDED_BYTES);
    }
    if (!server->options.admit(server->options.context, exchange)) return discard_body(self, DISCARDED_BYTES);
    if (self->current->head.body_bytes <= exchange->body_limit) return begin_body(self);
    refuse_size(exchange);
    return discard_body(self, DISCARDED_TOO_LARGE);
}

/* The head is whole: bytes up to size. */
static connection_step take_head(http_connection *self, size_t size)
{
    pooled_exchange *current = begin_exchange(self);
    size_t length = size - self->search.start;
    http_fault fault;
    if (!current || memory_grow(NULL, &current->head_bytes, &current->head_capacity, length, 1, NULL))
        return STEP_CLOSE;
    memcpy(current->head_bytes, self->room + self->start + self->search.start, length);
    self->start += size;
    bool is_valid = http_head_read(&current->head, current->head_bytes, length, &fault);
    current->exchange.method = current->head.method;
    current->exchange.path = current->head.path;
    current->exchange.query = current->head.query;
    open_exchange(current);
    return is_valid ? admit(self) : refuse_head(self, &fault);
}

connection_step http_read_head(http_connection *self)
{
    http_fault fault = {0};
    size_t length = self->end - self->start, most = self->server->options.header_bytes;
    if (length > most) length = most;
    size_t size = length ? http_head_find(&self->search, self->room + self->start, length, &fault) : 0;
    if (!size && !fault.status && length == most)
        fault = self->search.lines ? (http_fault){431, "the headers are too long"}
                                   : (http_fault){414, "the request line is too long"};
    if (fault.status) return refuse_head(self, &fault);
    if (size) return take_head(self, size);
    connection_step step = http_read_input(self);
    if (step != STEP_WAIT || !self->has_ended || !self->is_readable) return step;
    if (self->start == self->end) return STEP_CLOSE;
    return refuse_head(self, &(http_fault){400, ends_early});
}

/* ---- the body ---- */

static connection_step keep_body(http_connection *self, json_text piece)
{
    pooled_exchange *current = self->current;
    http_exchange *exchange = &current->exchange;
    size_t length = exchange->body.length;
    if (piece.length > exchange->body_limit - length) {
        refuse_size(exchange);
        return answer_and_close(self);
    }
    if (memory_grow(NULL, &current->body, &current->body_capacity, length + piece.length, 1, NULL)) {
        http_refuse(exchange, 503, "out of memory for the body");
        return answer_and_close(self);
    }
    memcpy(current->body + length, piece.bytes, piece.length);
    exchange->body = (json_text){current->body, length + piece.length};
    return STEP_ON;
}

static connection_step handle(http_connection *self)
{
    http_server *server = self->server;
    pooled_exchange *current = self->current;
    http_stop_clock(self);
    self->state = CONNECTION_HANDLED;
    self->is_answered = false;
    current->is_handled = true;
    atomic_fetch_add(&server->handled, 1);
    atomic_store(&current->stage, STAGE_HANDLED);
    /* Asked after the counting: http_stop, which says so before it looks at the count, misses none. */
    if (atomic_load(&server->is_stopping))
        refuse_stopping(&current->exchange);
    else
        server->options.handle(server->options.context, &current->exchange);
    int expected = STAGE_HANDLED;
    self->is_answered = !atomic_compare_exchange_strong(&current->stage, &expected, STAGE_SUSPENDED);
    return STEP_ON;
}

connection_step http_wait_for_answer(http_connection *self)
{
    if (!self->is_answered) return STEP_WAIT;
    http_begin_response(self);
    return STEP_ON;
}

/* Everything has been read. */
static connection_step end_body(http_connection *self)
{
    if (atomic_load(&self->current->stage) != STAGE_ANSWERED) return handle(self);
    http_begin_response(self);
    return STEP_ON;
}

/* Uses the input up to the end of the body. STEP_WAIT: more of it must come. */
static connection_step use_chunks(http_connection *self)
{
    json_text input = {self->room + self->start, self->end - self->start}, piece = {NULL, 0};
    http_exchange *exchange = &self->current->exchange;
    chunks_result result = http_chunks_next(&self->chunks, &input, &piece);
    self->start = self->end - input.length;
    if (!self->chunks.digits && self->chunks.left + piece.length >
                                    exchange->body_limit - exchange->body.length) { /* as soon as it is announced */
        refuse_size(exchange);
        return answer_and_close(self);
    }
    switch (result) {
    case CHUNKS_DATA:
        return keep_body(self, piece);
    case CHUNKS_END:
        return end_body(self);
    case CHUNKS_INVALID:
        return refuse_head(self, &(http_fault){400, "invalid chunked body"});
    default:
        return STEP_WAIT;
    }
}

static connection_step use_length(http_connection *self)
{
    size_t there = self->end - self->start;
    json_text piece = {self->room + self->start, there < self->body_left ? there : (size_t)self->body_left};
    self->start += piece.length;
    self->body_left -= piece.length;
    if (piece.length && atomic_load(&self->current->stage) != STAGE_ANSWERED) {
        connection_step step = keep_body(self, piece);
        if (self->state != CONNECTION_READS_BODY) return step;
    }
    return self->body_left ? STEP_WAIT : end_body(self);
}

connection_step http_read_body(http_connection *self)
{
    bool has_input = self->start < self->end;
    connection_step step = STEP_WAIT;
    if (!self->current->head.is_chunked)
        step = use_length(self);
    else if (has_input)
        step = use_chunks(self);
    if (step != STEP_WAIT) return step;
    size_t before = self->end - self->start;
    step = http_read_input(self);
    if (step == STEP_ON) http_give_time(self, self->end - self->start - before);
    if (step != STEP_WAIT || !self->has_ended || !self->is_readable) return step;
    /* Discarding the rest of a refused request: its answer is there. */
    if (atomic_load(&self->current->stage) == STAGE_ANSWERED) return answer_and_close(self);
    return refuse_head(self, &(http_fault){400, ends_early});
}
