#define _POSIX_C_SOURCE 200809L
#include "http_transport.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

bool http_transport_start_tls(http_transport *self, gnutls_certificate_credentials_t credentials,
                              gnutls_priority_t priorities)
{
    if (gnutls_init(&self->tls, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL)) {
        self->tls = NULL;
        return false;
    }
    gnutls_transport_set_int(self->tls, self->socket);
    gnutls_handshake_set_timeout(self->tls, 0); /* connections have deadlines */
    return !gnutls_priority_set(self->tls, priorities) &&
           !gnutls_credentials_set(self->tls, GNUTLS_CRD_CERTIFICATE, credentials);
}

int http_transport_shake_hands(http_transport *self)
{
    int code;
    do code = gnutls_handshake(self->tls);
    while (code == GNUTLS_E_INTERRUPTED || (code < 0 && code != GNUTLS_E_AGAIN && !gnutls_error_is_fatal(code)));
    if (!code) return 0;
    if (code == GNUTLS_E_AGAIN) return TRANSPORT_WAIT;
    gnutls_alert_send_appropriate(self->tls, code);
    return TRANSPORT_LOST;
}

static ssize_t result_of_tls(ssize_t result)
{
    if (result >= 0) return result;
    return result == GNUTLS_E_AGAIN ? TRANSPORT_WAIT : TRANSPORT_LOST;
}

static ssize_t result_of_socket(ssize_t result)
{
    if (result >= 0) return result;
    return errno == EAGAIN || errno == EWOULDBLOCK ? TRANSPORT_WAIT : TRANSPORT_LOST;
}

ssize_t http_transport_read(http_transport *self, char *bytes, size_t capacity)
{
    ssize_t got;
    if (self->tls) {
        do got = gnutls_record_recv(self->tls, bytes, capacity);
        while (got == GNUTLS_E_INTERRUPTED);
        return result_of_tls(got == GNUTLS_E_PREMATURE_TERMINATION ? 0 : got);
    }
    do got = recv(self->socket, bytes, capacity, 0);
    while (got < 0 && errno == EINTR);
    return result_of_socket(got);
}

ssize_t http_transport_write(http_transport *self, const struct iovec pieces[2])
{
    ssize_t sent;
    if (self->tls) {
        const struct iovec *piece = &pieces[pieces[0].iov_len ? 0 : 1];
        do sent = gnutls_record_send(self->tls, piece->iov_base, piece->iov_len);
        while (sent == GNUTLS_E_INTERRUPTED);
        return result_of_tls(sent);
    }
    struct iovec copies[2] = {pieces[0], pieces[1]};
    const struct msghdr message = {.msg_iov = copies, .msg_iovlen = 2};
    do sent = sendmsg(self->socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return result_of_socket(sent);
}

void http_transport_end(http_transport *self)
{
    if (self->tls) gnutls_bye(self->tls, GNUTLS_SHUT_WR);
    shutdown(self->socket, SHUT_WR);
}

void http_transport_close(http_transport *self)
{
    if (self->tls) gnutls_deinit(self->tls);
    close(self->socket);
}
