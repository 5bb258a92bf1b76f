/* What the fuzzers share. libFuzzer and replay_corpus give each input in a block of its exact size, so that a sanitizer
 * sees a read past its end. */
#ifndef EENET_FUZZ_H
#define EENET_FUZZ_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eenet.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Ends the program if this does not hold. why: a message or the input as text. */
static inline void require_of(bool holds, const char *what, const char *why)
{
    if (holds) return;
    fprintf(stderr, "fuzz: %s: %s\n", what, why);
    abort();
}

static inline void require(bool holds, const char *what)
{
    require_of(holds, what, "");
}

static inline void require_error(bool holds, const char *what, const ee_error *error)
{
    require_of(holds, what, error->message);
}

/* EE_OK, or this refusal with a message. */
static inline void require_status(ee_status status, const ee_error *error, ee_status refusal)
{
    require_error(status == error->status, "a status without its error", error);
    require_error(status == EE_OK || status == refusal, "an odd status", error);
    require(memchr(error->message, '\0', sizeof error->message) != NULL, "a message without an end");
    require(!status || error->message[0], "refused without a sentence");
}

/* In a block of its exact size; to be freed with free. */
static inline void *copy_of(const void *bytes, size_t size)
{
    void *copy = malloc(size ? size : 1);
    if (!copy) abort();
    if (size) memcpy(copy, bytes, size);
    return copy;
}

/* Moves the first line of an input into `line`; false if there is none of at most 255 bytes. */
static inline bool take_line(const uint8_t **bytes, size_t *size, char line[256])
{
    const uint8_t *end = *size ? memchr(*bytes, '\n', *size) : NULL;
    size_t length = end ? (size_t)(end - *bytes) : 256;
    if (length > 255) return false;
    memcpy(line, *bytes, length);
    line[length] = '\0';
    *bytes = end + 1;
    *size -= length + 1;
    return true;
}

#endif
