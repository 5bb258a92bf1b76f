/* Copies a store that another process may be writing to: a read transaction gives a consistent snapshot. The copy is
 * written under a temporary name, synced, verified, and renamed. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <unistd.h>

#include "audit_log.h"
#include "base/file.h"
#include "folder_draft.h"
#include "serve/store/erased_event.h"
#include "serve/store/sqlite/store_sqlite.h"

typedef struct backup {
    const char *folder;
    char *draft; /* where the copy is made */
    backup_verify *verify;
    bool (*progress)(void *context, double share);
    void *context;
    sqlite3 *from;
    blobs *models, *copies;
    bool vanished; /* a model that a start on the copy needs was removed, since a newer one has taken its place */
} backup;

/* ---- models ---- */

static ee_status copy_model(backup *self, uint32_t bandit, uint64_t number, bool needed, ee_error *error)
{
    uint8_t *bytes;
    size_t size;
    blob_name name = blob_model(bandit, number);
    if (blob_exists(self->copies, name)) return EE_OK; /* of an earlier attempt: a model never changes */
    ee_status status = blob_get(self->models, name, &bytes, &size, error);
    if (status == EE_NO_FILE) {
        self->vanished |= needed;
        return EE_OK;
    }
    if (!status) status = blob_put(self->copies, name, bytes, size, error);
    memory_free(bytes);
    return status;
}

/* Copies the files that the log names and that exist. Uploaded models and the last checkpoint must exist. */
static ee_status copy_models(backup *self, ee_error *error)
{
    static const char *const sql[] = {
        "SELECT place, body, kind = 7 OR place = (SELECT max(place) FROM events AS other WHERE kind = 5 AND kind >= 4 "
        "AND kind <> 8"
        "  AND place > events.place >> 40 << 40 AND place < (events.place >> 40) + 1 << 40)"
        " FROM events WHERE kind IN (5, 7) AND kind >= 4 AND kind <> 8 AND body IS NOT NULL"};
    sqlite3_stmt *statement = NULL;
    ee_status status = store_prepare(self->from, sql, 1, &statement, error);
    for (int code; !status && (code = sqlite3_step(statement)) != SQLITE_DONE;) {
        checkpoint_body body = {0};
        if (code != SQLITE_ROW) status = store_fail(self->from, "read the checkpoints", error);
        const void *bytes = sqlite3_column_blob(statement, 1);
        if (!status) status = checkpoint_body_read(bytes, (size_t)sqlite3_column_bytes(statement, 1), &body, error);
        if (!status)
            status = copy_model(self, (uint32_t)(sqlite3_column_int64(statement, 0) >> STORE_NUMBER_BITS), body.version,
                                sqlite3_column_int(statement, 2) != 0, error);
    }
    store_finalize(&statement, 1);
    return status;
}

/* The models that ERASED events name, for replay. */
static ee_status copy_proofs(backup *self, ee_error *error)
{
    static const char *const sql[] = {"SELECT place, body FROM events WHERE kind = 10 AND kind >= 4 AND kind <> 8"};
    sqlite3_stmt *statement = NULL;
    memory room = {0};
    ee_status status = store_prepare(self->from, sql, 1, &statement, error);
    for (int code; !status && (code = sqlite3_step(statement)) != SQLITE_DONE;) {
        erased_body body = {0};
        uint32_t bandit = (uint32_t)(sqlite3_column_int64(statement, 0) >> STORE_NUMBER_BITS);
        if (code != SQLITE_ROW) status = store_fail(self->from, "read the erased events", error);
        const void *bytes = sqlite3_column_blob(statement, 1);
        if (!status) status = erased_body_read(bytes, (size_t)sqlite3_column_bytes(statement, 1), &room, &body, error);
        for (size_t i = 0; i < body.model_count && !status; i++)
            status = copy_model(self, bandit, body.models[i].version, false, error);
    }
    store_finalize(&statement, 1);
    memory_release(&room);
    return status;
}

/* ---- the database ---- */

static ee_status copy_pages(backup *self, sqlite3 *to, ee_error *error)
{
    enum { PAGES = 512 }; /* 4 MiB from one word about progress to the next */
    sqlite3_backup *copy = sqlite3_backup_init(to, "main", self->from, "main");
    int code = copy ? SQLITE_OK : SQLITE_ERROR;
    bool wanted = true;
    while (code == SQLITE_OK && wanted) {
        code = sqlite3_backup_step(copy, PAGES);
        double all = sqlite3_backup_pagecount(copy);
        if (self->progress && all > 0) wanted = self->progress(self->context, 1 - sqlite3_backup_remaining(copy) / all);
    }
    int ended = copy ? sqlite3_backup_finish(copy) : SQLITE_ERROR;
    if (!wanted) return status_fail(error, EE_FILE_ERROR, "store: the copy was interrupted");
    return code == SQLITE_DONE && ended == SQLITE_OK ? EE_OK : store_fail(to, "copy eenet.db", error);
}

static ee_status copy_database(backup *self, ee_error *error)
{
    char *path;
    sqlite3 *to = NULL;
    ee_status status = file_join(self->draft, "eenet.db", &path, error);
    if (status) return status;
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600); /* SQLite would let others read it */
    if (file >= 0) close(file);
    if (sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        status = store_fail(to, "create the copy", error);
    if (!status) status = copy_pages(self, to, error);
    sqlite3_close(to);
    if (!status) status = folder_draft_sync(path, error);
    if (!status) status = file_sync_folder(self->draft, error);
    memory_free(path);
    return status;
}

/* ---- the whole ---- */

/* last: there will be no other, and what vanished does not hinder it. */
static ee_status attempt(backup *self, bool last, ee_error *error)
{
    self->vanished = false;
    ee_status status = store_connect(self->folder, STORE_COPIES, &self->from, error);
    if (status) return status;
    /* From here on the reader sees this moment. */
    if (sqlite3_exec(self->from, "BEGIN; SELECT count(*) FROM bandits", NULL, NULL, NULL))
        status = store_fail(self->from, "read", error);
    if (!status) status = copy_models(self, error);
    if (!status) status = audit_log_copy(self->folder, self->draft, error);
    if (!status) status = copy_proofs(self, error);
    if (!status && (last || !self->vanished)) status = copy_database(self, error);
    sqlite3_close(self->from);
    return status;
}

static ee_status make_copy(backup *self, const char *to, ee_error *error)
{
    /* A model vanishes when the server saves newer ones between two lines of this file. Again and again is a store that
     * lacks it: the copy then lacks it too, and has all that there is. */
    enum { ATTEMPTS = 5 };
    ee_status status = EE_OK;
    self->vanished = true;
    for (int i = 1; !status && self->vanished && i <= ATTEMPTS; i++) status = attempt(self, i == ATTEMPTS, error);
    if (!status && self->verify) status = self->verify(self->context, self->draft, error);
    return status ? status : folder_draft_publish(self->draft, to, error);
}

ee_status store_backup(const char *folder, const char *to, backup_verify *verify,
                       bool (*progress)(void *context, double share), void *context, ee_error *error)
{
    backup self = {.folder = folder, .verify = verify, .progress = progress, .context = context};
    ee_status status = folder_draft_create(to, &self.draft, error);
    if (!self.draft) return status;
    if (!status) status = blobs_open(folder, &self.models, error);
    if (!status) status = blobs_open(self.draft, &self.copies, error);
    if (!status) status = make_copy(&self, to, error);
    blobs_close(self.models);
    blobs_close(self.copies);
    if (status) folder_draft_remove(self.draft);
    memory_free(self.draft);
    return status;
}
