/* 128-bit checksum of a request, which recognises a repeated request. It is not cryptographic: a caller who constructs
 * a collision only gets the first response for the second request. */
#ifndef EENET_REQUEST_CHECKSUM_H
#define EENET_REQUEST_CHECKSUM_H

#include "base/json.h"

void request_checksum(json_text bytes, uint64_t out[2]);

#endif
