/* The bytes of a data file, gzip or plain, whole in memory. */
#ifndef EENET_SOURCE_H
#define EENET_SOURCE_H

#include <stdbool.h>

#include "base/status.h"

typedef struct source {
    char *path;     /* of the file that was found, for messages */
    uint8_t *bytes; /* (size) and a zero byte after them */
    size_t size;
} source;

/* Whether the folder has the file, or the one with .gz after its name; folder may be NULL. */
ee_status source_find(const char *folder, const char *name, bool *found, ee_error *error);

/* Reads the file name of a folder as it is, or where only NAME.gz is there, that; folder may be NULL. Mixes its bytes
 * into *fingerprint: the same files in the same order give the same one. On success the source is to be released; on
 * failure it is empty. */
ee_status source_load(const char *folder, const char *name, uint64_t *fingerprint, source *out, ee_error *error);

/* Where the bytes are gzip, puts in their place what they unpack to. A cut or damaged file is EE_BAD_INPUT, with the
 * byte. The name tells nothing: what is gzip is known by its first bytes. */
ee_status source_unpack(source *file, ee_error *error);

void source_release(source *file);

#endif
