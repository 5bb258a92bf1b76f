#define _DEFAULT_SOURCE /* for flock */
#include "model_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/tables/row_encoding.h"
#include "data/values/text.h"

static ee_status fail(ee_error *error, const char *verb, const char *path)
{
    return status_fail(error, EE_FILE_ERROR, "file: could not %s %s: %s", verb, file_tail(path), strerror(errno));
}

/* *path = "MODEL.ending", to be freed with memory_free. */
static ee_status name_beside(const char *model, const char *ending, char **path, ee_error *error)
{
    size_t capacity = strlen(model) + strlen(ending) + 1;
    ee_status status = memory_create(NULL, path, capacity, 1, error);
    if (!status) snprintf(*path, capacity, "%s%s", model, ending);
    return status;
}

/* ---- the lock ---- */

/* The previous owner may have removed the file between our open and our lock: the lock is then useless. */
static bool is_still_there(int file, const char *path)
{
    struct stat ours, there;
    return fstat(file, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

static ee_status lock(model_lock *self, const char *model, ee_error *error)
{
    for (;;) {
        self->file = open(self->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (self->file < 0) return fail(error, "lock", model);
        bool locked = flock(self->file, LOCK_EX | LOCK_NB) == 0;
        if (locked && is_still_there(self->file, self->path)) return EE_OK;
        int failed = locked ? 0 : errno;
        close(self->file);
        errno = failed;
        if (failed == EWOULDBLOCK)
            return status_fail(error, EE_FILE_ERROR,
                               "%s: another program is writing this model; wait for it or stop it", file_tail(model));
        if (failed) return fail(error, "lock", model);
    }
}

ee_status model_lock_take(const char *model, model_lock *out, ee_error *error)
{
    *out = (model_lock){NULL, -1};
    ee_status status = name_beside(model, ".lock", &out->path, error);
    if (status) return status;
    status = lock(out, model, error);
    if (status) {
        memory_free(out->path);
        *out = (model_lock){NULL, -1};
    }
    return status;
}

void model_lock_release(model_lock *self)
{
    if (!self->path) return;
    unlink(self->path); /* before the lock is released: a waiting program notices and creates a new file */
    close(self->file);
    memory_free(self->path);
    *self = (model_lock){NULL, -1};
}

/* ---- rows ---- */

static const char rows_ending[] = ".rows.json";

ee_status model_rows_check(const row_encoding *rows, ee_error *error)
{
    text out = text_start(error);
    if (rows) row_encoding_format(rows, &out);
    memory_free(out.bytes);
    return out.status;
}

ee_status model_rows_write(const char *model, const row_encoding *rows, ee_error *error)
{
    char *path;
    ee_status status = name_beside(model, rows_ending, &path, error);
    if (status) return status;
    if (rows)
        status = row_encoding_write(rows, path, error);
    else if (unlink(path) && errno != ENOENT)
        status = fail(error, "remove", path);
    memory_free(path);
    return status;
}

static ee_status check_rows(const row_encoding *rows, const ee_bandit *bandit, const char *path, ee_error *error)
{
    ee_info info = ee_bandit_info(bandit);
    size_t features = row_encoding_features(rows), classes = row_encoding_classes(rows);
    if (!info.features && classes && info.dim / classes == features && info.dim % classes == 0) return EE_OK;
    return status_fail(
        error, EE_BAD_INPUT,
        "%s belongs to another model: it describes %zu features for each of %zu classes, but this model has %zu in all",
        file_tail(path), features, classes, info.dim);
}

ee_status model_rows_read(const char *model, const ee_bandit *bandit, row_encoding **out, ee_error *error)
{
    char *path;
    *out = NULL;
    ee_status status = name_beside(model, rows_ending, &path, error);
    if (status) return status;
    if (!file_is_missing(path)) status = row_encoding_read(path, out, error);
    if (!status && *out) status = check_rows(*out, bandit, path, error);
    memory_free(path);
    return status;
}
