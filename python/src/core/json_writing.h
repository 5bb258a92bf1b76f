/* JSON that only the library reads: numbers have the digits that are quickest to write, not the fewest. */
#ifndef EENET_JSON_WRITING_H
#define EENET_JSON_WRITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing string. Initialise with {0}; json_writing_release frees it. */
typedef struct json_writing {
    char *bytes;
    size_t used, capacity;
} json_writing;

/* The largest round in bytes. Without it, a few objects that contain each other twice would fill the memory. */
enum { JSON_WRITING_MOST = 1 << 28 };

/* Makes room for this many more bytes; false if there is no memory or the text would exceed JSON_WRITING_MOST. */
bool json_writing_grow(json_writing *self, size_t more);
static inline bool json_writing_reserve(json_writing *self, size_t more)
{
    return more <= self->capacity - self->used || json_writing_grow(self, more);
}

void json_writing_release(json_writing *self);

/* The functions below need room for what they write, at most: */
enum { JSON_NUMBER_BYTES = 32, JSON_CHARACTER_BYTES = 6 };

static inline void json_put(json_writing *self, char byte)
{
    self->bytes[self->used++] = byte;
}

void json_put_bytes(json_writing *self, const char *bytes, size_t count);

/* Writes a finite double so that reading gives the same double. If it is below 1e-10 or above 2^63 in size, writes
 * nothing and returns false. */
bool json_put_double(json_writing *self, double value);
void json_put_integer(json_writing *self, int64_t value);

/* Writes (count) code points as UTF-8. quoted: in quotes and with escapes, which needs two more bytes. False for a
 * lone surrogate, which UTF-8 cannot represent. */
bool json_put_characters(json_writing *self, const uint32_t *characters, size_t count, bool quoted);

#endif
