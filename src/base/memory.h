/* The only place that allocates. Everything is aligned to a cache line and zeroed.
 *
 * An object takes its blocks, and those of its parts, from one owner: one call frees them all, one counts them. A part
 * that cannot be created leaves what it took to the owner. An owner is used by one thread at a time; {0} is one that
 * takes from the C library. Where there is no owner, NULL, a block comes from the C library and is freed by itself. */
#ifndef EENET_MEMORY_H
#define EENET_MEMORY_H

#include "status.h"

typedef struct memory {
    ee_allocator allocator;   /* all NULL: the C library's */
    struct block_head *first; /* of the blocks, which are linked by their heads */
    size_t bytes;             /* of them all */
} memory;

/* *out = count elements of size bytes, zeroed. A count of zero gives one element. */
ee_status memory_create(memory *owner, void *out, size_t count, size_t size, ee_error *error);

/* *out = an object of size bytes, zeroed but for the `memory` that it begins with: an owner by this allocator (NULL:
 * the C library's), whose first block is the object itself. memory_release of it frees the object too. */
ee_status memory_create_owner(const ee_allocator *allocator, void *out, size_t size, ee_error *error);

/* Makes room for count elements in *array, which holds *capacity of them: doubles until it fits. What is new is zero.
 */
ee_status memory_grow(memory *owner, void *array, size_t *capacity, size_t count, size_t size, ee_error *error);

/* For a block whose first bytes, so many, are all going to be written and are then read here and there: they lie in
 * large pages, where the system has them and they are many. What is only reserved must not: it would be taken as soon
 * as something near it is. The blocks of a user's allocator stay as they are. */
void memory_take_large_pages(void *block, size_t bytes);

/* One block, whoever owns it; NULL is allowed. */
void memory_free(void *block);

/* All blocks of an owner, which can then be used again. */
void memory_release(memory *owner);

/* Bytes that the owner's blocks take. */
size_t memory_bytes(const memory *owner);

/* So many floats and what fills their last line of the cache. */
size_t memory_whole_lines(size_t floats);

#endif
