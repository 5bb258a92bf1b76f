/* Saving and loading in one function. Each type has one function that visits its state; the archive either writes what
 * is visited or reads into it, so the two cannot disagree. Numbers are little-endian, floats IEEE 754.
 *
 * Errors stick: after the first one, visits do nothing and read zeros. */
#ifndef EENET_ARCHIVE_H
#define EENET_ARCHIVE_H

#include <stdbool.h>

#include "random.h"
#include "status.h"

/* The version of the model format that this library writes, and the oldest that it reads. A part whose bytes have
 * changed since then checks archive.version. */
enum { ARCHIVE_VERSION = 12, ARCHIVE_OLDEST_VERSION = 10 };

typedef struct archive {
    bool reading;
    uint64_t version;      /* of the model's format: ARCHIVE_VERSION, or what an older model says */
    double gone;           /* reading: the value of an option that this library no longer has; default: 0 */
    const uint8_t *source; /* reading: (size) */
    uint8_t *bytes;        /* writing: grows; the caller frees it with memory_free */
    size_t size;           /* bytes in all, read or written */
    size_t capacity;
    size_t position; /* reading: bytes consumed */
    ee_status status;
    ee_error *error;
} archive;

archive archive_writer(ee_error *error);
/* Writes into bytes (capacity), which must be large enough. */
archive archive_into(void *bytes, size_t capacity);
archive archive_reader(const void *bytes, size_t size, ee_error *error);

void archive_bytes(archive *a, void *bytes, size_t size);
void archive_u32s(archive *a, uint32_t *values, size_t count);
void archive_u64(archive *a, uint64_t *value);
void archive_floats(archive *a, float *values, size_t count);
/* Floats, most of which may be zero: a block of ARCHIVE_BLOCK zeros takes one byte. Reading does not write such a
 * block, so the memory must be zero. */
enum { ARCHIVE_BLOCK = 1024 };
void archive_sparse_floats(archive *a, float *values, size_t count);

void archive_stream(archive *a, random_stream *stream);

/* A count or index. A value read outside low to high means that the model is damaged; what names it in the message. */
void archive_count(archive *a, uint64_t *value, uint64_t low, uint64_t high, const char *what);
void archive_size(archive *a, size_t *value, size_t low, size_t high, const char *what);

/* Text of at most capacity - 1 bytes. */
void archive_text(archive *a, char *text, size_t capacity, const char *what);

size_t archive_remaining(const archive *a);
void archive_fail(archive *a, ee_status status, const char *message);

/* CRC-64 (ECMA-182, reflected, as in xz). Detects every burst of up to 64 flipped bits. */
uint64_t archive_checksum(const uint8_t *bytes, size_t size);

#endif
