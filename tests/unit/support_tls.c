#define _POSIX_C_SOURCE 200809L
#include "support_tls.h"

#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support_http.h"

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "tls: %s\n", what);
    abort();
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, path);
}

void tls_write_certificate(const char *certificate, const char *key, const char *host)
{
    gnutls_x509_privkey_t made_key;
    gnutls_x509_crt_t made;
    char pem[8192];
    size_t size = sizeof pem;
    gnutls_x509_privkey_init(&made_key);
    require(gnutls_x509_privkey_generate(made_key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
                                         0) == 0,
            "no key");
    gnutls_x509_crt_init(&made);
    gnutls_x509_crt_set_version(made, 3);
    gnutls_x509_crt_set_serial(made, "\1", 1);
    gnutls_x509_crt_set_activation_time(made, 0);
    gnutls_x509_crt_set_expiration_time(made, (time_t)4000000000); /* in 2096 */
    gnutls_x509_crt_set_dn_by_oid(made, GNUTLS_OID_X520_COMMON_NAME, 0, host, (unsigned)strlen(host));
    gnutls_x509_crt_set_key(made, made_key);
    require(gnutls_x509_crt_sign2(made, made, made_key, GNUTLS_DIG_SHA256, 0) == 0, "no signature");
    require(gnutls_x509_crt_export(made, GNUTLS_X509_FMT_PEM, pem, &size) == 0, "no certificate");
    write_file(certificate, pem, size);
    size = sizeof pem;
    require(gnutls_x509_privkey_export(made_key, GNUTLS_X509_FMT_PEM, pem, &size) == 0, "no key");
    write_file(key, pem, size);
    gnutls_x509_crt_deinit(made);
    gnutls_x509_privkey_deinit(made_key);
}

bool tls_connect(tls_client *self, uint16_t port, const char *priorities)
{
    self->socket = raw_connect(port);
    gnutls_certificate_allocate_credentials(&self->credentials);
    gnutls_init(&self->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL);
    bool can = gnutls_priority_set_direct(self->session, priorities, NULL) == 0; /* unless this system forbids it */
    gnutls_credentials_set(self->session, GNUTLS_CRD_CERTIFICATE, self->credentials);
    gnutls_transport_set_int(self->session, self->socket);
    int code;
    do code = can ? gnutls_handshake(self->session) : GNUTLS_E_NO_PRIORITIES_WERE_SET;
    while (code < 0 && !gnutls_error_is_fatal(code));
    return code == 0;
}

void tls_close(tls_client *self)
{
    gnutls_deinit(self->session);
    gnutls_certificate_free_credentials(self->credentials);
    raw_close(self->socket);
}

bool tls_send(tls_client *self, const char *bytes, size_t size)
{
    while (size) {
        ssize_t sent = gnutls_record_send(self->session, bytes, size);
        if (sent == GNUTLS_E_AGAIN || sent == GNUTLS_E_INTERRUPTED) continue;
        if (sent <= 0) return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

long tls_read(tls_client *self, char *bytes, size_t capacity)
{
    ssize_t got;
    do got = gnutls_record_recv(self->session, bytes, capacity);
    while (got == GNUTLS_E_INTERRUPTED);
    return got;
}

bool tls_reads(tls_client *self, const char *wanted)
{
    char got[8192];
    size_t length = 0;
    while (length + 1 < sizeof got) {
        long more = tls_read(self, got + length, sizeof got - 1 - length);
        if (more <= 0) return false;
        length += (size_t)more;
        got[length] = '\0';
        if (strstr(got, wanted)) return true;
    }
    return false;
}
