/* Every calloc and free of the library, counted, and any one made to fail: the linker sends them through two functions
 * of counted_memory.c (--wrap). The library takes and gives back all memory by them. */
#ifndef EENET_TEST_COUNTED_MEMORY_H
#define EENET_TEST_COUNTED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "eenet.h"

void __real_free(void *block); /* not counted */

extern size_t calls;   /* of calloc so far */
extern size_t fail_at; /* the call that fails; 0: none */
extern size_t live;    /* blocks */

/* From now on, calls are counted and the one of this number fails. */
void memory_fail(size_t place);

/* Ends that. Whether it came so far: then the status must be EE_NO_MEMORY, else EE_OK. */
bool memory_failed(ee_status status);

#endif
