/* The order of the requested runs. Each shard keeps it, so that a merge can restore the order of a single program:
 *
 *     order  a key a line, as run_keys has it, 16 hexadecimal digits
 */
#ifndef EENET_RUN_ORDER_H
#define EENET_RUN_ORDER_H

#include "base/status.h"

/* Adds those keys that the folder's file does not have. After a crash it has the old ones or all. keys is (count), none
 * twice. The folder has one writer, as of its runs. */
ee_status run_order_add(const char *folder, const uint64_t *keys, size_t count, ee_error *error);

/* *keys is (count), to be freed with memory_free; none where there is no such file. */
ee_status run_order_read(const char *folder, uint64_t **keys, size_t *count, ee_error *error);

#endif
