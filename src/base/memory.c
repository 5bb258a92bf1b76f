#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64 };

/* Lies in front of every block. */
typedef struct block_head {
    char *raw;    /* what calloc gave */
    size_t bytes; /* of it */
} block_head;

/* Blocks are cut out of larger ones; the address sanitizer is told where they end. */
#if defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
static void fence(char *end, const char *raw_end)
{
    ASAN_POISON_MEMORY_REGION(end, (size_t)(raw_end - end));
}
#else
static void fence(char *end, const char *raw_end)
{
    (void)end;
    (void)raw_end;
}
#endif

ee_status memory_create(void *out, size_t count, size_t size, ee_error *error)
{
    if (count == 0) count = 1;
    if (size && count > (SIZE_MAX - 2 * CACHE_LINE) / size) return status_no_memory(error, SIZE_MAX);
    /* calloc, because it leaves large blocks untouched until they are used: what is only reserved costs nothing. The
     * block starts at the first cache line that leaves room for its head in front. */
    size_t bytes = count * size + CACHE_LINE + sizeof(block_head);
    char *raw = calloc(bytes, 1);
    if (!raw) return status_no_memory(error, bytes);
    char *block = raw + sizeof(block_head);
    block += (CACHE_LINE - (uintptr_t)block % CACHE_LINE) % CACHE_LINE;
    block_head head = {raw, bytes};
    memcpy(block - sizeof head, &head, sizeof head);
    fence(block + count * size, raw + bytes);
    memcpy(out, &block, sizeof block);
    return EE_OK;
}

ee_status memory_grow(void *array, size_t *capacity, size_t count, size_t size, ee_error *error)
{
    if (count <= *capacity) return EE_OK;
    size_t room = *capacity > SIZE_MAX / 2 ? count : *capacity * 2;
    if (room < count) room = count;
    void *larger = NULL;
    ee_status status = memory_create(&larger, room, size, error);
    if (status) return status;
    void *block;
    memcpy(&block, array, sizeof block);
    if (block) memcpy(larger, block, *capacity * size);
    memory_free(block);
    memcpy(array, &larger, sizeof larger);
    *capacity = room;
    return EE_OK;
}

size_t memory_whole_lines(size_t floats)
{
    enum { LINE = CACHE_LINE / sizeof(float) };
    return (floats + LINE - 1) / LINE * LINE;
}

static block_head head_of(const void *block)
{
    block_head head;
    memcpy(&head, (const char *)block - sizeof head, sizeof head);
    return head;
}

void memory_free(void *block)
{
    if (block) free(head_of(block).raw);
}

size_t memory_size(const void *block)
{
    return block ? head_of(block).bytes : 0;
}
