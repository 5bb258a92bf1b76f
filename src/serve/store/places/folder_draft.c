#define _XOPEN_SOURCE 700 /* nftw */
#include "folder_draft.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

ee_status folder_draft_create(const char *to, char **draft, ee_error *error)
{
    struct stat about;
    size_t length = strlen(to);
    *draft = NULL;
    while (length > 1 && to[length - 1] == '/') length--;
    if (!length || lstat(to, &about) == 0)
        return status_fail(error, EE_FILE_ERROR, "store: '%s' already exists; give the name of a new folder",
                           file_tail(to));
    ee_status status = memory_create(NULL, draft, length + 40, 1, error);
    if (status) return status;
    snprintf(*draft, length + 40, "%.*s.%ld.partial", (int)length, to, (long)getpid());
    return file_make_private_folder(*draft, error);
}

/* Syncs the folder that a path is in. */
static ee_status sync_parent(const char *path, ee_error *error)
{
    char *copy;
    size_t size = strlen(path) + 1;
    ee_status status = memory_create(NULL, &copy, size, 1, error);
    if (status) return status;
    memcpy(copy, path, size);
    status = file_sync_folder(dirname(copy), error);
    memory_free(copy);
    return status;
}

ee_status folder_draft_publish(const char *draft, const char *to, ee_error *error)
{
    struct stat about;
    if (lstat(to, &about) == 0)
        errno = EEXIST;
    else if (errno == ENOENT && rename(draft, to) == 0)
        return sync_parent(draft, error);
    return status_fail(error, EE_FILE_ERROR, "store: could not rename the copy to %s: %s", file_tail(to),
                       strerror(errno));
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

void folder_draft_remove(const char *draft)
{
    nftw(draft, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

ee_status folder_draft_sync(const char *path, ee_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool failed = file < 0 || fsync(file);
    if (failed) status_fail(error, EE_FILE_ERROR, "store: could not sync %s: %s", file_tail(path), strerror(errno));
    if (file >= 0) close(file);
    return failed ? EE_FILE_ERROR : EE_OK;
}
