/* Every calloc and free of the library, counted, and any one made to fail: the linker sends them through the two
 * functions here (--wrap). The library takes and gives back all memory by them. For one file of a program. */
#ifndef EENET_TEST_COUNTED_MEMORY_H
#define EENET_TEST_COUNTED_MEMORY_H

#include <stddef.h>

void *__real_calloc(size_t count, size_t size);
void __real_free(void *block);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *block);

static size_t calls;   /* of calloc so far */
static size_t fail_at; /* the call that fails; 0: none */
static size_t live;    /* blocks */

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

#endif
