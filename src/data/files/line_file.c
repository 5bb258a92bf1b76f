#define _DEFAULT_SOURCE /* for flock */
#include "line_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

static ee_status fail(ee_error *error, const char *verb, const char *path)
{
    return status_fail(error, EE_FILE_ERROR, "file: could not %s %s: %s", verb, path, strerror(errno));
}

static ee_status cut_half_line(const line_file *self, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    ee_status status = file_read(self->path, &bytes, &size, error);
    if (status) return status;
    size_t whole = size;
    while (whole && bytes[whole - 1] != '\n') whole--;
    memory_free(bytes);
    if (whole < size && (ftruncate(self->file, (off_t)whole) || fsync(self->file)))
        return fail(error, "cut", self->path);
    return EE_OK;
}

static ee_status refuse_second(const char *folder, ee_error *error)
{
    return status_fail(error, EE_FILE_ERROR, "%s: another run is writing results there", folder);
}

static bool is_same_file(int descriptor, const char *path)
{
    struct stat open_file_stat, named;
    return fstat(descriptor, &open_file_stat) == 0 && stat(path, &named) == 0 &&
           open_file_stat.st_dev == named.st_dev && open_file_stat.st_ino == named.st_ino;
}

/* The lock on the file is needed too: NFS and similar systems keep a folder's lock to one machine, but share a file's
 * lock. Another program may have replaced the file before it was locked. */
static ee_status open_file(line_file *self, const char *folder, ee_error *error)
{
    self->file = open(self->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (self->file < 0) return fail(error, "open", self->path);
    bool taken = flock(self->file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    return taken || !is_same_file(self->file, self->path) ? refuse_second(folder, error) : EE_OK;
}

ee_status line_file_open(const char *folder, const char *name, line_file *out, ee_error *error)
{
    *out = (line_file){NULL, -1, -1};
    ee_status status = file_make_folder(folder, error);
    if (status) return status;
    out->lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->lock < 0) return fail(error, "open", folder);
    if (flock(out->lock, LOCK_EX | LOCK_NB))
        return errno == EWOULDBLOCK ? refuse_second(folder, error) : fail(error, "lock", folder);
    status = file_join(folder, name, &out->path, error);
    if (status) return status;
    status = open_file(out, folder, error);
    if (!status) status = file_sync_folder(folder, error);
    return status ? status : cut_half_line(out, error);
}

void line_file_close(line_file *self)
{
    if (self->file >= 0) close(self->file);
    if (self->lock >= 0) close(self->lock);
    memory_free(self->path);
    *self = (line_file){NULL, -1, -1};
}

ee_status line_file_append(line_file *self, const char *line, size_t length, ee_error *error)
{
    off_t before = lseek(self->file, 0, SEEK_END);
    if (before < 0) return fail(error, "seek in", self->path);
    for (size_t done = 0; done < length;) {
        ssize_t written = write(self->file, line + done, length - done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            ee_status status = fail(error, "write", self->path);
            return ftruncate(self->file, before) ? fail(error, "cut", self->path) : status;
        }
        done += (size_t)written;
    }
    return fsync(self->file) ? fail(error, "sync", self->path) : EE_OK;
}

ee_status line_file_replace(line_file *self, const char *lines, size_t length, ee_error *error)
{
    ee_status status = file_write(self->path, lines, length, error);
    if (status) return status;
    close(self->file); /* the file of before, which has no name any more */
    return open_file(self, self->path, error);
}

static void name_file(ee_error *error, const char *path)
{
    ee_error inner = *error;
    status_fail(error, inner.status, "%s: %s; delete that line to continue", file_tail(path), inner.message);
}

ee_status line_file_each(const char *folder, const char *name, line_taker *take, void *context, ee_error *error)
{
    char *path = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0, number = 0;
    ee_status status = file_join(folder, name, &path, error);
    if (!status) status = file_read(path, &bytes, &size, error);
    const char *line = (const char *)bytes, *end = line + size, *newline;
    while (!status && size && (newline = memchr(line, '\n', (size_t)(end - line)))) {
        status = take(context, line, (size_t)(newline - line), ++number, error);
        if (status == EE_BAD_INPUT && error) name_file(error, path);
        line = newline + 1;
    }
    memory_free(bytes);
    memory_free(path);
    return status;
}

ee_status line_file_each_if_any(const char *folder, const char *name, line_taker *take, void *context, ee_error *error)
{
    char *path = NULL;
    ee_status status = file_join(folder, name, &path, error);
    if (status) return status;
    bool missing = access(path, F_OK) && errno == ENOENT;
    memory_free(path);
    return missing ? EE_OK : line_file_each(folder, name, take, context, error);
}
