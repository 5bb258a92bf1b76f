/* A cache of slow preparations, kept between runs: one file per (kind, key), with a checksum. Nothing here fails: what
 * cannot be stored or read is prepared again. */
#ifndef EENET_CACHE_H
#define EENET_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Combines the fingerprint of the files, the version of the stored format and the options that affect it. */
uint64_t cache_key(uint64_t fingerprint, uint32_t version, const char *options);

/* True if the file exists and is intact; then free *bytes with memory_free. folder may be NULL. */
bool cache_read(const char *folder, const char *kind, uint64_t key, uint8_t **bytes, size_t *size);

/* Creates the folder if it is missing. Does nothing if folder is NULL or not writable. */
void cache_write(const char *folder, const char *kind, uint64_t key, const uint8_t *bytes, size_t size);

#endif
