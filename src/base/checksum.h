/* 128-bit checksum of bytes, fast and not cryptographic. It recognises a repeated request (a caller who constructs a
 * collision only gets the first response for the second request) and damaged rows of a store. Values are stored, so
 * the algorithm never changes: another one would need this one too, for old databases. */
#ifndef EENET_CHECKSUM_H
#define EENET_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

void checksum_128(const void *bytes, size_t size, uint64_t out[2]);

/* The second half: two inputs of one length that differ within one aligned word of eight bytes always differ in it. */
uint64_t checksum_64(const void *bytes, size_t size);

#endif
