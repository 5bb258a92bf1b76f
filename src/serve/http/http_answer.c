/* What a handler can read from an exchange, and how it answers. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "http_characters.h"
#include "http_inside.h"
#include "router.h"

static pooled_exchange *inside(http_exchange *exchange)
{
    return (pooled_exchange *)exchange;
}

/* ---- the request ---- */

const char *http_header(const http_exchange *exchange, const char *name)
{
    return http_head_field(&((const pooled_exchange *)exchange)->head, name);
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
    size_t from = headers->length;
    text_bytes(headers, value, strlen(value) + 1);
    if (headers->status) return;
    for (char *at = headers->bytes + from; *at; at++)
        if (http_is_control((unsigned char)*at)) *at = '?';
}

/* The connection may be over before this returns; its server, whose worker is woken, is not. */
static void give_to_worker(http_connection *connection)
{
    http_server *server = connection->server;
    atomic_fetch_add(&server->handled, 1);
    http_inbox_put(connection->worker, connection);
    atomic_fetch_sub(&server->handled, 1);
}

void http_answer(http_exchange *exchange, int status)
{
    http_connection *connection = exchange->connection;
    exchange->status = status;
    /* From here on the exchange may be over at any time; a suspended connection only after its worker has it. */
    if (atomic_exchange(&inside(exchange)->stage, STAGE_ANSWERED) == STAGE_SUSPENDED) give_to_worker(connection);
}

void http_stream(http_exchange *exchange, int status, http_read *read, void (*release)(void *context), void *context)
{
    pooled_exchange *self = inside(exchange);
    self->read = read;
    self->release = release;
    self->stream = context;
    http_answer(exchange, status);
}

void http_continue(http_exchange *exchange)
{
    give_to_worker(exchange->connection);
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

void http_refuse(http_exchange *exchange, int status, const char *format, ...)
{
    const char *code = http_code(status);
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

typedef struct status_row {
    int status;
    const char *reason, *code;
} status_row;

static const status_row *find_status(int status)
{
    static const status_row rows[] = {{200, "OK", "Internal"},
                                      {201, "Created", "Internal"},
                                      {204, "No Content", "Internal"},
                                      {304, "Not Modified", "Internal"},
                                      {400, "Bad Request", "BadRequest"},
                                      {401, "Unauthorized", "Unauthorized"},
                                      {403, "Forbidden", "Forbidden"},
                                      {404, "Not Found", "NotFound"},
                                      {405, "Method Not Allowed", "MethodNotAllowed"},
                                      {408, "Request Timeout", "Timeout"},
                                      {409, "Conflict", "Conflict"},
                                      {410, "Gone", "Gone"},
                                      {413, "Content Too Large", "TooLarge"},
                                      {414, "URI Too Long", "HeadersTooLarge"},
                                      {417, "Expectation Failed", "ExpectationFailed"},
                                      {429, "Too Many Requests", "TooManyRequests"},
                                      {431, "Request Header Fields Too Large", "HeadersTooLarge"},
                                      {500, "Internal Server Error", "Internal"},
                                      {503, "Service Unavailable", "Unavailable"},
                                      {505, "HTTP Version Not Supported", "VersionNotSupported"},
                                      {0, "Unknown", "Internal"}};
    const status_row *row = rows;
    while (row->status && row->status != status) row++;
    return row;
}

const char *http_reason(int status)
{
    return find_status(status)->reason;
}

const char *http_code(int status)
{
    return find_status(status)->code;
}
