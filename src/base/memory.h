/* The only place that allocates. Blocks are zeroed and aligned to a cache line.
 *
 * An object and its parts take their blocks from one owner, which counts them and frees all at once. A part that fails
 * to be created leaves its blocks to the owner. Only one thread may use an owner at a time. {0} is an owner that uses
 * the C library. With a NULL owner a block comes from the C library and is freed separately. */
#ifndef EENET_MEMORY_H
#define EENET_MEMORY_H

#include "status.h"

typedef struct memory {
    ee_allocator allocator;   /* all NULL: the C library */
    struct block_head *first; /* linked list of the blocks */
    size_t bytes;             /* of all blocks */
} memory;

/* *out = count elements of size bytes, zeroed. A count of zero gives one element. */
ee_status memory_create(memory *owner, void *out, size_t count, size_t size, ee_error *error);

/* *out = an object of size bytes. It begins with a `memory`: an owner that uses this allocator (NULL: the C library)
 * and whose first block is the object itself. The rest is zeroed. memory_release of it frees the object too. */
ee_status memory_create_owner(const ee_allocator *allocator, void *out, size_t size, ee_error *error);

/* Makes room for count elements in *array, which has room for *capacity: doubles until it fits. New elements are
 * zero. */
ee_status memory_grow(memory *owner, void *array, size_t *capacity, size_t count, size_t size, ee_error *error);

/* Puts the first `bytes` of a block into large pages, if there are enough and the system has them. Call it only if all
 * of them will be written: the pages are taken at the first write. Does nothing for blocks of a custom allocator. */
void memory_take_large_pages(void *block, size_t bytes);

/* Frees one block of any owner. NULL is allowed. */
void memory_free(void *block);

/* Frees all blocks of an owner, which can then be used again. */
void memory_release(memory *owner);

/* The bytes of all blocks of an owner. */
size_t memory_bytes(const memory *owner);

/* Rounds a number of floats up to whole cache lines. */
size_t memory_whole_lines(size_t floats);

#endif
