/* Connections and requests over libmicrohttpd. Its threads call what is here; none of it waits. */
#define _POSIX_C_SOURCE 200809L
#include "http.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http_inside.h"
#include "serve/system/server_clock.h"

/* Maximum bytes of an unwanted body to read and discard. */
enum { DISCARDED_BYTES = 4 << 20, DISCARDED_TOO_LARGE = 64 << 10 };

/* ---- connections ---- */

static void write_peer(struct MHD_Connection *mhd, char *out, size_t capacity)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || !info->client_addr) return;
    if (info->client_addr->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)info->client_addr;
        inet_ntop(AF_INET, &four->sin_addr, out, (socklen_t)capacity);
    } else if (info->client_addr->sa_family == AF_INET6) {
        const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)info->client_addr)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(six))
            inet_ntop(AF_INET, &six->s6_addr[12], out, (socklen_t)capacity);
        else
            inet_ntop(AF_INET6, six, out, (socklen_t)capacity);
    }
}

static http_connection *open_connection(http_server *server, struct MHD_Connection *mhd)
{
    http_connection *self;
    if (memory_create(NULL, &self, 1, sizeof *self, NULL)) return NULL;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    self->server = server;
    self->mhd = mhd;
    self->socket = info->connect_fd;
    write_peer(mhd, self->peer, sizeof self->peer);
    http_start_clock(self, 0);
    const union MHD_ConnectionInfo *tls = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    pthread_mutex_lock(&server->list_lock);
    if (server->certificates && tls && tls->tls_session)
        gnutls_credentials_set(tls->tls_session, GNUTLS_CRD_CERTIFICATE, server->certificates->credentials);
    self->next = server->first;
    if (self->next) self->next->previous = self;
    server->first = self;
    pthread_mutex_unlock(&server->list_lock);
    atomic_fetch_add(&server->connections, 1);
    return self;
}

static void end_exchange(http_connection *connection);

static void close_connection(http_connection *self)
{
    http_server *server = self->server;
    if (self->current) end_exchange(self);
    pthread_mutex_lock(&server->list_lock);
    if (self->next) self->next->previous = self->previous;
    if (self->previous)
        self->previous->next = self->next;
    else
        server->first = self->next;
    pthread_mutex_unlock(&server->list_lock);
    atomic_fetch_sub(&server->connections, 1);
    memory_free(self);
}

/* The socket is still open in both cases. */
static void on_connection(void *context, struct MHD_Connection *mhd, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = open_connection(context, mhd);
        atomic_fetch_sub(&((http_server *)context)->accepted, 1);
    } else if (*socket_context) {
        close_connection(*socket_context);
        *socket_context = NULL;
    }
}

static http_connection *connection_of(struct MHD_Connection *mhd)
{
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* ---- a request, from its first line on ---- */

/* The path as it came: libmicrohttpd decodes what it gives to on_request. */
static void take_target(pooled_exchange *self, const char *target)
{
    /* "GET http://host/path" means "/path". */
    if (strncasecmp(target, "http://", 7) == 0 || strncasecmp(target, "https://", 8) == 0) {
        const char *path = strchr(strstr(target, "//") + 2, '/');
        target = path ? path : "/";
    }
    size_t length = strlen(target), path = strcspn(target, "?");
    if (memory_grow(NULL, &self->target, &self->target_capacity, length + 1, 1, NULL)) return;
    memcpy(self->target, target, length + 1);
    self->exchange.path = (json_text){self->target, path};
    if (path < length) self->exchange.query = (json_text){self->target + path + 1, length - path - 1};
}

static void *on_request_line(void *context, const char *target, struct MHD_Connection *mhd)
{
    http_connection *connection = connection_of(mhd);
    if (!connection) return NULL;
    pooled_exchange *self = http_pool_take(context);
    if (!self) return NULL;
    http_exchange *exchange = &self->exchange;
    exchange->connection = connection;
    exchange->query = exchange->body = (json_text){"", 0};
    memcpy(exchange->peer, connection->peer, sizeof exchange->peer);
    exchange->arrived = (double)server_clock_real() * 1e-6;
    take_target(self, target);
    connection->current = self;
    http_start_clock(connection, 0);
    atomic_store(&connection->asking, ASKING);
    return self;
}

static http_method method_of(const char *word)
{
    static const char *const words[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
    for (int i = 0; i < HTTP_OTHER; i++)
        if (strcmp(word, words[i]) == 0) return (http_method)i;
    return HTTP_OTHER;
}

/* What the headers say about the body. */
typedef struct body_headers {
    int lengths, encodings, expects;
    const char *length, *encoding;
} body_headers;

static enum MHD_Result see_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    body_headers *seen = context;
    if (strcasecmp(name, "Content-Length") == 0) {
        seen->lengths++;
        seen->length = value;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        seen->encodings++;
        seen->encoding = value;
    } else if (strcasecmp(name, "Expect") == 0) {
        seen->expects++;
    }
    return MHD_YES;
}

/* A request whose end two programs could see at different places is refused: what follows it could be somebody else's.
 */
static bool is_clear(const body_headers *seen)
{
    if (seen->lengths + seen->encodings > 1) return false;
    return !seen->encodings || (seen->encoding && strcasecmp(seen->encoding, "chunked") == 0);
}

static void refuse_size(http_exchange *exchange)
{
    if (!exchange->body_limit)
        http_refuse(exchange, 413, "TooLarge", "this request takes no body");
    else
        http_refuse(exchange, 413, "TooLarge", "the body has more than %zu bytes, the limit for this request",
                    exchange->body_limit);
}

static void refuse_stopping(http_exchange *exchange)
{
    http_add_header(exchange, "Retry-After", "1");
    http_refuse(exchange, 503, "Unavailable", "the server is stopping");
}

/* Returns false where the answer is there and the rest of the request is not to be read. libmicrohttpd closes the
 * connection after an answer that it gets before the end of a request, and many clients then see a broken connection
 * and no answer: so bodies of a usual size are read and thrown away, but where it is not clear where they end. */
static bool admit(pooled_exchange *self, struct MHD_Connection *mhd, const char *method)
{
    http_exchange *exchange = &self->exchange;
    http_server *server = exchange->connection->server;
    body_headers seen = {0};
    exchange->method = method_of(method);
    atomic_fetch_add(&server->open, 1);
    self->is_open = true;
    MHD_get_connection_values(mhd, MHD_HEADER_KIND, see_header, &seen);
    unsigned long long length = seen.length ? strtoull(seen.length, NULL, 10) : 0;
    size_t discarded = DISCARDED_BYTES;
    bool goes_on = false, clear = is_clear(&seen);
    if (!clear)
        http_refuse(
            exchange, 400, "BadRequest",
            "invalid body length: Content-Length is repeated or not a number, or Transfer-Encoding is not chunked");
    else if (atomic_load(&server->is_stopping))
        refuse_stopping(exchange);
    else
        goes_on = server->options.admit(server->options.context, exchange);
    if (goes_on && length > exchange->body_limit) {
        refuse_size(exchange);
        discarded = DISCARDED_TOO_LARGE;
        goes_on = false;
    }
    if (goes_on) atomic_store(&self->stage, STAGE_BODY);
    return goes_on || (clear && !seen.encodings && length <= (seen.expects ? 0 : discarded));
}

/* libmicrohttpd accepts no response while a body arrives: send it directly, and close the connection. */
static enum MHD_Result refuse_within_body(pooled_exchange *self, int status)
{
    if (status == 413)
        refuse_size(&self->exchange);
    else
        http_refuse(&self->exchange, 503, "Unavailable", "out of memory for the body");
    http_send_last(self);
    return MHD_NO;
}

static enum MHD_Result take_body(pooled_exchange *self, const char *bytes, size_t *size)
{
    http_exchange *exchange = &self->exchange;
    size_t length = exchange->body.length;
    if (*size > exchange->body_limit - length) return refuse_within_body(self, 413);
    if (memory_grow(NULL, &self->body, &self->body_capacity, length + *size, 1, NULL))
        return refuse_within_body(self, 503);
    memcpy(self->body + length, bytes, *size);
    exchange->body = (json_text){self->body, length + *size};
    http_give_time(exchange->connection, *size);
    *size = 0;
    return MHD_YES;
}

void http_leave_handler(pooled_exchange *self)
{
    if (self->is_handled) atomic_fetch_sub(&self->exchange.connection->server->handled, 1);
    self->is_handled = false;
}

static enum MHD_Result handle(pooled_exchange *self, struct MHD_Connection *mhd)
{
    http_server *server = self->exchange.connection->server;
    http_stop_clock(self->exchange.connection);
    atomic_store(&self->exchange.connection->asking, ASKING_NOTHING);
    self->is_handled = true;
    atomic_fetch_add(&server->handled, 1);
    atomic_store(&self->stage, STAGE_HANDLED);
    /* Asked after the counting: http_stop, which says so before it looks at the count, misses none. */
    if (atomic_load(&server->is_stopping))
        refuse_stopping(&self->exchange);
    else
        server->options.handle(server->options.context, &self->exchange);
    if (atomic_load(&self->stage) == STAGE_ANSWERED) return http_send_answer(self);
    MHD_suspend_connection(mhd);
    int expected = STAGE_HANDLED;
    if (!atomic_compare_exchange_strong(&self->stage, &expected, STAGE_SUSPENDED)) MHD_resume_connection(mhd);
    return MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *mhd, const char *url, const char *method,
                                  const char *version, const char *bytes, size_t *size, void **request)
{
    (void)context;
    (void)url;
    (void)version;
    pooled_exchange *self = *request;
    if (!self || !self->exchange.path.bytes) return MHD_NO; /* there was no memory for it */
    switch (atomic_load(&self->stage)) {
    case STAGE_HEADERS:
        return admit(self, mhd, method) ? MHD_YES : http_send_answer(self);
    case STAGE_BODY:
        return *size ? take_body(self, bytes, size) : handle(self, mhd);
    case STAGE_ANSWERED:
        if (!*size) return http_send_answer(self);
        *size = 0;
        return MHD_YES;
    default:
        return MHD_YES;
    }
}

static void end_exchange(http_connection *connection)
{
    http_server *server = connection->server;
    pooled_exchange *self = connection->current;
    connection->current = NULL;
    http_leave_handler(self);
    if (self->is_open) {
        server->options.ended(server->options.context, &self->exchange);
        atomic_fetch_sub(&server->open, 1);
    }
    http_pool_give(server, self);
    http_start_clock(connection, 0);
    atomic_store(&connection->asking, ASKING_NOTHING);
}

static void on_completed(void *context, struct MHD_Connection *mhd, void **request,
                         enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)mhd;
    (void)code;
    pooled_exchange *self = *request;
    if (self) end_exchange(self->exchange.connection);
    *request = NULL;
}

/* ---- the server ---- */

static struct MHD_Daemon *start_daemon(http_server *self)
{
    const http_options *options = &self->options;
    const tls_certificates *tls = self->certificates;
    unsigned flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET | (tls ? MHD_USE_TLS : 0u);
    struct MHD_OptionItem more[4] = {{MHD_OPTION_END, 0, NULL}};
    size_t count = 0;
    if (tls) {
        more[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, tls->certificate};
        more[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, tls->key};
        more[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
                                                (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"};
        more[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    }
    /* libmicrohttpd reads headers into half of the room, and the rest is for what it makes of them. */
    return MHD_start_daemon(flags, 0, NULL, NULL, on_request, self, MHD_OPTION_THREAD_POOL_SIZE,
                            (unsigned)(options->threads > 1 ? options->threads : 0), MHD_OPTION_CONNECTION_LIMIT,
                            (unsigned)options->connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                            (unsigned)options->connections_each, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            2 * options->header_bytes, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK,
                            on_request_line, self, MHD_OPTION_NOTIFY_COMPLETED, on_completed, self,
                            MHD_OPTION_NOTIFY_CONNECTION, on_connection, self, MHD_OPTION_ARRAY, more, MHD_OPTION_END);
}

static ee_status open_socket(http_server *self, ee_error *error)
{
    const http_options *options = &self->options;
    self->own_socket = options->listening < 0;
    if (self->own_socket) return http_listen(options->address, options->port, &self->listening, error);
    self->listening = options->listening;
    /* Else accept would wait for a connection that is gone again. */
    if (fcntl(self->listening, F_SETFL, O_NONBLOCK))
        return status_fail(error, EE_BAD_INPUT, "http: the socket passed by systemd cannot be used");
    return EE_OK;
}

static ee_status start(http_server *self, ee_error *error)
{
    const http_options *options = &self->options;
    ee_status status = EE_OK;
    if (options->certificate)
        status = tls_certificates_read(options->certificate, options->key, &self->certificates, error);
    if (!status) status = open_socket(self, error);
    if (status) return status;
    self->port = http_socket_port(self->listening);
    self->options.connections = http_raise_files(options->connections);
    self->daemon = start_daemon(self);
    if (!self->daemon) return status_fail(error, EE_FILE_ERROR, "http: could not start the server");
    status = http_start_sweep(self, error);
    return status ? status : http_start_accepting(self, error);
}

ee_status http_start(const http_options *options, http_server **out, ee_error *error)
{
    http_server *self;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->options = *options;
    self->listening = self->accept_wakes = -1;
    pthread_mutex_init(&self->pool_lock, NULL);
    pthread_mutex_init(&self->list_lock, NULL);
    status = start(self, error);
    if (status)
        http_stop(self);
    else
        *out = self;
    return status;
}

uint16_t http_port(const http_server *self)
{
    return self->port;
}

ee_status http_set_certificate(http_server *self, const char *certificate, const char *key, ee_error *error)
{
    tls_certificates *latest;
    if (!self->certificates)
        return status_fail(error, EE_BAD_INPUT, "tls: it was off when the server started; restart the server");
    ee_status status = tls_certificates_read(certificate, key, &latest, error);
    if (status) return status;
    pthread_mutex_lock(&self->list_lock);
    latest->next = self->certificates;
    self->certificates = latest;
    pthread_mutex_unlock(&self->list_lock);
    return EE_OK;
}

void http_drain(http_server *self)
{
    if (!self->daemon || atomic_exchange(&self->is_draining, true)) return;
    http_end_accepting(self);
    /* Who connects from now on is refused at once; but a socket of systemd's is also the next server's. */
    if (self->own_socket) shutdown(self->listening, SHUT_RDWR);
}

size_t http_open_requests(const http_server *self)
{
    return atomic_load(&self->open);
}

size_t http_connections(const http_server *self)
{
    return atomic_load(&self->connections);
}

static void wait_for_handlers(const http_server *self)
{
    const struct timespec pause = {0, 1000000};
    while (atomic_load(&self->handled)) nanosleep(&pause, NULL);
}

void http_stop(http_server *self)
{
    if (!self) return;
    http_drain(self);
    atomic_store(&self->is_stopping, true);
    wait_for_handlers(self);
    http_stop_sweep(self);
    if (self->daemon) MHD_stop_daemon(self->daemon);
    if (self->listening >= 0) close(self->listening);
    http_pool_free(self);
    tls_certificates_free(self->certificates);
    pthread_mutex_destroy(&self->list_lock);
    pthread_mutex_destroy(&self->pool_lock);
    memory_release(&self->memory);
}
