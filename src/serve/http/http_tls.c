/* Certificates and their keys. */
#include <string.h>

#include "base/file.h"
#include "http_inside.h"

static ee_status make_credentials(tls_certificates *self, const char *certificate, const char *key, size_t size,
                                  size_t key_size, ee_error *error)
{
    if (gnutls_certificate_allocate_credentials(&self->credentials)) return status_no_memory(error, sizeof *self);
    gnutls_datum_t bytes = {self->certificate, (unsigned)size}, key_bytes = {self->key, (unsigned)key_size};
    int code = gnutls_certificate_set_x509_key_mem(self->credentials, &bytes, &key_bytes, GNUTLS_X509_FMT_PEM);
    if (code >= 0) return EE_OK;
    if (code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return status_fail(error, EE_BAD_INPUT, "tls: the certificate %s does not match the key %s",
                           file_tail(certificate), file_tail(key));
    return status_fail(error, EE_BAD_INPUT, "tls: %s and %s are not a certificate and key in PEM: %s",
                       file_tail(certificate), file_tail(key), gnutls_strerror(code));
}

ee_status tls_certificates_read(const char *certificate, const char *key, tls_certificates **out, ee_error *error)
{
    tls_certificates *self;
    size_t size, key_size;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    status = file_read(certificate, &self->certificate, &size, error);
    if (!status) status = file_read(key, &self->key, &key_size, error);
    if (!status) status = make_credentials(self, certificate, key, size, key_size, error);
    if (status)
        tls_certificates_free(self);
    else
        *out = self;
    return status;
}

void tls_certificates_free(tls_certificates *first)
{
    for (tls_certificates *next; first; first = next) {
        next = first->next;
        if (first->credentials) gnutls_certificate_free_credentials(first->credentials);
        memory_free(first->certificate);
        memory_free(first->key);
        memory_free(first);
    }
}
