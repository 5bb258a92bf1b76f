#define _POSIX_C_SOURCE 200809L
#include "byte_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "base/memory.h"

enum { CHUNK = 1 << 18, ZSTD_LEVEL = 3, GZIP_LEVEL = 6 }; /* the default levels of both programs */

struct byte_sink {
    memory owner;
    char *path;
    file_draft draft;
    bool direct; /* no draft: its descriptor is the place itself */
    bool close_it;
    uint8_t *chunk, *packed; /* (CHUNK) input, and compressed output */
    size_t size;             /* that waits */
    bool gzipped;
    z_stream gzip;
    ZSTD_CStream *zstd;
};

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), wanted = strlen(ending);
    return length > wanted && strcmp(path + length - wanted, ending) == 0;
}

bool byte_sink_is_named(const char *path, const char *ending)
{
    size_t length = strlen(ending), stem = strlen(path) - (ends_in(path, ".gz") ? 3 : ends_in(path, ".zst") ? 4 : 0);
    return stem > length && memcmp(path + stem - length, ending, length) == 0;
}

/* ---- opening ---- */

static ee_status start_packing(byte_sink *sink, ee_error *error)
{
    enum { GZIP_WINDOW = 15 + 16, MEMORY = 8 };
    if (ends_in(sink->path, ".gz")) {
        sink->gzipped =
            deflateInit2(&sink->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
        if (!sink->gzipped) return status_no_memory(error, CHUNK);
    } else if (ends_in(sink->path, ".zst")) {
        sink->zstd = ZSTD_createCStream();
        if (!sink->zstd) return status_no_memory(error, CHUNK);
        ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
        ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_checksumFlag, 1);
    }
    return EE_OK;
}

static ee_status open_place(byte_sink *sink, ee_error *error)
{
    struct stat about;
    if (strcmp(sink->path, "-") == 0) {
        sink->direct = true;
        sink->draft = (file_draft){STDOUT_FILENO, sink->path, "standard output"};
        return EE_OK;
    }
    sink->direct = stat(sink->path, &about) == 0 && !S_ISREG(about.st_mode);
    if (!sink->direct) return file_draft_open(sink->path, &sink->draft, error);
    sink->draft = (file_draft){open(sink->path, O_WRONLY | O_CLOEXEC), sink->path, sink->path};
    sink->close_it = sink->draft.descriptor >= 0;
    if (sink->close_it) return EE_OK;
    return status_fail(error, EE_FILE_ERROR, "file: could not open %s: %s", file_tail(sink->path), strerror(errno));
}

ee_status byte_sink_open(const char *path, byte_sink **out, ee_error *error)
{
    byte_sink *sink = NULL;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &sink, sizeof *sink, error);
    if (status) return status;
    sink->draft.descriptor = -1;
    status = memory_create(&sink->owner, &sink->path, strlen(path) + 1, 1, error);
    if (!status) status = memory_create(&sink->owner, &sink->chunk, CHUNK, 1, error);
    if (!status) status = memory_create(&sink->owner, &sink->packed, CHUNK, 1, error);
    if (!status) {
        memcpy(sink->path, path, strlen(path) + 1);
        status = start_packing(sink, error);
    }
    if (!status) status = open_place(sink, error);
    if (status)
        byte_sink_end(sink, false, NULL);
    else
        *out = sink;
    return status;
}

/* ---- writing ---- */

static ee_status flush_gzip(byte_sink *sink, bool last, ee_error *error)
{
    z_stream *z = &sink->gzip;
    z->next_in = sink->chunk;
    z->avail_in = (uInt)sink->size;
    do {
        z->next_out = sink->packed;
        z->avail_out = CHUNK;
        deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
        ee_status status = file_draft_write(&sink->draft, sink->packed, CHUNK - z->avail_out, error);
        if (status) return status;
    } while (z->avail_out == 0);
    return EE_OK;
}

static ee_status flush_zstd(byte_sink *sink, bool last, ee_error *error)
{
    ZSTD_inBuffer in = {sink->chunk, sink->size, 0};
    for (;;) {
        ZSTD_outBuffer out = {sink->packed, CHUNK, 0};
        size_t left = ZSTD_compressStream2(sink->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) return status_fail(error, EE_FILE_ERROR, "zstd: %s", ZSTD_getErrorName(left));
        ee_status status = file_draft_write(&sink->draft, sink->packed, out.pos, error);
        if (status || (last ? left == 0 : in.pos == in.size)) return status;
    }
}

static ee_status flush(byte_sink *sink, bool last, ee_error *error)
{
    ee_status status = sink->gzipped ? flush_gzip(sink, last, error)
                       : sink->zstd  ? flush_zstd(sink, last, error)
                                     : file_draft_write(&sink->draft, sink->chunk, sink->size, error);
    sink->size = 0;
    return status;
}

ee_status byte_sink_write(byte_sink *sink, const void *bytes, size_t size, ee_error *error)
{
    const uint8_t *at = bytes;
    while (size) {
        size_t part = size < CHUNK - sink->size ? size : CHUNK - sink->size;
        memcpy(sink->chunk + sink->size, at, part);
        sink->size += part;
        at += part;
        size -= part;
        ee_status status = sink->size == CHUNK ? flush(sink, false, error) : EE_OK;
        if (status) return status;
    }
    return EE_OK;
}

ee_status byte_sink_end(byte_sink *sink, bool keep, ee_error *error)
{
    if (!sink) return EE_OK;
    ee_status status = keep ? flush(sink, true, error) : EE_OK;
    if (!sink->direct && sink->draft.temporary) {
        ee_status ended = file_draft_end(&sink->draft, keep && !status, status ? NULL : error);
        status = status ? status : ended;
    } else if (sink->close_it && close(sink->draft.descriptor) && keep && !status) {
        status =
            status_fail(error, EE_FILE_ERROR, "file: could not close %s: %s", file_tail(sink->path), strerror(errno));
    }
    if (sink->gzipped) deflateEnd(&sink->gzip);
    ZSTD_freeCStream(sink->zstd);
    memory_release(&sink->owner);
    return status;
}
