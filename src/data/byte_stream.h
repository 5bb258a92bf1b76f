/* The bytes of a log, whatever its size, in constant memory: a file or standard input; plain, gzip or zstd, as its
 * first bytes tell. */
#ifndef EENET_BYTE_STREAM_H
#define EENET_BYTE_STREAM_H

#include <stdbool.h>

#include "base/status.h"

typedef struct byte_stream byte_stream;

/* Of a line, or of what is looked at together: far more is no log. */
enum { BYTE_STREAM_MOST = 64 << 20 };

/* path "-": standard input. */
ee_status byte_stream_open(const char *path, byte_stream **out, ee_error *error);

/* The same of bytes (size) in memory, which are borrowed; name is for messages. */
ee_status byte_stream_of(const void *bytes, size_t size, const char *name, byte_stream **out, ee_error *error);

void byte_stream_close(byte_stream *stream);

/* What comes next: at least `wanted` bytes, fewer only where the stream ends. They may be changed, and are valid until
 * the next call; a zero follows them. */
ee_status byte_stream_look(byte_stream *stream, size_t wanted, char **bytes, size_t *size, ee_error *error);

/* Passes over so many of the bytes that were looked at. */
void byte_stream_pass(byte_stream *stream, size_t size);

typedef struct byte_line {
    char *bytes; /* (size) without the line's end, in whose place stands a zero; valid until the next call */
    size_t size;
    bool ended; /* false: the stream ended before the line did */
} byte_line;

/* The next line; *found false after the last. quoted: a line end within double quotes is none, as CSV has it. */
ee_status byte_stream_line(byte_stream *stream, bool quoted, byte_line *line, bool *found, ee_error *error);

/* Whether packed data ended in the middle; known once all is read. */
bool byte_stream_is_cut(const byte_stream *stream);

/* For messages: the end of the path. */
const char *byte_stream_name(const byte_stream *stream);

/* Bytes read so far, as they lie on the disk; and how many there are in all, 0 where that is not known. */
uint64_t byte_stream_bytes(const byte_stream *stream);
uint64_t byte_stream_total(const byte_stream *stream);

/* Whether it can be opened again: a plain file. */
bool byte_stream_can_repeat(const byte_stream *stream);

/* A checksum of the size and the time of change; 0 where it is no plain file. */
uint64_t byte_stream_fingerprint(const byte_stream *stream);

#endif
