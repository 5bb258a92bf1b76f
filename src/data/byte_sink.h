/* Where a log is written to: a file, which gets its name once all is written, or standard output; packed as the end of
 * the name says, .gz or .zst. */
#ifndef EENET_BYTE_SINK_H
#define EENET_BYTE_SINK_H

#include <stdbool.h>

#include "base/status.h"

typedef struct byte_sink byte_sink;

/* path "-": standard output. What is there and is no plain file (a pipe, a device) is written to as it is. */
ee_status byte_sink_open(const char *path, byte_sink **out, ee_error *error);
ee_status byte_sink_write(byte_sink *sink, const void *bytes, size_t size, ee_error *error);

/* Writes what is left, syncs and names the file; keep false: throws it away. The sink is over in every case. */
ee_status byte_sink_end(byte_sink *sink, bool keep, ee_error *error);

/* Length of the name without .gz or .zst. */
size_t byte_sink_stem(const char *path);

#endif
