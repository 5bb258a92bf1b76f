#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "http_probe.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 5 };

typedef struct probe {
    int socket;
    gnutls_session_t tls; /* NULL: none */
    const char *place;    /* for messages */
    ee_error *error;
} probe;

static ee_status fail(const probe *self, const char *why)
{
    return status_fail(self->error, EE_FILE_ERROR, "health: %s: %s", self->place, why);
}

/* Sending and receiving fail with EAGAIN when the time is over. */
static ee_status connect_to(probe *self, const char *address, uint16_t port)
{
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    int code = getaddrinfo(address, service, &hints, &found);
    if (code) return fail(self, gai_strerror(code));
    self->socket = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = self->socket >= 0 &&
                     !setsockopt(self->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) &&
                     !setsockopt(self->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) &&
                     !connect(self->socket, found->ai_addr, found->ai_addrlen);
    int reason = errno;
    freeaddrinfo(found);
    return connected ? EE_OK : fail(self, strerror(reason));
}

static ssize_t send_bytes(probe *self, const char *bytes, size_t size)
{
    return self->tls ? gnutls_record_send(self->tls, bytes, size) : send(self->socket, bytes, size, MSG_NOSIGNAL);
}

static ssize_t receive_bytes(probe *self, char *bytes, size_t size)
{
    return self->tls ? gnutls_record_recv(self->tls, bytes, size) : recv(self->socket, bytes, size, 0);
}

/* The request is shorter than any socket's buffer, so it is sent at once. */
static ee_status ask(probe *self, const char *path)
{
    static const char expected[] = "HTTP/1.1 200 ";
    char bytes[256];
    size_t got = 0;
    int size = snprintf(bytes, sizeof bytes, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    if (send_bytes(self, bytes, (size_t)size) != size) return fail(self, "could not send a request");
    while (got < sizeof expected - 1) {
        ssize_t more = receive_bytes(self, bytes + got, sizeof expected - 1 - got);
        if (more <= 0) return fail(self, "no response within five seconds");
        got += (size_t)more;
    }
    bytes[got] = '\0';
    return strcmp(bytes, expected) == 0 ? EE_OK : fail(self, "the response is not 200");
}

static ee_status ask_over_tls(probe *self, const char *path)
{
    gnutls_certificate_credentials_t credentials = NULL;
    int code = gnutls_certificate_allocate_credentials(&credentials);
    if (!code) code = gnutls_init(&self->tls, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL);
    if (!code) code = gnutls_set_default_priority(self->tls);
    if (!code) code = gnutls_credentials_set(self->tls, GNUTLS_CRD_CERTIFICATE, credentials);
    if (!code) {
        gnutls_transport_set_int(self->tls, self->socket);
        gnutls_handshake_set_timeout(self->tls, PATIENCE_SECONDS * 1000);
        do code = gnutls_handshake(self->tls);
        while (code < 0 && !gnutls_error_is_fatal(code) && code != GNUTLS_E_AGAIN);
    }
    ee_status status = code ? fail(self, gnutls_strerror(code)) : ask(self, path);
    if (self->tls) gnutls_deinit(self->tls);
    if (credentials) gnutls_certificate_free_credentials(credentials);
    return status;
}

ee_status http_probe(const char *address, uint16_t port, bool tls, const char *path, ee_error *error)
{
    char place[160];
    probe self = {.socket = -1, .place = place, .error = error};
    if (strcmp(address, "0.0.0.0") == 0) address = "127.0.0.1";
    if (strcmp(address, "::") == 0) address = "::1";
    snprintf(place, sizeof place, "port %u of %.100s", port, address);
    ee_status status = connect_to(&self, address, port);
    if (!status) status = tls ? ask_over_tls(&self, path) : ask(&self, path);
    if (self.socket >= 0) close(self.socket);
    return status;
}
