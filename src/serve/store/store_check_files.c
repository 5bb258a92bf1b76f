/* Models against the checksums in their events, and all files that end with their own checksum. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/file.h"
#include "store_check_parts.h"
#include "text_seal.h"

/* Models and states of live evaluations end with the archive_checksum of the bytes before it. */
static bool is_sealed(const uint8_t *bytes, size_t size)
{
    enum { CHECKSUM = 8 };
    uint64_t stored = 0;
    if (size < CHECKSUM) return false;
    for (int i = 0; i < CHECKSUM; i++) stored |= (uint64_t)bytes[size - CHECKSUM + (size_t)i] << 8 * i;
    return stored == archive_checksum(bytes, size - CHECKSUM);
}

/* ---- models ---- */

/* Whether the server has saved a newer checkpoint since the check began: then it may have removed the one before. */
static bool was_replaced(const check *self, const named_model *model)
{
    static const char *const sql[] = {"SELECT 1 FROM events WHERE kind = 5 AND kind >= 4 AND kind <> 8"
                                      " AND place > ?1 AND place < ?2"};
    sqlite3 *database;
    sqlite3_stmt *statement = NULL;
    if (model->upload || store_connect(self->request->folder, STORE_READS, &database, NULL)) return false;
    bool newer = false;
    if (!store_prepare(database, sql, 1, &statement, NULL)) {
        sqlite3_bind_int64(statement, 1, store_place(model->bandit, model->event));
        sqlite3_bind_int64(statement, 2, store_place(model->bandit + 1, 0));
        newer = sqlite3_step(statement) == SQLITE_ROW;
    }
    store_finalize(&statement, 1);
    sqlite3_close(database);
    return newer;
}

static ee_status check_model(check *self, const named_model *model, ee_error *error)
{
    uint64_t *part = &self->result->blobs;
    const checked_bandit *of = check_bandit(self, model->bandit);
    bool needed = model->upload || model->event == of->checkpoint;
    uint8_t *bytes;
    size_t size = 0;
    ee_error why = {0};
    ee_status status = store_read_model(self->request->folder, model->bandit, model->version, &bytes, &size, &why);
    if (status == EE_NO_MEMORY) return status_fail(error, status, "%s", why.message);
    if (status == EE_NO_FILE && needed && !was_replaced(self, model))
        check_found(self, part, "models/%u/%" PRIu64 ".model is missing; event %" PRIu64 " of bandit '%s' names it",
                    model->bandit, model->version, model->event, of->name);
    else if (status && status != EE_NO_FILE)
        check_found(self, part, "models/%u/%" PRIu64 ".model cannot be read: %s", model->bandit, model->version,
                    why.message);
    else if (!status &&
             (size != model->size || checkpoint_checksum(bytes, size) != model->checksum || !is_sealed(bytes, size)))
        check_found(self, part,
                    "models/%u/%" PRIu64 ".model is damaged: it is not the one that event %" PRIu64
                    " of bandit '%s' names",
                    model->bandit, model->version, model->event, of->name);
    self->result->files += !status;
    memory_free(bytes);
    return EE_OK;
}

static bool is_named(const check *self, uint32_t bandit, uint64_t version)
{
    for (size_t i = 0; i < self->model_count; i++)
        if (self->models[i].bandit == bandit && self->models[i].version == version) return true;
    return false;
}

/* ---- folders ---- */

typedef ee_status check_file(check *self, const char *folder, const char *name, ee_error *error);

/* Every file of FOLDER/name; a folder that is not there has none. */
static ee_status each_file(check *self, const char *name, check_file *visit, ee_error *error)
{
    char *path;
    ee_status status = file_join(self->request->folder, name, &path, error);
    if (status) return status;
    DIR *entries = opendir(path);
    if (!entries && errno != ENOENT)
        check_found(self, &self->result->blobs, "%s cannot be read: %s", name, strerror(errno));
    for (struct dirent *entry; entries && !status && (entry = readdir(entries));)
        if (entry->d_name[0] != '.') status = visit(self, name, entry->d_name, error);
    if (entries) closedir(entries);
    memory_free(path);
    return status;
}

static bool is_sealed_text(const uint8_t *bytes, size_t size)
{
    return text_unseal(bytes, &size);
}

/* A file of FOLDER/folder that ends with its own checksum. */
static ee_status check_sealed(check *self, const char *folder, const char *name,
                              bool (*whole)(const uint8_t *bytes, size_t size), ee_error *error)
{
    char inner[300], *path;
    uint8_t *bytes = NULL;
    size_t size;
    ee_error why;
    snprintf(inner, sizeof inner, "%s/%s", folder, name);
    ee_status status = file_join(self->request->folder, inner, &path, error);
    if (status) return status;
    status = file_read(path, &bytes, &size, &why);
    bool gone = status && file_is_missing(path); /* a server that runs removes and replaces files */
    memory_free(path);
    if (status == EE_NO_MEMORY) return status_fail(error, status, "%s", why.message);
    if (status && !gone)
        check_found(self, &self->result->blobs, "%s cannot be read: %s", inner, why.message);
    else if (!status && !whole(bytes, size))
        check_found(self, &self->result->blobs, "%s is damaged: its checksum does not match", inner);
    self->result->files += !status;
    memory_free(bytes);
    return EE_OK;
}

static bool has_end(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

static ee_status check_state(check *self, const char *folder, const char *name, ee_error *error)
{
    return has_end(name, ".state") ? check_sealed(self, folder, name, is_sealed, error) : EE_OK;
}

static ee_status check_evaluation(check *self, const char *folder, const char *name, ee_error *error)
{
    return has_end(name, ".json") ? check_sealed(self, folder, name, is_sealed_text, error) : EE_OK;
}

/* A model that no event names: one that is being uploaded, or was left. */
static ee_status check_other_model(check *self, const char *folder, const char *name, ee_error *error)
{
    uint32_t bandit = (uint32_t)strtoul(strrchr(folder, '/') + 1, NULL, 10);
    if (!has_end(name, ".model") || is_named(self, bandit, strtoull(name, NULL, 10))) return EE_OK;
    return check_sealed(self, folder, name, is_sealed, error);
}

static ee_status check_model_folder(check *self, const char *folder, const char *name, ee_error *error)
{
    char inner[300];
    snprintf(inner, sizeof inner, "%s/%s", folder, name);
    return each_file(self, inner, check_other_model, error);
}

ee_status check_files(check *self, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < self->model_count && !status; i++) {
        status = check_model(self, &self->models[i], error);
        if (!status && !check_goes_on(self, "models", (double)(i + 1) / (double)self->model_count))
            status = check_stopped(error);
    }
    if (!status) status = each_file(self, "models", check_model_folder, error);
    if (!status) status = each_file(self, "live", check_state, error);
    return status ? status : each_file(self, "evaluations", check_evaluation, error);
}
