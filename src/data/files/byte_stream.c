#define _POSIX_C_SOURCE 200809L
#include "byte_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/memory.h"

/* Bytes read at a time: many enough that the calls cost little, few enough for the second-level cache. */
enum { CHUNK = 1 << 18 };

typedef enum packing { PLAIN, GZIP, ZSTD } packing;

struct byte_stream {
    memory owner;
    const char *name;
    int descriptor; /* -1: of memory */
    bool close_it;
    struct stat about;
    uint64_t bytes; /* read so far */

    /* Compressed input not yet decompressed; for a stream in memory, all of it. */
    const uint8_t *packed;
    size_t packed_size;
    uint8_t *chunk; /* (CHUNK) read buffer */

    packing how;
    z_stream gzip;
    ZSTD_DStream *zstd;
    bool between; /* packed: no member or frame has begun and not ended */
    bool drained; /* nothing is left to read */
    bool finished, cut;

    char *window; /* (capacity), the next bytes from start to end */
    size_t capacity, start, end;
};

static ee_status fail_packed(const byte_stream *stream, const char *what, ee_error *error)
{
    return status_fail(error, EE_BAD_INPUT, "%s: the compressed data is damaged: %s", stream->name, what);
}

/* At most capacity bytes; *got 0 at the end. */
static ee_status read_some(byte_stream *stream, void *into, size_t capacity, size_t *got, ee_error *error)
{
    ssize_t count;
    do count = read(stream->descriptor, into, capacity);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return status_fail(error, EE_FILE_ERROR, "file: could not read %s: %s", stream->name, strerror(errno));
    *got = (size_t)count;
    stream->bytes += *got;
    return EE_OK;
}

static ee_status refill(byte_stream *stream, ee_error *error)
{
    if (stream->packed_size || stream->drained) return EE_OK;
    if (stream->descriptor < 0) {
        stream->drained = true;
        return EE_OK;
    }
    stream->packed = stream->chunk;
    ee_status status = read_some(stream, stream->chunk, CHUNK, &stream->packed_size, error);
    stream->drained = stream->packed_size == 0;
    return status;
}

static void take_packed(byte_stream *stream, size_t size)
{
    stream->packed += size;
    stream->packed_size -= size;
}

/* ---- decompression: each function consumes compressed bytes and appends to the window ---- */

static ee_status copy_some(byte_stream *stream, size_t room)
{
    size_t size = stream->packed_size < room ? stream->packed_size : room;
    if (size) memcpy(stream->window + stream->end, stream->packed, size);
    take_packed(stream, size);
    stream->end += size;
    stream->finished = stream->drained && !stream->packed_size;
    return EE_OK;
}

static ee_status inflate_some(byte_stream *stream, size_t room, ee_error *error)
{
    z_stream *z = &stream->gzip;
    if (stream->between && stream->packed_size && inflateReset(z) != Z_OK)
        return fail_packed(stream, "zlib failed", error);
    size_t given = stream->packed_size < CHUNK ? stream->packed_size : CHUNK; /* zlib counts in 32 bits */
    z->next_in = (uint8_t *)(uintptr_t)stream->packed;                        /* it only reads them */
    z->avail_in = (uInt)given;
    z->next_out = (uint8_t *)stream->window + stream->end;
    z->avail_out = (uInt)room;
    int code = inflate(z, Z_NO_FLUSH);
    take_packed(stream, given - z->avail_in);
    stream->end += room - z->avail_out;
    stream->between = code == Z_STREAM_END;
    if (code == Z_MEM_ERROR) return status_no_memory(error, CHUNK);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return fail_packed(stream, z->msg ? z->msg : "not gzip data", error);
    return EE_OK;
}

static ee_status unzstd_some(byte_stream *stream, size_t room, ee_error *error)
{
    ZSTD_inBuffer in = {stream->packed, stream->packed_size, 0};
    ZSTD_outBuffer out = {stream->window + stream->end, room, 0};
    size_t code = ZSTD_decompressStream(stream->zstd, &out, &in);
    if (ZSTD_isError(code)) return fail_packed(stream, ZSTD_getErrorName(code), error);
    take_packed(stream, in.pos);
    stream->end += out.pos;
    stream->between = code == 0;
    return EE_OK;
}

/* At the end of the file the decompressor may still hold output; if it has none, this is the end. */
static ee_status unpack_some(byte_stream *stream, size_t room, ee_error *error)
{
    size_t before = stream->end;
    if (stream->between && stream->drained && !stream->packed_size) {
        stream->finished = true;
        return EE_OK;
    }
    ee_status status = stream->how == GZIP ? inflate_some(stream, room, error) : unzstd_some(stream, room, error);
    if (status || !stream->drained || stream->packed_size || stream->end > before) return status;
    stream->finished = true;
    stream->cut = !stream->between;
    return EE_OK;
}

/* More bytes in the window, behind those that are there, or finished. */
static ee_status read_more(byte_stream *stream, ee_error *error)
{
    if (stream->start) {
        stream->end -= stream->start;
        memmove(stream->window, stream->window + stream->start, stream->end);
        stream->start = 0;
    }
    if (stream->end >= BYTE_STREAM_MOST)
        return status_fail(error, EE_BAD_INPUT, "%s: a line is longer than %d MiB", stream->name,
                           BYTE_STREAM_MOST >> 20);
    ee_status status =
        memory_grow(&stream->owner, &stream->window, &stream->capacity, stream->end + CHUNK + 1, 1, error);
    if (status) return status;
    size_t room = CHUNK;
    if (stream->how == PLAIN && stream->descriptor >= 0 && !stream->packed_size) {
        size_t got = 0;
        status = read_some(stream, stream->window + stream->end, room, &got, error);
        if (status) return status;
        stream->end += got;
        stream->finished = got == 0;
    } else {
        status = refill(stream, error);
        if (!status) status = stream->how == PLAIN ? copy_some(stream, room) : unpack_some(stream, room, error);
    }
    stream->window[stream->end] = 0;
    return status;
}

/* ---- opening ---- */

static ee_status start_unpacking(byte_stream *stream, ee_error *error)
{
    enum { GZIP_ONLY = 15 + 16 }; /* zlib's way to say it */
    const uint8_t *first = stream->packed;
    if (stream->packed_size >= 2 && first[0] == 0x1f && first[1] == 0x8b) {
        if (inflateInit2(&stream->gzip, GZIP_ONLY) != Z_OK) return status_no_memory(error, sizeof stream->gzip);
        stream->how = GZIP;
    } else if (stream->packed_size >= 4 && (memcmp(first, "\x28\xb5\x2f\xfd", 4) == 0 ||
                                            ((first[0] & 0xf0) == 0x50 && memcmp(first + 1, "\x2a\x4d\x18", 3) ==
                                                                              0))) { /* a frame, or one to skip */
        stream->zstd = ZSTD_createDStream();
        if (!stream->zstd) return status_no_memory(error, CHUNK);
        stream->how = ZSTD;
    }
    return EE_OK;
}

/* A pipe may give a byte at a time. */
static ee_status read_first(byte_stream *stream, ee_error *error)
{
    enum { ENOUGH = 4 };
    ee_status status = memory_create(&stream->owner, &stream->chunk, CHUNK, 1, error);
    stream->packed = stream->chunk;
    while (!status && !stream->drained && stream->packed_size < ENOUGH) {
        size_t got = 0;
        status = read_some(stream, stream->chunk + stream->packed_size, CHUNK - stream->packed_size, &got, error);
        if (status) break;
        stream->packed_size += got;
        stream->drained = got == 0;
    }
    return status;
}

static ee_status create(const char *name, byte_stream **out, ee_error *error)
{
    *out = NULL;
    char *copy;
    ee_status status = memory_create_owner(NULL, out, sizeof **out, error);
    if (!status) status = memory_create(&(*out)->owner, &copy, strlen(name) + 1, 1, error);
    if (status) return status;
    memcpy(copy, name, strlen(name) + 1);
    (*out)->name = file_tail(copy);
    (*out)->descriptor = -1;
    return EE_OK;
}

ee_status byte_stream_open(const char *path, byte_stream **out, ee_error *error)
{
    bool standard = strcmp(path, "-") == 0;
    byte_stream *stream;
    ee_status status = create(standard ? "standard input" : path, &stream, error);
    *out = NULL;
    if (!status) {
        stream->descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
        stream->close_it = !standard && stream->descriptor >= 0;
        if (stream->descriptor < 0 || fstat(stream->descriptor, &stream->about))
            status = status_fail(error, EE_FILE_ERROR, "file: could not open %s: %s", stream->name, strerror(errno));
    }
    if (!status) status = read_first(stream, error);
    if (!status) status = start_unpacking(stream, error);
    if (!status)
        *out = stream;
    else
        byte_stream_close(stream);
    return status;
}

ee_status byte_stream_of(const void *bytes, size_t size, const char *name, byte_stream **out, ee_error *error)
{
    byte_stream *stream;
    ee_status status = create(name, &stream, error);
    *out = NULL;
    if (!status) {
        stream->packed = bytes;
        stream->packed_size = size;
        stream->bytes = size;
        status = start_unpacking(stream, error);
    }
    if (!status)
        *out = stream;
    else
        byte_stream_close(stream);
    return status;
}

void byte_stream_close(byte_stream *stream)
{
    if (!stream) return;
    if (stream->how == GZIP) inflateEnd(&stream->gzip);
    ZSTD_freeDStream(stream->zstd);
    if (stream->close_it) close(stream->descriptor);
    memory_release(&stream->owner);
}

/* ---- reading ---- */

ee_status byte_stream_peek(byte_stream *stream, size_t wanted, char **bytes, size_t *size, ee_error *error)
{
    while (stream->end - stream->start < wanted && !stream->finished) {
        ee_status status = read_more(stream, error);
        if (status) return status;
    }
    *size = stream->end - stream->start;
    *bytes = *size ? stream->window + stream->start : "";
    return EE_OK;
}

void byte_stream_skip(byte_stream *stream, size_t size)
{
    stream->start += size;
}

/* Finds the line end at or after position `from`; NULL if the window has none. *inside: whether that position is in
 * quotes, kept for the next search. */
static char *find_end(const byte_stream *stream, size_t from, bool quoted, bool *inside)
{
    char *at = stream->window + from, *end = stream->window + stream->end;
    while (at < end) {
        char *found = memchr(at, '\n', (size_t)(end - at));
        if (!quoted) return found;
        char *stop = found ? found : end;
        for (char *quote = at; (quote = memchr(quote, '"', (size_t)(stop - quote))) != NULL; quote++)
            *inside = !*inside;
        if (!found || !*inside) return found;
        at = found + 1;
    }
    return NULL;
}

ee_status byte_stream_line(byte_stream *stream, bool quoted, byte_line *line, bool *found, ee_error *error)
{
    size_t searched = 0;
    bool inside = false;
    char *end = NULL;
    for (;;) {
        if (stream->window) end = find_end(stream, stream->start + searched, quoted, &inside);
        if (end || stream->finished) break;
        searched = stream->end - stream->start;
        ee_status status = read_more(stream, error);
        if (status) return status;
    }
    *found = stream->end > stream->start;
    if (!*found) return EE_OK;
    line->bytes = stream->window + stream->start;
    line->ended = end != NULL;
    line->size = line->ended ? (size_t)(end - line->bytes) : stream->end - stream->start;
    stream->start += line->size + line->ended;
    if (line->size && line->bytes[line->size - 1] == '\r') line->size--;
    line->bytes[line->size] = 0;
    return EE_OK;
}

bool byte_stream_is_cut(const byte_stream *stream)
{
    return stream->cut;
}

const char *byte_stream_name(const byte_stream *stream)
{
    return stream->name;
}

uint64_t byte_stream_bytes(const byte_stream *stream)
{
    return stream->bytes;
}

bool byte_stream_can_repeat(const byte_stream *stream)
{
    return stream->close_it && S_ISREG(stream->about.st_mode);
}

uint64_t byte_stream_total(const byte_stream *stream)
{
    return stream->descriptor >= 0 && S_ISREG(stream->about.st_mode) ? (uint64_t)stream->about.st_size : 0;
}

uint64_t byte_stream_fingerprint(const byte_stream *stream)
{
    if (!byte_stream_can_repeat(stream)) return 0;
    const struct stat *about = &stream->about;
    uint64_t facts[3] = {(uint64_t)about->st_size, (uint64_t)about->st_mtim.tv_sec, (uint64_t)about->st_mtim.tv_nsec};
    return archive_checksum((const uint8_t *)facts, sizeof facts);
}
