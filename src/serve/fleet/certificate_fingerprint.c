#include "certificate_fingerprint.h"

#include <gnutls/crypto.h>
#include <gnutls/x509.h>

#include "base/file.h"
#include "base/memory.h"

int certificate_fingerprint_of(const gnutls_datum_t *der, char hex[FINGERPRINT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[(FINGERPRINT_SIZE - 1) / 2];
    int code = gnutls_hash_fast(GNUTLS_DIG_SHA256, der->data, der->size, hash);
    if (code) return code;
    for (size_t i = 0; i < sizeof hash; i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
    hex[FINGERPRINT_SIZE - 1] = '\0';
    return 0;
}

static int fingerprint_of_pem(const gnutls_datum_t *pem, char hex[FINGERPRINT_SIZE])
{
    gnutls_x509_crt_t certificate;
    gnutls_datum_t der = {NULL, 0};
    int code = gnutls_x509_crt_init(&certificate);
    if (code) return code;
    code = gnutls_x509_crt_import(certificate, pem, GNUTLS_X509_FMT_PEM);
    if (!code) code = gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_DER, &der);
    if (!code) code = certificate_fingerprint_of(&der, hex);
    gnutls_free(der.data);
    gnutls_x509_crt_deinit(certificate);
    return code;
}

ee_status certificate_fingerprint(const char *pem_file, char hex[FINGERPRINT_SIZE], ee_error *error)
{
    gnutls_datum_t pem = {NULL, 0};
    size_t size = 0;
    ee_status status = file_read(pem_file, &pem.data, &size, error);
    if (status) return status;
    pem.size = (unsigned)size;
    int code = fingerprint_of_pem(&pem, hex);
    memory_free(pem.data);
    if (!code) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "tls: %s is not a certificate in PEM: %s", file_tail(pem_file),
                       gnutls_strerror(code));
}
