/* Certificates and their keys. */
#include <string.h>

#include "base/file.h"
#include "http_inside.h"

static ee_status make_credentials(tls_certificates *self, const char *certificate, const char *key,
                                  const gnutls_datum_t *bytes, const gnutls_datum_t *key_bytes, ee_error *error)
{
    if (gnutls_certificate_allocate_credentials(&self->credentials)) return status_no_memory(error, sizeof *self);
    int code = gnutls_certificate_set_x509_key_mem(self->credentials, bytes, key_bytes, GNUTLS_X509_FMT_PEM);
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
    gnutls_datum_t bytes = {NULL, 0}, key_bytes = {NULL, 0};
    size_t size = 0, key_size = 0;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    status = file_read(certificate, &bytes.data, &size, error);
    if (!status) status = file_read(key, &key_bytes.data, &key_size, error);
    bytes.size = (unsigned)size;
    key_bytes.size = (unsigned)key_size;
    if (!status) status = make_credentials(self, certificate, key, &bytes, &key_bytes, error);
    memory_free(bytes.data);
    memory_free(key_bytes.data);
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
        memory_free(first);
    }
}
