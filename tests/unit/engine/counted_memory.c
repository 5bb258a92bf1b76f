#include "counted_memory.h"

#include "support.h"

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *block);

size_t calls, fail_at, live;

void *__wrap_calloc(size_t count, size_t size)
{
    calls++;
    if (calls == fail_at) return NULL;
    void *block = __real_calloc(count, size);
    live += block != NULL;
    return block;
}

void __wrap_free(void *block)
{
    live -= block != NULL;
    __real_free(block);
}

void memory_fail(size_t place)
{
    calls = 0;
    fail_at = place;
}

bool memory_failed(ee_status status)
{
    bool failed = calls >= fail_at;
    fail_at = 0;
    assert_int_equal(status, failed ? EE_NO_MEMORY : EE_OK);
    return failed;
}
