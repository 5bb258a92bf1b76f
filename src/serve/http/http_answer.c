/* What a handler can read from an exchange, and how its response is sent. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "http_inside.h"
#include "router.h"

static pooled_exchange *inside(http_exchange *exchange)
{
    return (pooled_exchange *)exchange;
}

/* ---- the request ---- */

const char *http_header(const http_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection->mhd, MHD_HEADER_KIND, name);
}

/* Cuts the text before `from` reaches a byte; *rest is what follows it. */
static json_text cut_at(json_text from, char byte, json_text *rest)
{
    const char *at = from.length ? memchr(from.bytes, byte, from.length) : NULL;
    size_t length = at ? (size_t)(at - from.bytes) : from.length;
    *rest = at ? (json_text){at + 1, from.length - length - 1} : (json_text){from.bytes + length, 0};
    return (json_text){from.bytes, length};
}

const char *http_query(http_exchange *exchange, const char *name)
{
    json_text rest = exchange->query;
    while (rest.length) {
        json_text value, pair = cut_at(rest, '&', &rest), key = cut_at(pair, '=', &value);
        if (!json_is(key, name)) continue;
        char *decoded;
        size_t length;
        if (memory_create(&exchange->memory, &decoded, value.length + 1, 1, NULL)) return NULL;
        if (router_decode(value, decoded, value.length + 1, &length)) return decoded;
        if (value.length) memcpy(decoded, value.bytes, value.length);
        decoded[value.length] = '\0';
        return decoded;
    }
    return NULL;
}

bool http_query_unknown(const http_exchange *exchange, const char *const *names, size_t count, json_text *unknown)
{
    json_text rest = exchange->query;
    while (rest.length) {
        json_text value, pair = cut_at(rest, '&', &rest), key = cut_at(pair, '=', &value);
        bool known = !pair.length;
        for (size_t i = 0; i < count && !known; i++) known = json_is(key, names[i]);
        *unknown = key;
        if (!known) return true;
    }
    return false;
}

/* ---- the answer ---- */

void http_add_header(http_exchange *exchange, const char *name, const char *value)
{
    text *headers = &inside(exchange)->headers;
    text_bytes(headers, name, strlen(name) + 1);
    text_bytes(headers, value, strlen(value) + 1);
}

void http_answer(http_exchange *exchange, int status)
{
    struct MHD_Connection *mhd = exchange->connection->mhd;
    http_server *server = exchange->connection->server;
    exchange->status = status;
    atomic_fetch_add(&server->handled, 1); /* keeps the server alive during the callback */
    /* From here on the exchange may be over at any time. */
    if (atomic_exchange(&inside(exchange)->stage, STAGE_ANSWERED) == STAGE_SUSPENDED) MHD_resume_connection(mhd);
    atomic_fetch_sub(&server->handled, 1);
}

void http_stream(http_exchange *exchange, int status, http_read *read, void (*release)(void *context), void *context)
{
    pooled_exchange *self = inside(exchange);
    self->read = read;
    self->release = release;
    self->stream = context;
    http_answer(exchange, status);
}

void http_error(text *into, const char *code, const char *message)
{
    char plain[512];
    snprintf(plain, sizeof plain, "%s", message);
    if (!json_is_utf8((json_text){plain, strlen(plain)}))
        for (char *at = plain; *at; at++)
            if ((unsigned char)*at >= 0x80) *at = '?';
    text_add(into, "{\"error\":{\"code\":\"%s\",\"message\":", code);
    text_json(into, (json_text){plain, strlen(plain)});
    text_add(into, "}}");
}

void http_refuse(http_exchange *exchange, int status, const char *code, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    exchange->answer.length = 0;
    exchange->content_type = NULL;
    if (exchange->name_error) code = exchange->name_error(exchange, status, code);
    http_error(&exchange->answer, code, message);
    text_bytes(&exchange->answer, "\n", 1);
    http_answer(exchange, status);
}

const char *http_reason(int status)
{
    return MHD_get_reason_phrase_for((unsigned)status);
}

/* ---- how it leaves ---- */

static const char *content_type(const http_exchange *exchange)
{
    return exchange->content_type ? exchange->content_type : "application/json";
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

/* What libmicrohttpd keeps of a stream, which it may release after the exchange is over. */
typedef struct open_stream {
    http_connection *connection;
    http_read *read;
    void (*release)(void *context);
    void *context;
} open_stream;

static ssize_t read_stream(void *context, uint64_t position, char *bytes, size_t capacity)
{
    (void)position;
    open_stream *self = context;
    long size = self->read(self->context, bytes, capacity);
    if (size < 0) return MHD_CONTENT_READER_END_WITH_ERROR;
    if (size == 0) return MHD_CONTENT_READER_END_OF_STREAM;
    http_give_time(self->connection, (size_t)size);
    return size;
}

static void release_stream(void *context)
{
    open_stream *self = context;
    if (self->release) self->release(self->context);
    memory_free(self);
}

static struct MHD_Response *stream_response(pooled_exchange *from)
{
    enum { PIECE = 32 << 10 };
    open_stream *self = NULL;
    struct MHD_Response *response = NULL;
    if (!memory_create(NULL, &self, 1, sizeof *self, NULL)) {
        *self = (open_stream){from->exchange.connection, from->read, from->release, from->stream};
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, read_stream, self, release_stream);
    }
    if (response)
        from->read = NULL;
    else
        memory_free(self);
    /* libmicrohttpd ends chunks that it has not begun, so there are none; the connection is then closed. */
    if (response && from->exchange.method == HTTP_HEAD)
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return response;
}

static struct MHD_Response *make_response(pooled_exchange *self)
{
    http_exchange *exchange = &self->exchange;
    if (self->read) return stream_response(self);
    if (exchange->answer.status || self->headers.status) { /* no memory for all of it */
        exchange->status = 500;
        exchange->answer.length = self->headers.length = 0;
    }
    /* The bytes stay where they are until the exchange is over, and that is after they were sent. */
    return MHD_create_response_from_buffer(exchange->answer.length, exchange->answer.bytes, MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result http_send_answer(pooled_exchange *self)
{
    const http_exchange *exchange = &self->exchange;
    const http_server *server = exchange->connection->server;
    const char *name, *value;
    size_t place = 0;
    bool has_body = self->read || exchange->answer.length;
    http_leave_handler(self);
    struct MHD_Response *response = make_response(self);
    if (!response) return MHD_NO;
    if (has_body) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type(exchange));
    while (next_header(self, &place, &name, &value)) MHD_add_response_header(response, name, value);
    if (atomic_load_explicit(&server->is_draining, memory_order_relaxed))
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    http_start_clock(exchange->connection, exchange->answer.length);
    atomic_store(&exchange->connection->asking, ASKING_NOTHING);
    enum MHD_Result result = MHD_queue_response(exchange->connection->mhd, (unsigned)exchange->status, response);
    MHD_destroy_response(response);
    return result;
}

void http_send_last(pooled_exchange *self)
{
    const http_exchange *exchange = &self->exchange;
    const http_connection *connection = exchange->connection;
    const char *name, *value;
    size_t place = 0;
    text whole = text_start(NULL);
    text_add(&whole, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n",
             exchange->status, http_reason(exchange->status), content_type(exchange), exchange->answer.length);
    while (next_header(self, &place, &name, &value)) text_add(&whole, "%s: %s\r\n", name, value);
    text_add(&whole, "\r\n");
    text_bytes(&whole, exchange->answer.bytes, exchange->answer.length);
    const union MHD_ConnectionInfo *tls = MHD_get_connection_info(connection->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    /* What does not fit into the socket's buffer at once is of no use: the client reads nothing. */
    if (!whole.status && tls && tls->tls_session)
        gnutls_record_send(tls->tls_session, whole.bytes, whole.length);
    else if (!whole.status)
        send(connection->socket, whole.bytes, whole.length, MSG_NOSIGNAL | MSG_DONTWAIT);
    memory_free(whole.bytes);
}
