#define _POSIX_C_SOURCE 200809L
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

#if defined(__wasi__) /* a WebAssembly module: files have no modes, and no other process writes them */
static int set_mode(int descriptor, mode_t mode)
{
    (void)descriptor, (void)mode;
    return 0;
}

static long process_number(void)
{
    return 0;
}
#else
static int set_mode(int descriptor, mode_t mode)
{
    return fchmod(descriptor, mode);
}

static long process_number(void)
{
    return getpid();
}
#endif

static ee_status fail(ee_error *error, const char *verb, const char *path)
{
    return status_fail(error, EE_FILE_ERROR, "file: could not %s %s: %s", verb, file_tail(path), strerror(errno));
}

const char *file_tail(const char *path)
{
    enum { SHOWN = 100 };
    size_t length = strlen(path);
    const char *tail = length > SHOWN ? path + length - SHOWN : path;
    while (((uint8_t)*tail & 0xc0) == 0x80) tail++; /* do not start within a UTF-8 character */
    return tail;
}

ee_status file_join(const char *folder, const char *name, char **path, ee_error *error)
{
    size_t capacity = strlen(folder) + strlen(name) + 2;
    ee_status status = memory_create(NULL, path, capacity, 1, error);
    if (!status) snprintf(*path, capacity, "%s/%s", folder, name);
    return status;
}

/* A rename survives a power cut only after its folder is synced. */
ee_status file_sync_folder(const char *path, ee_error *error)
{
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return fail(error, "open", path);
    int failed = fsync(descriptor);
    ee_status status = failed ? fail(error, "sync", path) : EE_OK;
    close(descriptor);
    return status;
}

/* Opens a new file with a unique name in the folder of path. */
static int open_temporary(const char *path, char *temporary, size_t capacity, mode_t mode)
{
    for (int number = 0; number < 1000; number++) {
        snprintf(temporary, capacity, "%s.%ld.%d", path, process_number(), number);
        int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

static ee_status open_draft(const char *path, mode_t mode, file_draft *out, ee_error *error)
{
    enum { SUFFIX = 40 };
    *out = (file_draft){-1, path, NULL};
    struct stat replaced;
    bool replaces = stat(path, &replaced) == 0;
    if (replaces && !S_ISREG(replaced.st_mode) && !S_ISDIR(replaced.st_mode)) /* rename refuses a folder anyway */
        return status_fail(error, EE_FILE_ERROR, "file: %s is not a regular file; it was not changed", file_tail(path));
    ee_status status = memory_create(NULL, &out->temporary, strlen(path) + SUFFIX, 1, error);
    if (status) return status;
    out->descriptor = open_temporary(path, out->temporary, strlen(path) + SUFFIX, mode);
    if (out->descriptor < 0) status = fail(error, "create", path);
    /* A file that is replaced keeps its mode. */
    if (!status && replaces && set_mode(out->descriptor, replaced.st_mode & 07777))
        status = fail(error, "set the mode of", path);
    if (status) file_draft_end(out, false, NULL);
    return status;
}

ee_status file_draft_open(const char *path, file_draft *out, ee_error *error)
{
    return open_draft(path, 0666, out, error);
}

ee_status file_draft_write(const file_draft *draft, const void *bytes, size_t size, ee_error *error)
{
    const size_t piece = (size_t)16 << 20; /* bytes per sync: one large sync would delay those of other files */
    for (const uint8_t *at = bytes; size;) {
        ssize_t written = write(draft->descriptor, at, size < piece ? size : piece);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail(error, "write", draft->path);
        at += written;
        size -= (size_t)written;
        if (size && fdatasync(draft->descriptor)) return fail(error, "sync", draft->path);
    }
    return EE_OK;
}

ee_status file_draft_end(file_draft *draft, bool keep, ee_error *error)
{
    bool opened = draft->descriptor >= 0;
    ee_status status = EE_OK;
    if (keep && fsync(draft->descriptor)) status = fail(error, "sync", draft->path);
    if (opened && close(draft->descriptor) && keep && !status) status = fail(error, "close", draft->path);
    if (keep && !status && rename(draft->temporary, draft->path)) status = fail(error, "replace", draft->path);
    if (opened && (!keep || status))
        unlink(draft->temporary);
    else if (opened)
        status = file_sync_folder(dirname(draft->temporary), error);
    memory_free(draft->temporary);
    *draft = (file_draft){.descriptor = -1};
    return status;
}

static ee_status write_whole(const char *path, mode_t mode, const void *bytes, size_t size, ee_error *error)
{
    file_draft draft;
    ee_status status = open_draft(path, mode, &draft, error);
    if (status) return status;
    status = file_draft_write(&draft, bytes, size, error);
    ee_status ended = file_draft_end(&draft, !status, status ? NULL : error);
    return status ? status : ended;
}

ee_status file_write(const char *path, const void *bytes, size_t size, ee_error *error)
{
    return write_whole(path, 0666, bytes, size, error);
}

ee_status file_write_private(const char *path, const void *bytes, size_t size, ee_error *error)
{
    return write_whole(path, 0600, bytes, size, error);
}

static ee_status read_all(int descriptor, const char *path, uint8_t *bytes, size_t size, ee_error *error)
{
    while (size) {
        ssize_t got = read(descriptor, bytes, size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(error, "read", path);
        if (got == 0) return status_fail(error, EE_FILE_ERROR, "file: %s shrank while it was read", file_tail(path));
        bytes += got;
        size -= (size_t)got;
    }
    return EE_OK;
}

ee_status file_read(const char *path, uint8_t **bytes, size_t *size, ee_error *error)
{
    *bytes = NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not wait for a pipe: it is refused */
    if (descriptor < 0) return fail(error, "open", path);
    struct stat about;
    ee_status status = fstat(descriptor, &about) ? fail(error, "stat", path) : EE_OK;
    if (!status && !S_ISREG(about.st_mode))
        status = status_fail(error, EE_FILE_ERROR, "file: %s is not a regular file", file_tail(path));
    uint8_t *content = NULL;
    size_t length = status ? 0 : (size_t)about.st_size;
    if (!status) status = memory_create(NULL, &content, length + 1, 1, error);
    if (!status) status = read_all(descriptor, path, content, length, error);
    close(descriptor);
    if (status) {
        memory_free(content);
        return status;
    }
    *bytes = content;
    *size = length;
    return EE_OK;
}

bool file_is_missing(const char *path)
{
    struct stat about;
    char *copy;
    if (!*path || lstat(path, &about) == 0 || errno != ENOENT) return false;
    if (memory_create(NULL, &copy, strlen(path) + 1, 1, NULL)) return false;
    memcpy(copy, path, strlen(path) + 1);
    bool folder = stat(dirname(copy), &about) == 0 && S_ISDIR(about.st_mode);
    memory_free(copy);
    return folder;
}

static ee_status make_folder(const char *path, mode_t mode, ee_error *error)
{
    char *part;
    ee_status status = memory_create(NULL, &part, strlen(path) + 1, 1, error);
    if (status) return status;
    for (size_t length = 1; !status && length <= strlen(path); length++) {
        if (path[length] != '/' && path[length]) continue;
        memcpy(part, path, length);
        part[length] = '\0';
        struct stat about;
        bool made = mkdir(part, mode) == 0;
        if (!made && errno == EEXIST && (stat(part, &about) || !S_ISDIR(about.st_mode))) errno = ENOTDIR;
        if (made)
            status = file_sync_folder(dirname(part), error);
        else if (errno != EEXIST)
            status = fail(error, "create the folder", part);
    }
    memory_free(part);
    return status;
}

ee_status file_make_folder(const char *path, ee_error *error)
{
    return make_folder(path, 0777, error);
}

ee_status file_make_private_folder(const char *path, ee_error *error)
{
    return make_folder(path, 0700, error);
}
