/* The checksum of a request: 128 bits, by which the same request is known when it comes again. No secret: whoever makes
 * two requests of one checksum gets, for the second, the answer of the first. */
#ifndef EENET_REQUEST_CHECKSUM_H
#define EENET_REQUEST_CHECKSUM_H

#include "base/json.h"

void request_checksum(json_text bytes, uint64_t out[2]);

#endif
