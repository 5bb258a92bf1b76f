/* What takes long to prepare, kept from one run to the next: a file for each (kind, key), checked when it is read.
 * Nothing here fails: what cannot be stored or read is prepared again. */
#ifndef EENET_CACHE_H
#define EENET_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Made of the fingerprint of the files, the version of what is stored and the options that change it. */
uint64_t cache_key(uint64_t fingerprint, uint32_t version, const char *options);

/* Whether there is such a file, and it is whole; *bytes is to be freed with memory_free then. folder may be NULL. */
bool cache_read(const char *folder, const char *kind, uint64_t key, uint8_t **bytes, size_t *size);

/* Makes the folder where it is missing. Does nothing where folder is NULL or cannot be written to. */
void cache_write(const char *folder, const char *kind, uint64_t key, const uint8_t *bytes, size_t size);

#endif
