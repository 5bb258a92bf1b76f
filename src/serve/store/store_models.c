/* Models of the store, one file each. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store_sqlite.h"

ee_status store_model_path(const char *folder, uint32_t bandit, uint64_t number, char **path, ee_error *error)
{
    char name[64];
    snprintf(name, sizeof name, "models/%" PRIu32 "/%" PRIu64 ".model", bandit, number);
    return file_join(folder, name, path, error);
}

ee_status store_write_model(const char *folder, uint32_t bandit, uint64_t number, const void *bytes, size_t size,
                            ee_error *error)
{
    char name[32], *own, *path = NULL;
    snprintf(name, sizeof name, "models/%" PRIu32, bandit);
    ee_status status = file_join(folder, name, &own, error);
    if (status) return status;
    status = file_make_folder(own, error);
    if (!status) status = store_model_path(folder, bandit, number, &path, error);
    if (!status) status = file_write(path, bytes, size, error);
    memory_free(path);
    memory_free(own);
    return status;
}

ee_status store_read_model(const char *folder, uint32_t bandit, uint64_t number, uint8_t **bytes, size_t *size,
                           ee_error *error)
{
    char *path;
    struct stat about;
    *bytes = NULL;
    ee_status status = store_model_path(folder, bandit, number, &path, error);
    if (status) return status;
    status = file_read(path, bytes, size, error);
    if (status == EE_FILE_ERROR && stat(path, &about) && (errno == ENOENT || errno == ENOTDIR))
        status =
            status_fail(error, EE_NO_FILE, "store: there is no model %" PRIu64 " of bandit %" PRIu32, number, bandit);
    memory_free(path);
    return status;
}

ee_status store_save_model(store *self, uint32_t bandit, uint64_t number, const void *bytes, size_t size,
                           ee_error *error)
{
    return store_write_model(((sqlite_store *)self)->folder, bandit, number, bytes, size, error);
}

ee_status store_load_model(store *self, uint32_t bandit, uint64_t number, uint8_t **bytes, size_t *size,
                           ee_error *error)
{
    return store_read_model(((sqlite_store *)self)->folder, bandit, number, bytes, size, error);
}

ee_status store_remove_model(store *self, uint32_t bandit, uint64_t number, ee_error *error)
{
    char *path;
    ee_status status = store_model_path(((sqlite_store *)self)->folder, bandit, number, &path, error);
    if (status) return status;
    if (unlink(path) && errno != ENOENT)
        status = status_fail(error, EE_FILE_ERROR, "store: could not remove %s: %s", file_tail(path), strerror(errno));
    memory_free(path);
    return status;
}

/* ---- all of them ---- */

typedef void visit_file(void *context, const char *folder, const char *name);

/* Files of a folder; what cannot be opened has none. */
static void each_file(const char *folder, visit_file *visit, void *context)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (entry->d_name[0] != '.') visit(context, folder, entry->d_name);
    if (entries) closedir(entries);
}

typedef struct within {
    visit_file *visit;
    void *context;
} within;

static void enter_folder(void *context, const char *folder, const char *name)
{
    const within *self = context;
    char *path;
    if (file_join(folder, name, &path, NULL)) return;
    each_file(path, self->visit, self->context);
    memory_free(path);
}

static void each_model(const char *folder, visit_file *visit, void *context)
{
    char *models;
    within inside = {visit, context};
    if (file_join(folder, "models", &models, NULL)) return;
    each_file(models, enter_folder, &inside);
    memory_free(models);
}

static void sweep(void *context, const char *folder, const char *name)
{
    (void)context;
    char *path;
    const char *end = name + strspn(name, "0123456789");
    bool temporary = end > name && strncmp(end, ".model.", 7) == 0;
    if (!temporary || file_join(folder, name, &path, NULL)) return;
    unlink(path);
    memory_free(path);
}

void store_sweep_models(const char *folder)
{
    each_model(folder, sweep, NULL);
}

static void add_bytes(void *context, const char *folder, const char *name)
{
    char *path;
    struct stat about;
    if (file_join(folder, name, &path, NULL)) return;
    if (stat(path, &about) == 0) *(uint64_t *)context += (uint64_t)about.st_size;
    memory_free(path);
}

uint64_t store_model_bytes(const char *folder)
{
    uint64_t bytes = 0;
    each_model(folder, add_bytes, &bytes);
    return bytes;
}

/* ---- uploads that are no longer needed ---- */

typedef struct upload_sweep {
    uint64_t before;
    uint64_t *named; /* (count) by events */
    size_t count, capacity;
} upload_sweep;

/* The files that MODEL events of the bandit name; false where that cannot be told. */
static bool find_named(store *self, uint32_t bandit, upload_sweep *into)
{
    static const char *const sql[] = {"SELECT body FROM events WHERE kind = 7 AND kind >= 4 AND kind <> 8"
                                      " AND place > ?1 AND place < ?2 AND body IS NOT NULL"};
    sqlite3_stmt *statement = NULL;
    int code = SQLITE_ERROR;
    if (store_prepare(((sqlite_store *)self)->database, sql, 1, &statement, NULL)) return false;
    sqlite3_bind_int64(statement, 1, store_place(bandit, 0));
    sqlite3_bind_int64(statement, 2, store_place(bandit + 1, 0));
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        checkpoint_body body;
        const void *bytes = sqlite3_column_blob(statement, 0);
        if (checkpoint_body_read(bytes, (size_t)sqlite3_column_bytes(statement, 0), &body, NULL) ||
            memory_grow(NULL, &into->named, &into->capacity, into->count + 1, sizeof *into->named, NULL))
            break;
        into->named[into->count++] = body.version;
    }
    store_finalize(&statement, 1);
    return code == SQLITE_DONE;
}

/* Numbers of checkpoints are those of events; uploads have larger ones. */
static void sweep_upload(void *context, const char *folder, const char *name)
{
    const upload_sweep *self = context;
    char *end, *path;
    errno = 0;
    uint64_t number = strtoull(name, &end, 10);
    if (errno || end == name || strcmp(end, ".model") != 0) return;
    if (!(number >> STORE_NUMBER_BITS) || number >= self->before) return;
    for (size_t i = 0; i < self->count; i++)
        if (self->named[i] == number) return;
    if (file_join(folder, name, &path, NULL)) return;
    unlink(path);
    memory_free(path);
}

void store_remove_uploads(store *self, uint32_t bandit, uint64_t before)
{
    upload_sweep sweep_all = {.before = before};
    char name[32], *folder;
    snprintf(name, sizeof name, "models/%" PRIu32, bandit);
    if (find_named(self, bandit, &sweep_all) && !file_join(((sqlite_store *)self)->folder, name, &folder, NULL)) {
        each_file(folder, sweep_upload, &sweep_all);
        memory_free(folder);
    }
    memory_free(sweep_all.named);
}
