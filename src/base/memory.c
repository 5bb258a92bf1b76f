#include "memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "system.h"

enum { CACHE_LINE = 64 };

/* The header before every block. */
typedef struct block_head {
    char *raw;    /* what the allocator gave */
    size_t bytes; /* of it */
    memory *owner;
    struct block_head *previous, *next; /* of the owner's */
} block_head;

/* Blocks are cut out of larger ones. These macros mark the end of a block for the address sanitizer, and unmark it
 * before it returns to a custom allocator, which may reuse it. */
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
static void lift_fence(char *raw, size_t bytes)
{
    ASAN_UNPOISON_MEMORY_REGION(raw, bytes);
}
#else
static void fence(char *end, const char *raw_end)
{
    (void)end;
    (void)raw_end;
}
static void lift_fence(char *raw, size_t bytes)
{
    (void)raw;
    (void)bytes;
}
#endif

/* ---- the allocator ---- */

static bool has_allocator(const memory *owner)
{
    return owner && owner->allocator.allocate;
}

static char *take(const memory *owner, size_t bytes)
{
    /* calloc leaves large blocks untouched until they are used, so reserved memory costs nothing. */
    if (!has_allocator(owner)) return calloc(bytes, 1);
    char *raw = owner->allocator.allocate(owner->allocator.context, bytes);
    if (raw) memset(raw, 0, bytes);
    return raw;
}

static void release_block(const memory *owner, char *raw, size_t bytes)
{
    if (!has_allocator(owner)) {
        free(raw);
        return;
    }
    lift_fence(raw, bytes);
    owner->allocator.release(owner->allocator.context, raw, bytes);
}

/* ---- blocks ---- */

static block_head *head_of(void *block)
{
    return (block_head *)block - 1;
}

static void link_block(memory *owner, block_head *head)
{
    head->owner = owner;
    head->next = owner->first;
    if (head->next) head->next->previous = head;
    owner->first = head;
    owner->bytes += head->bytes;
}

static void unlink_block(memory *owner, const block_head *head)
{
    if (head->previous)
        head->previous->next = head->next;
    else
        owner->first = head->next;
    if (head->next) head->next->previous = head->previous;
    owner->bytes -= head->bytes;
}

ee_status memory_create(memory *owner, void *out, size_t count, size_t size, ee_error *error)
{
    if (count == 0) count = 1;
    if (size && count > (SIZE_MAX - 2 * CACHE_LINE) / size) return status_no_memory(error, SIZE_MAX);
    size_t bytes = count * size + CACHE_LINE + sizeof(block_head);
    char *raw = take(owner, bytes);
    if (!raw) return status_no_memory(error, bytes);
    /* The block starts at the first cache line that leaves room for its header. */
    char *block = raw + sizeof(block_head);
    block += (CACHE_LINE - (uintptr_t)block % CACHE_LINE) % CACHE_LINE;
    block_head *head = head_of(block);
    head->raw = raw;
    head->bytes = bytes;
    if (owner) link_block(owner, head);
    fence(block + count * size, raw + bytes);
    memcpy(out, &block, sizeof block);
    return EE_OK;
}

ee_status memory_create_owner(const ee_allocator *allocator, void *out, size_t size, ee_error *error)
{
    memory first = {0}, *object = NULL;
    if (allocator) first.allocator = *allocator;
    ee_status status = memory_create(&first, &object, 1, size, error);
    if (status) return status;
    *object = first;
    object->first->owner = object;
    memcpy(out, &object, sizeof object);
    return EE_OK;
}

ee_status memory_grow(memory *owner, void *array, size_t *capacity, size_t count, size_t size, ee_error *error)
{
    if (count <= *capacity) return EE_OK;
    size_t room = *capacity > SIZE_MAX / 2 ? count : *capacity * 2;
    if (room < count) room = count;
    void *larger = NULL;
    ee_status status = memory_create(owner, &larger, room, size, error);
    if (status) return status;
    void *block;
    memcpy(&block, array, sizeof block);
    if (block) memcpy(larger, block, *capacity * size);
    memory_free(block);
    memcpy(array, &larger, sizeof larger);
    *capacity = room;
    return EE_OK;
}

void memory_free(void *block)
{
    if (!block) return;
    block_head *head = head_of(block);
    memory *owner = head->owner;
    if (owner) unlink_block(owner, head);
    release_block(owner, head->raw, head->bytes);
}

void memory_release(memory *owner)
{
    memory all = *owner; /* the owner itself may lie in one of the blocks */
    *owner = (memory){.allocator = all.allocator};
    for (block_head *head = all.first, *next; head; head = next) {
        next = head->next;
        release_block(&all, head->raw, head->bytes);
    }
}

void memory_take_large_pages(void *block, size_t bytes)
{
    /* Below this size the processor needs no large pages. It is a multiple of every page size. */
    enum { LEAST = 4 << 20, PAGES = 64 << 10 };
    if (bytes < LEAST || has_allocator(head_of(block)->owner)) return;
    size_t before = (PAGES - (uintptr_t)block % PAGES) % PAGES;
    system_take_large_pages((char *)block + before, (bytes - before) / PAGES * PAGES);
}

size_t memory_bytes(const memory *owner)
{
    return owner->bytes;
}

size_t memory_whole_lines(size_t floats)
{
    enum { LINE = CACHE_LINE / sizeof(float) };
    return (floats + LINE - 1) / LINE * LINE;
}
