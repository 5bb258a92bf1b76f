#define _POSIX_C_SOURCE 200809L
#include "audit_log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "serve/store/place_name.h"
#include "serve/store/postgres/pg_audit.h"

static const char name[] = "audit.jsonl";

struct audit_log {
    pg_audit *rows; /* in a database; NULL: in a file */
    int file;
    pthread_mutex_t lock; /* of appending */
};

static ee_status fail(const char *what, ee_error *error)
{
    return status_fail(error, EE_FILE_ERROR, "store: could not %s %s: %s", what, name, strerror(errno));
}

/* All of it, or nothing: a part that was written is taken back. */
static ee_status append(int file, const char *bytes, size_t size, ee_error *error)
{
    off_t before = lseek(file, 0, SEEK_END);
    size_t done = 0;
    while (done < size) {
        ssize_t more = write(file, bytes + done, size - done);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) break;
        done += (size_t)more;
    }
    if (done == size && !fdatasync(file)) return EE_OK;
    ee_status status = fail("write", error);
    if (before >= 0 && ftruncate(file, before)) return status; /* readers skip a line that is not whole */
    return status;
}

/* Ends a line that a crash cut off. */
static ee_status end_last_line(int file, ee_error *error)
{
    char last;
    off_t size = lseek(file, 0, SEEK_END);
    if (size <= 0 || pread(file, &last, 1, size - 1) != 1 || last == '\n') return EE_OK;
    return append(file, "\n", 1, error);
}

static ee_status open_file(audit_log *self, const char *folder, ee_error *error)
{
    char *path;
    ee_status status = file_join(folder, name, &path, error);
    if (status) return status;
    self->file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    status = self->file < 0 ? fail("open", error) : end_last_line(self->file, error);
    if (!status) status = file_sync_folder(folder, error);
    memory_free(path);
    return status;
}

ee_status audit_log_open(const char *where, audit_log **out, ee_error *error)
{
    audit_log *self;
    *out = NULL;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    pthread_mutex_init(&self->lock, NULL);
    self->file = -1;
    status = place_is_database(where) ? pg_audit_open(where, &self->rows, error) : open_file(self, where, error);
    if (status)
        audit_log_close(self);
    else
        *out = self;
    return status;
}

void audit_log_close(audit_log *self)
{
    if (!self) return;
    pg_audit_close(self->rows);
    if (self->file >= 0) close(self->file);
    pthread_mutex_destroy(&self->lock);
    memory_free(self);
}

ee_status audit_log_append(audit_log *self, json_text entry, ee_error *error)
{
    if (self->rows) return pg_audit_append(self->rows, entry, error);
    text line = text_start(error);
    text_bytes(&line, entry.bytes, entry.length);
    text_bytes(&line, "\n", 1);
    ee_status status = line.status;
    pthread_mutex_lock(&self->lock);
    if (!status) status = append(self->file, line.bytes, line.length, error);
    pthread_mutex_unlock(&self->lock);
    memory_free(line.bytes);
    return status;
}

/* The next whole lines, some KB. */
static ee_status read_lines(audit_log *self, uint64_t place, text *lines, ee_error *error)
{
    enum { PIECE = 16 << 10 };
    char bytes[PIECE];
    size_t whole = 0;
    for (;;) { /* a line may be longer than a piece */
        ssize_t got = pread(self->file, bytes, PIECE, (off_t)(place + lines->length));
        if (got < 0) return fail("read", error);
        if (got == 0) break;
        text_bytes(lines, bytes, (size_t)got);
        if (lines->status) return status_no_memory(error, lines->length);
        for (size_t i = 0; i < (size_t)got; i++)
            if (bytes[i] == '\n') whole = lines->length - (size_t)got + i + 1;
        if (whole) break;
    }
    lines->length = whole;
    return EE_OK;
}

ee_status audit_log_read(audit_log *self, uint64_t *place, audit_visit *visit, void *context, bool *more,
                         ee_error *error)
{
    if (self->rows) return pg_audit_read(self->rows, place, visit, context, more, error);
    text lines = text_start(NULL);
    ee_status status = read_lines(self, *place, &lines, error);
    bool goes_on = !status;
    *more = goes_on && lines.length;
    for (size_t at = 0; goes_on && at < lines.length;) {
        const char *line = lines.bytes + at;
        size_t length = (size_t)((const char *)memchr(line, '\n', lines.length - at) - line);
        at += length + 1;
        *place += length + 1;
        goes_on = visit(context, (json_text){line, length});
    }
    memory_free(lines.bytes);
    return status;
}

ee_status audit_log_copy(const char *from, const char *to, ee_error *error)
{
    char *source = NULL, *target = NULL;
    uint8_t *bytes = NULL;
    size_t size;
    ee_status status = file_join(from, name, &source, error);
    if (!status) status = file_join(to, name, &target, error);
    struct stat about;
    if (!status && stat(source, &about) == 0) {
        status = file_read(source, &bytes, &size, error);
        if (!status) status = file_write(target, bytes, size, error);
    }
    memory_free(bytes);
    memory_free(source);
    memory_free(target);
    return status;
}
