/* The bytes of a connection, plain or through TLS. Nothing here blocks. */
#ifndef EENET_HTTP_TRANSPORT_H
#define EENET_HTTP_TRANSPORT_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef struct http_transport {
    int socket;
    gnutls_session_t tls; /* NULL: none */
} http_transport;

/* Instead of a number of bytes. */
enum { TRANSPORT_WAIT = -1, TRANSPORT_LOST = -2 };

/* Adds TLS to a socket. false: out of memory. The credentials and priorities must outlive it. */
bool http_transport_start_tls(http_transport *self, gnutls_certificate_credentials_t credentials,
                              gnutls_priority_t priorities);
/* The TLS handshake. 0: it is complete; else TRANSPORT_WAIT or TRANSPORT_LOST. */
int http_transport_shake_hands(http_transport *self);

/* Bytes read; 0: the client sends no more. */
ssize_t http_transport_read(http_transport *self, char *bytes, size_t capacity);
/* Bytes written of two pieces. After TRANSPORT_WAIT it must be called with the same pieces again. */
ssize_t http_transport_write(http_transport *self, const struct iovec pieces[2]);
/* Ends the sending direction. */
void http_transport_end(http_transport *self);
void http_transport_close(http_transport *self);

#endif
