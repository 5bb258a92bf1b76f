/* Asks a running server whether it is alive, as a health check does. */
#ifndef EENET_HTTP_PROBE_H
#define EENET_HTTP_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* GET path from a server on this machine that listens on address; 0.0.0.0 and :: are reached at the loopback address.
 * With tls, any certificate is accepted. EE_OK if it answers 200 within five seconds. */
ee_status http_probe(const char *address, uint16_t port, bool tls, const char *path, ee_error *error);

#endif
