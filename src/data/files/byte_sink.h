/* Output of a log: a file, renamed to its final name when it is complete, or standard output. A name that ends in .gz
 * or .zst selects compression. */
#ifndef EENET_BYTE_SINK_H
#define EENET_BYTE_SINK_H

#include <stdbool.h>

#include "base/status.h"

typedef struct byte_sink byte_sink;

/* path "-": standard output. An existing pipe or device is written to directly. */
ee_status byte_sink_open(const char *path, byte_sink **out, ee_error *error);
ee_status byte_sink_write(byte_sink *sink, const void *bytes, size_t size, ee_error *error);

/* Flushes, syncs and renames the file; keep false: discards it. Frees the sink in every case. */
ee_status byte_sink_end(byte_sink *sink, bool keep, ee_error *error);

/* Whether the name ends so, optionally followed by .gz or .zst. */
bool byte_sink_is_named(const char *path, const char *ending);

#endif
