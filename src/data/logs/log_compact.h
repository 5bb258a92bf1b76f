/* The compact log format, .eelog, for repeated reading. docs/log-format.md describes it byte by byte. */
#ifndef EENET_LOG_COMPACT_H
#define EENET_LOG_COMPACT_H

#include "base/archive.h"
#include "log_kind.h"

/* At the start of a file. */
enum { COMPACT_MAGIC = 8, COMPACT_HEADER = 32 };
extern const uint8_t compact_magic[COMPACT_MAGIC];

/* Both add to the archive, which writes. */
void compact_write_header(archive *a, size_t dim);
void compact_write(archive *a, const log_event *event);

#endif
