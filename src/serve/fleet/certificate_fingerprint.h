/* The SHA-256 of a certificate (DER), in lower-case hex: how servers of a fleet recognise each other's certificates. */
#ifndef EENET_CERTIFICATE_FINGERPRINT_H
#define EENET_CERTIFICATE_FINGERPRINT_H

#include <gnutls/gnutls.h>

#include "base/status.h"

enum { FINGERPRINT_SIZE = 65 }; /* with the zero at its end */

/* Of the first certificate in a file. */
ee_status certificate_fingerprint(const char *pem_file, char hex[FINGERPRINT_SIZE], ee_error *error);
/* Of the bytes of a certificate; 0, or a code of GnuTLS. */
int certificate_fingerprint_of(const gnutls_datum_t *der, char hex[FINGERPRINT_SIZE]);

#endif
