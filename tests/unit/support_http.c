#define _POSIX_C_SOURCE 200809L
#include "support_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "support.h"

/* ---- the server ---- */

static void push(exchange_list *list, http_exchange *exchange)
{
    exchange->context = list->first;
    list->first = exchange;
    list->count++;
}

static http_exchange *pop(exchange_list *list)
{
    http_exchange *exchange = list->first;
    if (!exchange) return NULL;
    list->first = exchange->context;
    list->count--;
    return exchange;
}

static void echo(http_exchange *exchange)
{
    text_bytes(&exchange->answer, exchange->body.bytes, exchange->body.length);
    exchange->content_type = "application/octet-stream";
    http_answer(exchange, 200);
}

static void *answer_later(void *context)
{
    echo_server *self = context;
    unsigned count = 0;
    pthread_mutex_lock(&self->lock);
    while (!self->is_stopping || self->later.first) {
        http_exchange *exchange = pop(&self->later);
        if (!exchange) {
            pthread_cond_wait(&self->wakes, &self->lock);
            continue;
        }
        pthread_mutex_unlock(&self->lock);
        if (count++ % 8 == 0) sched_yield();
        echo(exchange);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

typedef struct counted_stream {
    echo_server *owner;
    size_t left;
    bool breaks;
} counted_stream;

static long read_counted(void *context, char *bytes, size_t capacity)
{
    counted_stream *self = context;
    if (!self->left) return self->breaks ? -1 : 0;
    size_t size = self->left < capacity ? self->left : capacity;
    memset(bytes, 'x', size);
    self->left -= size;
    return (long)size;
}

static void release_counted(void *context)
{
    counted_stream *self = context;
    atomic_fetch_add(&self->owner->released, 1);
    free(self);
}

static size_t asked_bytes(http_exchange *exchange)
{
    const char *bytes = http_query(exchange, "bytes");
    return bytes ? strtoul(bytes, NULL, 10) : 0;
}

static void stream(echo_server *self, http_exchange *exchange)
{
    counted_stream *made = malloc(sizeof *made);
    *made = (counted_stream){self, asked_bytes(exchange), http_query(exchange, "break") != NULL};
    exchange->content_type = "text/plain";
    http_stream(exchange, 200, read_counted, release_counted, made);
}

static void show_seen(http_exchange *exchange)
{
    const char *value = http_query(exchange, "name"), *header = http_header(exchange, "X-Word");
    text_add(&exchange->answer, "path=%.*s query=%.*s name=%s word=%s peer=%s", (int)exchange->path.length,
             exchange->path.bytes, (int)exchange->query.length, exchange->query.length ? exchange->query.bytes : "",
             value ? value : "none", header ? header : "none", exchange->peer);
    exchange->content_type = "text/plain";
    http_add_header(exchange, "X-One", "1");
    http_add_header(exchange, "X-Two", "two words");
    if (value) http_add_header(exchange, "X-Name", value);
    http_answer(exchange, 200);
}

static bool admit(void *context, http_exchange *exchange)
{
    (void)context;
    static const char *const paths[] = {"/echo", "/later", "/never", "/stream", "/size"};
    exchange->body_limit = 100000;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (json_is(exchange->path, paths[i])) return true;
    if (exchange->path.length >= 5 && memcmp(exchange->path.bytes, "/seen", 5) == 0) return true;
    http_refuse(exchange, 404, "there is no such path");
    return false;
}

static void handle(void *context, http_exchange *exchange)
{
    echo_server *self = context;
    if (json_is(exchange->path, "/echo")) {
        echo(exchange);
    } else if (json_is(exchange->path, "/later") || json_is(exchange->path, "/never")) {
        bool later = json_is(exchange->path, "/later");
        pthread_mutex_lock(&self->lock);
        push(later ? &self->later : &self->never, exchange);
        pthread_cond_signal(&self->wakes);
        pthread_mutex_unlock(&self->lock);
    } else if (json_is(exchange->path, "/stream")) {
        stream(self, exchange);
    } else if (json_is(exchange->path, "/size")) {
        for (size_t left = asked_bytes(exchange); left; left--) text_bytes(&exchange->answer, "y", 1);
        http_answer(exchange, 200);
    } else {
        show_seen(exchange);
    }
}

static void count_ended(void *context, http_exchange *exchange)
{
    (void)exchange;
    echo_server *self = context;
    atomic_fetch_add(&self->ended, 1);
}

static int64_t read_clock(void *context)
{
    return atomic_load(&((echo_server *)context)->clock);
}

void echo_pass(echo_server *self, double seconds)
{
    atomic_fetch_add(&self->clock, (int64_t)(seconds * 1e6));
}

http_options echo_options(void)
{
    return (http_options){.address = "127.0.0.1",
                          .listening = -1,
                          .threads = 2,
                          .connections = 2000,
                          .idle_seconds = 30,
                          .header_bytes = 8192};
}

echo_server *echo_start(const http_options *given)
{
    http_options options = given ? *given : echo_options();
    echo_server *self = calloc(1, sizeof *self);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->wakes, NULL);
    options.admit = admit;
    options.handle = handle;
    options.ended = count_ended;
    options.clock = read_clock;
    options.context = self;
    ee_error error;
    if (http_start(&options, &self->http, &error) || pthread_create(&self->thread, NULL, answer_later, self)) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    self->port = http_port(self->http);
    return self;
}

static void *stop_http(void *context)
{
    echo_server *self = context;
    http_stop(self->http);
    self->http = NULL;
    atomic_store(&self->has_stopped, true);
    return NULL;
}

static bool accepts(uint16_t port)
{
    int made = raw_connect(port);
    if (made >= 0) close(made);
    return made >= 0;
}

bool echo_stop_http(echo_server *self)
{
    pthread_t thread;
    pthread_create(&thread, NULL, stop_http, self);
    AWAIT(!accepts(self->port));
    bool waited = !atomic_load(&self->has_stopped);
    AWAIT((echo_release(self), atomic_load(&self->has_stopped)));
    pthread_join(thread, NULL);
    return waited;
}

void echo_stop(echo_server *self)
{
    echo_release(self);
    http_stop(self->http);
    pthread_mutex_lock(&self->lock);
    self->is_stopping = true;
    pthread_cond_signal(&self->wakes);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    pthread_cond_destroy(&self->wakes);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void echo_release(echo_server *self)
{
    for (;;) {
        pthread_mutex_lock(&self->lock);
        http_exchange *exchange = pop(&self->never);
        pthread_mutex_unlock(&self->lock);
        if (!exchange) return;
        text_add(&exchange->answer, "at last");
        http_answer(exchange, 200);
    }
}

size_t echo_waiting(echo_server *self)
{
    pthread_mutex_lock(&self->lock);
    size_t count = self->never.count;
    pthread_mutex_unlock(&self->lock);
    return count;
}

size_t echo_connections(echo_server *self)
{
    return http_connections(self->http);
}

size_t echo_open(echo_server *self)
{
    return http_open_requests(self->http);
}

/* ---- the client ---- */

int raw_connect(uint16_t port)
{
    const int on = 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) return -1;
    if (connect(made, (struct sockaddr *)&to, sizeof to)) {
        close(made);
        return -1;
    }
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){RAW_PATIENCE, 0}, sizeof(struct timeval));
    return made;
}

bool raw_send(int socket, const char *bytes, size_t size)
{
    while (size) {
        ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool raw_send_text(int socket, const char *words)
{
    return raw_send(socket, words, strlen(words));
}

bool raw_read_some(int socket, char *bytes, size_t size)
{
    while (size) {
        ssize_t got = recv(socket, bytes, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes += got;
        size -= (size_t)got;
    }
    return true;
}

/* Byte by byte, so that what follows stays in the socket. */
static bool read_line(int socket, char *line, size_t capacity)
{
    size_t length = 0;
    for (;;) {
        char byte;
        if (!raw_read_some(socket, &byte, 1) || length + 1 >= capacity) return false;
        if (byte == '\n') break;
        if (byte != '\r') line[length++] = byte;
    }
    line[length] = '\0';
    return true;
}

static bool append_piece(int socket, http_reply *reply, size_t size)
{
    char *larger = realloc(reply->body, reply->length + size + 1);
    if (!larger) return false;
    reply->body = larger;
    if (!raw_read_some(socket, reply->body + reply->length, size)) return false;
    reply->length += size;
    reply->body[reply->length] = '\0';
    return true;
}

static bool read_chunks(int socket, http_reply *reply)
{
    char line[256];
    for (;;) {
        if (!read_line(socket, line, sizeof line)) return false;
        size_t size = strtoul(line, NULL, 16);
        if (!append_piece(socket, reply, size) || !read_line(socket, line, sizeof line)) return false;
        if (!size) return true;
    }
}

bool raw_read(int socket, http_reply *reply, bool is_head)
{
    char line[1024];
    size_t length = 0, head = 0;
    bool chunked = false;
    *reply = (http_reply){.body = calloc(1, 1)};
    if (!read_line(socket, line, sizeof line) || sscanf(line, "HTTP/1.%*d %d", &reply->status) != 1) return false;
    while (read_line(socket, line, sizeof line)) {
        if (!line[0]) {
            if (reply->status == 100) {
                free(reply->body);
                bool is_there = raw_read(socket, reply, is_head);
                reply->interim++;
                return is_there;
            }
            if (is_head || reply->status == 204) return true;
            return chunked ? read_chunks(socket, reply) : append_piece(socket, reply, length);
        }
        int written = snprintf(reply->head + head, sizeof reply->head - head, "%s\n", line);
        if (written > 0 && head + (size_t)written < sizeof reply->head) head += (size_t)written;
        if (strncasecmp(line, "Content-Length:", 15) == 0) length = strtoul(line + 15, NULL, 10);
        if (strcasecmp(line, "Transfer-Encoding: chunked") == 0) chunked = true;
        if (strcasecmp(line, "Connection: close") == 0) reply->closed = true;
    }
    return false;
}

bool raw_is_closed(int socket)
{
    char bytes[4096];
    ssize_t got;
    do got = recv(socket, bytes, sizeof bytes, 0);
    while (got > 0 || (got < 0 && errno == EINTR));
    return !got || errno != EAGAIN;
}

void raw_close(int socket)
{
    close(socket);
}

void raw_reset(int socket)
{
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
    close(socket);
}

bool raw_ask(int socket, const char *request, http_reply *reply)
{
    return raw_send_text(socket, request) && raw_read(socket, reply, strncmp(request, "HEAD", 4) == 0);
}
