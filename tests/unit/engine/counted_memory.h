/* Every calloc and free of the library, counted, and any one made to fail: the linker sends them through two functions
 * of counted_memory.c (--wrap). The library takes and gives back all memory by them. */
#ifndef EENET_TEST_COUNTED_MEMORY_H
#define EENET_TEST_COUNTED_MEMORY_H

#include <stddef.h>

void __real_free(void *block); /* not counted */

extern size_t calls;   /* of calloc so far */
extern size_t fail_at; /* the call that fails; 0: none */
extern size_t live;    /* blocks */

#endif
