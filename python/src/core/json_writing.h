/* JSON for the library to read at once: nobody else sees it, so that numbers have the digits that are quick to write,
 * not the fewest. */
#ifndef EENET_JSON_WRITING_H
#define EENET_JSON_WRITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text that grows. Starts as {0}; json_writing_release frees it. */
typedef struct json_writing {
    char *bytes;
    size_t used, capacity;
} json_writing;

/* A round is so large at most: a small nest of objects that hold each other twice would else fill the memory. */
enum { JSON_WRITING_MOST = 1 << 28 };

/* Room for this many more bytes; false if memory is out, or the text would exceed JSON_WRITING_MOST. */
bool json_writing_grow(json_writing *self, size_t more);
static inline bool json_writing_reserve(json_writing *self, size_t more)
{
    return more <= self->capacity - self->used || json_writing_grow(self, more);
}

void json_writing_release(json_writing *self);

/* What follows needs room for what it writes: */
enum { JSON_NUMBER_BYTES = 32, JSON_CHARACTER_BYTES = 6 };

static inline void json_put(json_writing *self, char byte)
{
    self->bytes[self->used++] = byte;
}

void json_put_bytes(json_writing *self, const char *bytes, size_t count);

/* A double that is finite: what is read of it is the same double. False, and nothing
 * written, where its digits are the caller's to find: it is below 1e-10 or above 2^63 in size. */
bool json_put_double(json_writing *self, double value);
void json_put_integer(json_writing *self, int64_t value);

/* Characters (count code points) as UTF-8; quoted: in quotes, with escapes, which needs two bytes more. False at half
 * of a surrogate pair, which UTF-8 cannot have. */
bool json_put_characters(json_writing *self, const uint32_t *characters, size_t count, bool quoted);

#endif
