/* Certificates and a TLS client, for tests. */
#ifndef EENET_SUPPORT_TLS_H
#define EENET_SUPPORT_TLS_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdint.h>

/* Writes a self-signed certificate and its key, PEM, valid until 2096. Aborts if that fails. */
void tls_write_certificate(const char *certificate, const char *key, const char *host);

typedef struct tls_client {
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
    int socket;
} tls_client;

/* Whether both sides agree. tls_close is needed in any case. */
bool tls_connect(tls_client *self, uint16_t port, const char *priorities);
void tls_close(tls_client *self);
bool tls_send(tls_client *self, const char *bytes, size_t size);
/* Bytes read; 0 or less: the end. */
long tls_read(tls_client *self, char *bytes, size_t capacity);
/* Reads until this text has arrived; false: the connection ended before. */
bool tls_reads(tls_client *self, const char *wanted);

#endif
