/* Models against the checksums in their events, and all files that end with their own checksum. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>

#include "serve/store/blobs.h"
#include "store_check_parts.h"

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

static ee_status check_model(check *self, const blobs *files, const named_model *model, ee_error *error)
{
    uint64_t *part = &self->result->blobs;
    const checked_bandit *of = check_bandit(self, model->bandit);
    bool needed = model->upload || model->event == of->checkpoint;
    uint8_t *bytes;
    size_t size = 0;
    ee_error why = {0};
    ee_status status = blob_get(files, blob_model(model->bandit, model->version), &bytes, &size, &why);
    if (status == EE_NO_MEMORY) return status_fail(error, status, "%s", why.message);
    if (status == EE_NO_FILE && needed && !was_replaced(self, model))
        check_found(self, part, "models/%u/%" PRIu64 ".model is missing; event %" PRIu64 " of bandit '%s' names it",
                    model->bandit, model->version, model->event, of->name);
    else if (!status && (size != model->size || checkpoint_checksum(bytes, size) != model->checksum))
        check_found(self, part,
                    "models/%u/%" PRIu64 ".model is damaged: it is not the one that event %" PRIu64
                    " of bandit '%s' names",
                    model->bandit, model->version, model->event, of->name);
    memory_free(bytes);
    return EE_OK;
}

/* ---- all blobs, against their own checksums ---- */

static ee_status check_blob(check *self, const blobs *files, blob_name name, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    ee_error why;
    ee_status status = blob_get(files, name, &bytes, &size, &why);
    if (status == EE_NO_MEMORY) return status_fail(error, status, "%s", why.message);
    if (status && status != EE_NO_FILE) /* a server that runs removes and replaces blobs */
        check_found(self, &self->result->blobs, "%s", why.message);
    self->result->files += !status;
    memory_free(bytes);
    return EE_OK;
}

static ee_status check_kind(check *self, const blobs *files, uint32_t bandit, blob_kind kind, ee_error *error)
{
    blob_key *keys;
    size_t count;
    ee_error why;
    if (kind == BLOB_LIVE_STATE) return check_blob(self, files, blob_named(bandit, kind, ""), error);
    ee_status status = blob_list(files, bandit, kind, &keys, &count, &why);
    if (status == EE_NO_MEMORY) return status_fail(error, status, "%s", why.message);
    if (status) check_found(self, &self->result->blobs, "%s", why.message);
    for (size_t i = 0; !status && i < count; i++)
        if (check_blob(self, files, blob_named(bandit, kind, keys[i]), error)) return error->status;
    memory_free(keys);
    return EE_OK;
}

/* Bandit 0 has evaluations of older versions. */
static ee_status check_blobs(check *self, const blobs *files, ee_error *error)
{
    ee_status status = EE_OK;
    for (uint32_t bandit = 0; bandit <= self->bandit_count && !status; bandit++)
        for (int kind = 0; kind < BLOB_KINDS && !status; kind++)
            status = check_kind(self, files, bandit, (blob_kind)kind, error);
    for (size_t i = 0; i < self->model_count && !status; i++) {
        status = check_model(self, files, &self->models[i], error);
        if (!status && !check_goes_on(self, "models", (double)(i + 1) / (double)self->model_count))
            status = check_stopped(error);
    }
    return status;
}

ee_status check_files(check *self, ee_error *error)
{
    blobs *files;
    ee_status status = blobs_open(self->request->folder, &files, error);
    if (status) return status;
    status = check_blobs(self, files, error);
    blobs_close(files);
    return status;
}
