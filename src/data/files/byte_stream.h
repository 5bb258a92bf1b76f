/* Reads a log of any size in constant memory: a file or standard input; plain, gzip or zstd, detected by the first
 * bytes. */
#ifndef EENET_BYTE_STREAM_H
#define EENET_BYTE_STREAM_H

#include <stdbool.h>

#include "base/status.h"

typedef struct byte_stream byte_stream;

/* Largest line or look-ahead, in bytes: far more than any real log has. */
enum { BYTE_STREAM_MOST = 64 << 20 };

/* path "-": standard input. */
ee_status byte_stream_open(const char *path, byte_stream **out, ee_error *error);

/* The same for bytes (size) in memory, which are borrowed; name is for messages. */
ee_status byte_stream_of(const void *bytes, size_t size, const char *name, byte_stream **out, ee_error *error);

void byte_stream_close(byte_stream *stream);

/* Looks ahead: at least `wanted` bytes, fewer only at the end of the stream. The caller may change them; they are valid
 * until the next call and followed by a zero. */
ee_status byte_stream_peek(byte_stream *stream, size_t wanted, char **bytes, size_t *size, ee_error *error);

/* Skips this many of the bytes returned by byte_stream_peek. */
void byte_stream_skip(byte_stream *stream, size_t size);

typedef struct byte_line {
    char *bytes; /* (size) without the line end, which is replaced by a zero; valid until the next call */
    size_t size;
    bool ended; /* false: the stream ended before the line did */
} byte_line;

/* The next line; *found is false after the last. quoted: a line end within double quotes belongs to the line, as in
 * CSV. */
ee_status byte_stream_line(byte_stream *stream, bool quoted, byte_line *line, bool *found, ee_error *error);

/* Whether the compressed data ended early; known after the last line. */
bool byte_stream_is_cut(const byte_stream *stream);

/* For messages: the end of the path. */
const char *byte_stream_name(const byte_stream *stream);

/* Bytes read so far, as stored on disk; and the total, 0 if unknown. */
uint64_t byte_stream_bytes(const byte_stream *stream);
uint64_t byte_stream_total(const byte_stream *stream);

/* Whether it can be opened again: a plain file. */
bool byte_stream_can_repeat(const byte_stream *stream);

/* A checksum of size and modification time; 0 if it is not a plain file. */
uint64_t byte_stream_fingerprint(const byte_stream *stream);

#endif
