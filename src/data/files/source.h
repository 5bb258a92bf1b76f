/* A data file, gzip or plain, completely in memory. */
#ifndef EENET_SOURCE_H
#define EENET_SOURCE_H

#include <stdbool.h>

#include "base/status.h"

typedef struct source {
    char *path;     /* of the file found, for messages */
    uint8_t *bytes; /* (size) and a zero byte after them */
    size_t size;
} source;

/* Whether the folder has the file NAME or NAME.gz; folder may be NULL. */
ee_status source_find(const char *folder, const char *name, bool *found, ee_error *error);

/* Reads the file NAME of a folder, or NAME.gz if only that exists; folder may be NULL. Mixes its bytes into
 * *fingerprint: the same files in the same order give the same value. Release the source; on failure it is empty. */
ee_status source_load(const char *folder, const char *name, uint64_t *fingerprint, source *out, ee_error *error);

/* Decompresses the bytes in place if they are gzip, detected by the first bytes and not by the name. EE_BAD_INPUT, with
 * the byte, if they are truncated or damaged. */
ee_status source_unpack(source *file, ee_error *error);

void source_release(source *file);

#endif
