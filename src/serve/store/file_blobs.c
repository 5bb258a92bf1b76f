/* Blobs as files of a folder; blobs.h lists their names. */
#define _POSIX_C_SOURCE 200809L
#include "blobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "blob_methods.h"

typedef struct file_blobs {
    blobs base;
    char *folder;
    atomic_uint scratches; /* made so far */
} file_blobs;

static const char *folder_of(const blobs *base)
{
    return ((const file_blobs *)base)->folder;
}

/* "FOLDER/models/3/250.model", to be freed with memory_free. */
static ee_status path_of(const blobs *base, const blob_name *name, char **path, ee_error *error)
{
    char tail[3 * BLOB_PATH_SIZE];
    blob_path(name, tail);
    return file_join(folder_of(base), tail, path, error);
}

/* ---- one ---- */

static ee_status put(blobs *base, const blob_name *name, const void *bytes, size_t size, ee_error *error)
{
    char folder[BLOB_PATH_SIZE], start[BLOB_PATH_SIZE], *path, *parent = NULL;
    ee_status status = path_of(base, name, &path, error);
    if (status) return status;
    blob_split_name(name->bandit, name->kind, folder, start);
    status = file_join(folder_of(base), folder, &parent, error);
    if (!status) status = file_make_private_folder(parent, error);
    if (!status) status = file_write_private(path, bytes, size, error);
    memory_free(parent);
    memory_free(path);
    return status;
}

static ee_status get(const blobs *base, const blob_name *name, uint8_t **bytes, size_t *size, ee_error *error)
{
    char *path;
    struct stat about;
    ee_status status = path_of(base, name, &path, error);
    if (status) return status;
    status = file_read(path, bytes, size, error);
    if (status == EE_FILE_ERROR && stat(path, &about) && (errno == ENOENT || errno == ENOTDIR))
        status = blob_fail_missing(name, error);
    memory_free(path);
    return status;
}

static bool exists(const blobs *base, const blob_name *name)
{
    char *path;
    struct stat about;
    if (path_of(base, name, &path, NULL)) return false;
    bool found = stat(path, &about) == 0;
    memory_free(path);
    return found;
}

static ee_status remove_file(blobs *base, const blob_name *name, ee_error *error)
{
    char *path;
    ee_status status = path_of(base, name, &path, error);
    if (status) return status;
    bool missing = unlink(path) != 0;
    if (missing && errno != ENOENT && errno != ENOTDIR)
        status = status_fail(error, EE_FILE_ERROR, "store: could not remove %s: %s", file_tail(path), strerror(errno));
    if (!missing) {
        *strrchr(path, '/') = '\0';
        status = file_sync_folder(path, error);
    }
    memory_free(path);
    return status;
}

/* ---- all ---- */

/* Files and folders in a folder; what cannot be opened has none. */
typedef ee_status visit_file(void *context, const char *folder, const char *name, ee_error *error);

static ee_status each_file(const char *folder, visit_file *visit, void *context, ee_error *error)
{
    DIR *entries = opendir(folder);
    ee_status status = EE_OK;
    if (!entries && errno != ENOENT && errno != ENOTDIR)
        return status_fail(error, EE_FILE_ERROR, "store: could not read %s: %s", file_tail(folder), strerror(errno));
    for (struct dirent *entry; entries && !status && (entry = readdir(entries));)
        if (entry->d_name[0] != '.') status = visit(context, folder, entry->d_name, error);
    if (entries) closedir(entries);
    return status;
}

typedef struct key_list {
    const char *start, *ending;
    bool has_keys; /* else one blob without a key */
    blob_key *keys;
    size_t count, capacity;
} key_list;

static ee_status add_key(void *context, const char *folder, const char *name, ee_error *error)
{
    key_list *self = context;
    size_t start = strlen(self->start), ending = strlen(self->ending), length = strlen(name);
    (void)folder;
    if (length < start + ending || strncmp(name, self->start, start) != 0 ||
        strcmp(name + length - ending, self->ending) != 0)
        return EE_OK;
    size_t left = length - start - ending;
    if (self->has_keys ? !blob_is_key(name + start, left) : left > 0) return EE_OK;
    ee_status status = memory_grow(NULL, &self->keys, &self->capacity, self->count + 1, sizeof *self->keys, error);
    if (status) return status;
    char *key = self->keys[self->count++];
    memset(key, 0, BLOB_KEY_SIZE);
    memcpy(key, name + start, left);
    return EE_OK;
}

static ee_status list_keys(const blobs *base, uint32_t bandit, blob_kind kind, blob_key **keys, size_t *count,
                           ee_error *error)
{
    char folder[BLOB_PATH_SIZE], start[BLOB_PATH_SIZE], *path;
    key_list list = {start, blob_forms[kind].ending, blob_forms[kind].separator != 0, NULL, 0, 0};
    blob_split_name(bandit, kind, folder, start);
    ee_status status = file_join(folder_of(base), folder, &path, error);
    if (status) return status;
    status = each_file(path, add_key, &list, error);
    memory_free(path);
    if (status) {
        memory_free(list.keys);
        return status;
    }
    *keys = list.keys;
    *count = list.count;
    return EE_OK;
}

/* ---- what a crash left, and sizes: in all folders, and in those of bandits ---- */

typedef struct walk {
    visit_file *visit;
    void *context;
} walk;

static ee_status visit_deep(void *context, const char *folder, const char *name, ee_error *error)
{
    const walk *self = context;
    char *path;
    bool is_folder = strspn(name, "0123456789") == strlen(name);
    if (!is_folder) return self->visit(self->context, folder, name, error);
    ee_status status = file_join(folder, name, &path, error);
    if (!status) status = each_file(path, self->visit, self->context, error);
    memory_free(path);
    return status;
}

static void walk_all(const blobs *base, visit_file *visit, void *context)
{
    static const char *const folders[] = {"models", "live", "evaluations", "importances", "temporary"};
    walk deep = {visit, context};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path;
        if (file_join(folder_of(base), folders[i], &path, NULL)) continue;
        each_file(path, visit_deep, &deep, NULL);
        memory_free(path);
    }
}

/* "7.model.4711.0": what file_write had begun. */
static bool is_draft(const char *name)
{
    for (size_t i = 0; i < BLOB_KINDS; i++) {
        const char *at = strstr(name, blob_forms[i].ending);
        if (!at) continue;
        at += strlen(blob_forms[i].ending);
        if (*at == '.' && strspn(at, ".0123456789") == strlen(at)) return true;
    }
    return false;
}

static ee_status sweep_file(void *context, const char *folder, const char *name, ee_error *error)
{
    (void)context, (void)error;
    char *path;
    size_t length = strlen(folder);
    bool temporary = length >= 9 && strcmp(folder + length - 9, "temporary") == 0;
    bool part_of_log = strstr(name, ".eelog.zst") != NULL; /* older versions wrote it beside the evaluation */
    if ((!temporary && !part_of_log && !is_draft(name)) || file_join(folder, name, &path, NULL)) return EE_OK;
    unlink(path);
    memory_free(path);
    return EE_OK;
}

static void sweep(blobs *base)
{
    walk_all(base, sweep_file, NULL);
}

static ee_status add_bytes(void *context, const char *folder, const char *name, ee_error *error)
{
    char *path;
    struct stat about;
    (void)error;
    if (file_join(folder, name, &path, NULL)) return EE_OK;
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) *(uint64_t *)context += (uint64_t)about.st_size;
    memory_free(path);
    return EE_OK;
}

static uint64_t count_bytes(const blobs *base)
{
    uint64_t bytes = 0;
    walk_all(base, add_bytes, &bytes);
    return bytes;
}

static ee_status scratch(blobs *base, const char *ending, char **path, ee_error *error)
{
    file_blobs *self = (file_blobs *)base;
    char name[BLOB_PATH_SIZE], *folder;
    snprintf(name, sizeof name, "%ld-%u%s", (long)getpid(), atomic_fetch_add(&self->scratches, 1), ending);
    ee_status status = file_join(self->folder, "temporary", &folder, error);
    if (!status) status = file_make_private_folder(folder, error);
    if (!status) status = file_join(folder, name, path, error);
    memory_free(folder);
    if (status) return status;
    int file = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
        close(file);
        return EE_OK;
    }
    status = status_fail(error, EE_FILE_ERROR, "store: could not create %s: %s", file_tail(*path), strerror(errno));
    memory_free(*path);
    *path = NULL;
    return status;
}

/* ---- beginning and end ---- */

static void close_files(blobs *base)
{
    memory_release(&base->memory);
}

static const blob_methods methods = {
    .close = close_files,
    .sweep = sweep,
    .put = put,
    .get = get,
    .exists = exists,
    .remove = remove_file,
    .list = list_keys,
    .bytes = count_bytes,
    .scratch = scratch,
};

ee_status blobs_open(const char *folder, blobs **out, ee_error *error)
{
    file_blobs *self;
    size_t size = strlen(folder) + 1;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->base.methods = &methods;
    status = memory_create(&self->base.memory, &self->folder, size, 1, error);
    if (status) {
        close_files(&self->base);
        return status;
    }
    memcpy(self->folder, folder, size);
    *out = &self->base;
    return EE_OK;
}
