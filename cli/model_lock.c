#define _DEFAULT_SOURCE /* for flock */
#include "model_lock.h"

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

static ee_status fail(ee_error *error, const char *verb, const char *path)
{
    return status_fail(error, EE_FILE_ERROR, "file: could not %s %s: %s", verb, file_tail(path), strerror(errno));
}

/* Whoever had the lock before may have removed the file between our open and our lock: then it locks nothing. */
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
            return status_fail(error, EE_FILE_ERROR, "%s: another program is writing this model; end that one first",
                               file_tail(model));
        if (failed) return fail(error, "lock", model);
    }
}

ee_status model_lock_take(const char *model, model_lock *out, ee_error *error)
{
    static const char ending[] = ".lock";
    size_t capacity = strlen(model) + sizeof ending;
    *out = (model_lock){NULL, -1};
    ee_status status = memory_create(NULL, &out->path, capacity, 1, error);
    if (status) return status;
    snprintf(out->path, capacity, "%s%s", model, ending);
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
    unlink(self->path); /* before the lock is gone: who waits for it sees that, and makes another */
    close(self->file);
    memory_free(self->path);
    *self = (model_lock){NULL, -1};
}
