/* The order of the requested runs. Each shard keeps it, so that a merge can restore the order of a single program:
 *
 *     order  a key (run_keys) per line, 16 hexadecimal digits
 */
#ifndef EENET_RUN_ORDER_H
#define EENET_RUN_ORDER_H

#include "base/status.h"

/* Adds the keys that the folder's file lacks, atomically. keys is (count), without duplicates. A folder has one writer
 * at a time, as for its runs. */
ee_status run_order_add(const char *folder, const uint64_t *keys, size_t count, ee_error *error);

/* *keys is (count), to be freed with memory_free; none if there is no such file. */
ee_status run_order_read(const char *folder, uint64_t **keys, size_t *count, ee_error *error);

#endif
