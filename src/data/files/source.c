#define _POSIX_C_SOURCE 200809L
#include "source.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/memory.h"

/* The path, or the path with .gz if only that exists. */
static ee_status find_file(const char *folder, const char *name, char **path, ee_error *error)
{
    size_t capacity = (folder ? strlen(folder) + 1 : 0) + strlen(name) + sizeof ".gz";
    ee_status status = memory_create(NULL, path, capacity, 1, error);
    if (status) return status;
    snprintf(*path, capacity, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    size_t plain = strlen(*path);
    if (access(*path, F_OK) != 0) strcat(*path, ".gz");
    if (access(*path, F_OK) != 0) (*path)[plain] = '\0'; /* there is neither: the message names the plain one */
    return EE_OK;
}

ee_status source_find(const char *folder, const char *name, bool *found, ee_error *error)
{
    char *path = NULL;
    ee_status status = find_file(folder, name, &path, error);
    *found = !status && access(path, F_OK) == 0;
    memory_free(path);
    return status;
}

ee_status source_load(const char *folder, const char *name, uint64_t *fingerprint, source *out, ee_error *error)
{
    *out = (source){0};
    ee_status status = find_file(folder, name, &out->path, error);
    if (!status) status = file_read(out->path, &out->bytes, &out->size, error);
    if (status) {
        source_release(out);
        return status;
    }
    uint64_t both[2] = {*fingerprint, archive_checksum(out->bytes, out->size)};
    *fingerprint = archive_checksum((const uint8_t *)both, sizeof both);
    return EE_OK;
}

/* zlib counts in 32 bits, so input and output are passed in parts. */
enum { PART = 1 << 24 };

static ee_status fail_packed(const source *file, size_t position, const char *what, ee_error *error)
{
    return status_fail(error, EE_BAD_INPUT, "gzip: %s, byte %zu: %s", file_tail(file->path), position, what);
}

/* Unpacks into *bytes, which grows. A file may be several gzip streams, one after the other. */
static ee_status unpack(const source *file, z_stream *stream, uint8_t **bytes, size_t *size, ee_error *error)
{
    size_t capacity = 0, given = 0;
    int code = Z_OK;
    *size = 0;
    for (;;) {
        if (stream->avail_in == 0 && given < file->size) {
            size_t part = file->size - given < PART ? file->size - given : PART;
            stream->next_in = file->bytes + given;
            stream->avail_in = (uInt)part;
            given += part;
        }
        size_t position = given - stream->avail_in;
        if (code == Z_STREAM_END) {
            if (stream->avail_in == 0) return EE_OK;
            if (inflateReset(stream) != Z_OK) return fail_packed(file, position, "zlib failed", error);
        } else if (stream->avail_in == 0) {
            return fail_packed(file, position, "the file ends inside its compressed data", error);
        }
        ee_status status = memory_grow(NULL, bytes, &capacity, *size + PART / 16 + 1, 1, error);
        if (status) return status;
        size_t room = capacity - *size - 1 < PART ? capacity - *size - 1 : PART;
        stream->next_out = *bytes + *size;
        stream->avail_out = (uInt)room;
        code = inflate(stream, Z_NO_FLUSH);
        *size += room - stream->avail_out;
        if (code == Z_MEM_ERROR) return status_no_memory(error, PART);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return fail_packed(file, given - stream->avail_in, stream->msg ? stream->msg : "not gzip data", error);
    }
}

ee_status source_unpack(source *file, ee_error *error)
{
    /* No text starts with this byte: a file of one byte is a truncated gzip file. */
    if (file->size == 0 || file->bytes[0] != 0x1f || (file->size > 1 && file->bytes[1] != 0x8b)) return EE_OK;
    enum { GZIP_ONLY = 15 + 16 }; /* zlib's way to say it */
    z_stream stream = {0};
    if (inflateInit2(&stream, GZIP_ONLY) != Z_OK) return status_no_memory(error, sizeof stream);
    uint8_t *bytes = NULL;
    size_t size;
    ee_status status = unpack(file, &stream, &bytes, &size, error);
    inflateEnd(&stream);
    if (status) {
        memory_free(bytes);
        return status;
    }
    bytes[size] = 0;
    memory_free(file->bytes);
    file->bytes = bytes;
    file->size = size;
    return EE_OK;
}

void source_release(source *file)
{
    memory_free(file->path);
    memory_free(file->bytes);
    *file = (source){0};
}
