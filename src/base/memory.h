/* The only place that allocates. Everything is aligned to a cache line and zeroed. */
#ifndef EENET_MEMORY_H
#define EENET_MEMORY_H

#include "status.h"

/* *out = count elements of size bytes, zeroed; to be freed with memory_free. A count of zero gives one element. */
ee_status memory_create(void *out, size_t count, size_t size, ee_error *error);

/* Makes room for count elements in *array, which holds *capacity of them: doubles until it fits. What is new is zero.
 */
ee_status memory_grow(void *array, size_t *capacity, size_t count, size_t size, ee_error *error);

void memory_free(void *block);

/* So many floats and what fills their last line of the cache. */
size_t memory_whole_lines(size_t floats);

/* Bytes that a block of memory_create or memory_grow takes; 0 for NULL. */
size_t memory_size(const void *block);

#endif
