/* Allocation. */
#include "support.h"

#include <unistd.h>

#include "base/memory.h"

/* A sanitizer's allocator ends the program where malloc returns NULL, unless asked not to by functions that it can see.
 */
EE_API const char *__asan_default_options(void);
EE_API const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void assert_zero(const void *block, size_t size)
{
    for (size_t i = 0; i < size; i++) assert_int_equal(((const unsigned char *)block)[i], 0);
}

TEST(blocks_are_aligned_and_zero)
{
    for (size_t count = 1; count < 300; count++) {
        unsigned char *dirty, *block;
        ok(memory_create(NULL, &dirty, count, 3, NULL));
        memset(dirty, 0xff, count * 3); /* the allocator likes to give back what was just freed */
        memory_free(dirty);
        ok(memory_create(NULL, &block, count, 3, NULL));
        assert_int_equal((uintptr_t)block % 64, 0);
        assert_zero(block, count * 3);
        memset(block, 0xff, count * 3);
        memory_free(block);
    }
    auto_memory double *block = NULL; /* a count of zero gives one element */
    ok(memory_create(NULL, &block, 0, sizeof *block, NULL));
    assert_non_null(block);
    assert_true(*block == 0);
    *block = 1;
    /* Whole lines hold sixteen floats. */
    assert_int_equal(memory_whole_lines(0), 0);
    assert_int_equal(memory_whole_lines(1), 16);
    assert_int_equal(memory_whole_lines(16), 16);
    assert_int_equal(memory_whole_lines(2201), 2208);
}

/* The sentence names at least the bytes that were asked for. */
static void assert_no_memory(size_t count, size_t size, size_t bytes)
{
    void *block = &block;
    assert_int_equal(memory_create(NULL, &block, count, size, &last_error), EE_NO_MEMORY);
    assert_int_equal(last_error.status, EE_NO_MEMORY);
    size_t reported = 0;
    int end = 0;
    assert_int_equal(sscanf(last_error.message, "memory: could not allocate %zu bytes%n", &reported, &end), 1);
    assert_int_equal(end, strlen(last_error.message));
    assert_true(reported >= bytes);
    assert_int_equal(memory_create(NULL, &block, count, size, NULL), EE_NO_MEMORY);
}

TEST(what_is_too_large_is_no_memory)
{
    assert_no_memory(SIZE_MAX, 8, SIZE_MAX);
    assert_no_memory(SIZE_MAX / 2 + 1, 2, SIZE_MAX); /* the product is 0 */
    assert_no_memory(SIZE_MAX / 8 + 2, 8, SIZE_MAX); /* the product is 8 */
    assert_no_memory(8, SIZE_MAX / 8 + 2, SIZE_MAX);
    assert_no_memory(SIZE_MAX, 1, SIZE_MAX); /* alignment needs room too */
    assert_no_memory(SIZE_MAX - 62, 1, SIZE_MAX);
    const size_t half = SIZE_MAX / 2 + 1; /* what the system refuses */
    assert_no_memory(half / 2, 2, half);
    assert_no_memory(1, half, half);
}

TEST(growing_keeps_the_content_and_zeroes_the_rest)
{
    auto_memory uint32_t *array = NULL;
    size_t capacity = 0;
    for (size_t count = 1; count < 2000; count += count / 3 + 1) {
        size_t before = capacity;
        ok(memory_grow(NULL, &array, &capacity, count, sizeof *array, NULL));
        assert_true(capacity >= count);
        for (size_t i = 0; i < before; i++) assert_int_equal(array[i], i + 1);
        assert_zero(array + before, (capacity - before) * sizeof *array);
        for (size_t i = 0; i < capacity; i++) array[i] = (uint32_t)i + 1;
    }
}

TEST(growing_doubles_or_takes_what_is_asked_or_changes_nothing)
{
    auto_memory uint32_t *array = NULL;
    size_t capacity = 0;
    static const struct {
        size_t asked, capacity;
    } steps[] = {{0, 0}, {10, 10}, {10, 10}, {3, 10}, {11, 20}, {41, 41}, {42, 82}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        uint32_t *before = array;
        size_t room = capacity;
        ok(memory_grow(NULL, &array, &capacity, steps[i].asked, sizeof *array, NULL));
        assert_int_equal(capacity, steps[i].capacity);
        if (steps[i].asked <= room) assert_ptr_equal(array, before);
    }
    auto_memory uint64_t *other = NULL;
    size_t room_of_other = 0;
    ok(memory_grow(NULL, &other, &room_of_other, 4, sizeof *other, NULL));
    other[3] = 9;
    uint64_t *kept = other;
    static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 8, SIZE_MAX / 16};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_int_equal(memory_grow(NULL, &other, &room_of_other, counts[i], sizeof *other, NULL), EE_NO_MEMORY);
        assert_ptr_equal(other, kept);
        assert_int_equal(room_of_other, 4);
        assert_int_equal(other[3], 9);
    }
}

/* Whichever goes first: the oldest, the newest or one in between. */
TEST(a_block_of_an_owner_may_go_alone)
{
    enum { BLOCKS = 4 };
    for (size_t alone = 0; alone < BLOCKS; alone++) {
        RELEASED_BY(memory_release) memory owner = {0};
        char *blocks[BLOCKS];
        for (size_t i = 0; i < BLOCKS; i++) ok(memory_create(&owner, &blocks[i], 10, 1, NULL));
        size_t all = memory_bytes(&owner);
        memory_free(blocks[alone]);
        assert_int_equal(memory_bytes(&owner), all / BLOCKS * (BLOCKS - 1));
        memory_free(blocks[(alone + 2) % BLOCKS]);
        assert_int_equal(memory_bytes(&owner), all / 2);
    }
}

/* Gives everything from one array, dirty, and remembers what comes back. */
typedef struct arena {
    char room[4096];
    size_t used, given, returned;
} arena;

static void *arena_allocate(void *context, size_t size)
{
    arena *self = context;
    if (size > sizeof self->room - self->used) return NULL;
    char *block = self->room + self->used;
    self->used += size;
    self->given += size;
    return block;
}

static void arena_release(void *context, void *block, size_t size)
{
    arena *self = context;
    memset(block, 0xff, size); /* all of it may be touched again */
    self->returned += size;
}

/* An object that owns its blocks, as a bandit does. */
typedef struct object {
    memory memory;
    char name[100];
    char *block;
} object;

TEST(an_object_may_own_itself)
{
    arena own = {.used = 1}; /* nothing is aligned */
    memset(own.room, 0xee, sizeof own.room);
    ee_allocator allocator = {arena_allocate, arena_release, &own};
    object *self;
    ok(memory_create_owner(&allocator, &self, sizeof *self, NULL));
    allocator = (ee_allocator){0}; /* it was copied */
    assert_int_equal((uintptr_t)self % 64, 0);
    assert_zero(self->name, sizeof self->name);
    ok(memory_create(&self->memory, &self->block, 700, 1, NULL));
    assert_zero(self->block, 700);
    assert_int_equal(memory_bytes(&self->memory), own.given);
    char *none;
    assert_int_equal(memory_create(&self->memory, &none, sizeof own.room, 1, NULL), EE_NO_MEMORY);
    assert_int_equal(memory_bytes(&self->memory), own.given);
    memory_free(self->block);
    assert_int_equal(memory_bytes(&self->memory), own.given - own.returned);
    memory_release(&self->memory);
    assert_int_equal(own.returned, own.given);
}

/* Whether the system was told so of the mapping that this address lies in. */
static bool wants_large_pages(const void *address)
{
    char line[512];
    bool within = false, reported = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long long first, end;
        if (sscanf(line, "%llx-%llx ", &first, &end) == 2)
            within = (uintptr_t)address >= first && (uintptr_t)address < end;
        else if (within && strncmp(line, "VmFlags:", 8) == 0)
            reported = strstr(line, " hg") != NULL;
    }
    fclose(maps);
    return reported;
}

static void *plain_allocate(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void plain_release(void *context, void *block, size_t size)
{
    (void)context;
    (void)size;
    free(block);
}

TEST(large_blocks_take_large_pages)
{
    enum { BYTES = 40 << 20 };
#ifdef EENET_EMULATED
    skip(); /* qemu does not pass on what is asked for */
#endif
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK)) skip();
    RELEASED_BY(memory_release) memory owner = {0}, users = {.allocator = {plain_allocate, plain_release, NULL}};
    char *whole, *part, *none, *own;
    ok(memory_create(&owner, &whole, BYTES, 1, NULL));
    ok(memory_create(&owner, &part, BYTES, 1, NULL));
    ok(memory_create(&owner, &none, BYTES, 1, NULL));
    ok(memory_create(&users, &own, BYTES, 1, NULL));
    memory_take_large_pages(whole, BYTES);
    memory_take_large_pages(part, BYTES / 2);
    memory_take_large_pages(none, 1000);
    memory_take_large_pages(own, BYTES);
    assert_true(wants_large_pages(whole + BYTES / 2) && wants_large_pages(part + BYTES / 4));
    assert_false(wants_large_pages(part + BYTES / 4 * 3)); /* what is only reserved */
    assert_false(wants_large_pages(none + BYTES / 2));
    assert_false(wants_large_pages(own + BYTES / 2)); /* nobody's but the user's to say */
    assert_zero(whole, 1000);
    assert_zero(whole + BYTES - 1000, 1000);
}
