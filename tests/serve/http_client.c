#define _GNU_SOURCE
#include "http_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "data/values/text.h"

http_client http_client_start(uint16_t port)
{
    return (http_client){.port = port, .socket = -1, .answer = ""};
}

static void disconnect(http_client *self)
{
    if (self->socket >= 0) close(self->socket);
    self->socket = -1;
}

void http_client_end(http_client *self)
{
    disconnect(self);
    free(self->room);
    *self = http_client_start(0);
}

static int connect_to(uint16_t port)
{
    int out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (out >= 0 && connect(out, (struct sockaddr *)&address, sizeof address)) {
        close(out);
        return -1;
    }
    int yes = 1;
    setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return out;
}

static bool send_all(const http_client *self, const char *bytes, size_t size)
{
    while (size) {
        ssize_t sent = send(self->socket, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Some more bytes at the end of the room, and a zero after them. */
static bool receive(http_client *self)
{
    if (self->capacity - self->filled < 4096) {
        self->capacity = self->capacity ? 2 * self->capacity : 16384;
        self->room = realloc(self->room, self->capacity);
        if (!self->room) abort();
    }
    ssize_t got;
    do {
        got = recv(self->socket, self->room + self->filled, self->capacity - self->filled - 1, 0);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    self->filled += (size_t)got;
    self->room[self->filled] = 0;
    return true;
}

/* The value of a header, of the head that ends at `end`; NULL: there is none. */
static const char *header(const char *head, const char *end, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line && line < end; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':')
            return line + 3 + length + strspn(line + 3 + length, " ");
    }
    return NULL;
}

/* A body in chunks, which begins at `start` of the room; they are joined in place. */
static bool receive_chunks(http_client *self, size_t start)
{
    size_t next = start, joined = start;
    for (;;) {
        char *line_end;
        while (!(line_end = strstr(self->room + next, "\r\n"))) {
            if (!receive(self)) return false;
        }
        size_t size = strtoul(self->room + next, NULL, 16);
        size_t from = (size_t)(line_end + 2 - self->room);
        while (self->filled < from + size + 2) {
            if (!receive(self)) return false;
        }
        memmove(self->room + joined, self->room + from, size);
        joined += size;
        next = from + size + 2;
        if (size == 0) break;
    }
    self->size = joined - start;
    self->room[joined] = 0;
    return true;
}

static bool receive_answer(http_client *self)
{
    char *end;
    self->filled = 0;
    do {
        if (!receive(self)) return false;
        end = strstr(self->room, "\r\n\r\n");
    } while (!end);
    int status = 0;
    if (sscanf(self->room, "HTTP/1.%*c %d", &status) != 1) return false;
    const char *length = header(self->room, end, "Content-Length");
    const char *connection = header(self->room, end, "Connection");
    bool closes = connection && strncasecmp(connection, "close", 5) == 0;
    size_t start = (size_t)(end + 4 - self->room);
    if (length) {
        self->size = strtoul(length, NULL, 10);
        while (self->filled < start + self->size) {
            if (!receive(self)) return false;
        }
    } else if (!receive_chunks(self, start)) {
        return false;
    }
    self->answer = self->room + start;
    self->status = status;
    if (closes) disconnect(self);
    return true;
}

static bool try_call(http_client *self, const char *method, const char *path, const void *body, size_t size)
{
    char head[1024];
    int length = snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, path);
    if (body)
        length += snprintf(head + length, sizeof head - (size_t)length,
                           "Content-Type: application/json\r\nContent-Length: %zu\r\n", size);
    length += snprintf(head + length, sizeof head - (size_t)length, "\r\n");
    return send_all(self, head, (size_t)length) && send_all(self, body, body ? size : 0) && receive_answer(self);
}

int http_client_call(http_client *self, const char *method, const char *path, const void *body, size_t size)
{
    self->status = 0;
    self->answer = "";
    self->size = 0;
    char byte;
    bool stale = self->socket >= 0 &&
                 (self->connected != self->port || recv(self->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0);
    if (stale) disconnect(self);
    if (self->socket < 0) {
        self->socket = connect_to(self->port);
        self->connected = self->port;
    }
    if (self->socket < 0) return 0;
    if (!try_call(self, method, path, body, size)) disconnect(self);
    return self->status;
}

int http_client_ask(http_client *self, const char *method, const char *path, const char *format, ...)
{
    char body[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(body, sizeof body, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof body) abort();
    return http_client_call(self, method, path, body, (size_t)length);
}

/* The token of a member, however deep; its path is the keys with dots between them. */
static bool find(const http_client *self, const char *name, json_room *room, json_token *out)
{
    json_reader reader = json_start(self->answer, self->size, room);
    if (json_next(&reader, out, NULL) || out->kind != JSON_KIND_OBJECT) return false;
    while (!json_next(&reader, out, NULL) && out->key.bytes) {
        size_t part = strcspn(name, ".");
        if (out->key.length != part || memcmp(out->key.bytes, name, part)) {
            if (json_skip(&reader, out, NULL, NULL)) return false;
        } else if (!name[part]) {
            return true;
        } else if (out->kind != JSON_KIND_OBJECT) {
            return false;
        } else {
            name += part + 1;
        }
    }
    return false;
}

bool http_client_text(const http_client *self, const char *name, char *out, size_t capacity)
{
    memory owner = {0};
    json_token token;
    bool found = find(self, name, &(json_room){.owner = &owner}, &token) && token.kind == JSON_KIND_TEXT &&
                 token.text.length < capacity;
    if (found) {
        memcpy(out, token.text.bytes, token.text.length);
        out[token.text.length] = 0;
    }
    memory_release(&owner);
    return found;
}

bool http_client_number(const http_client *self, const char *name, double *out)
{
    memory owner = {0};
    json_token token;
    bool found = find(self, name, &(json_room){.owner = &owner}, &token) && token.kind == JSON_KIND_NUMBER;
    if (found) *out = token.number;
    memory_release(&owner);
    return found;
}
