/* Removing a bandit for good. Its row in `bandits` stays, without the name, so that its number is never given again:
 * purged is 1 until everything is removed, and then 2. */
#include "store_sqlite.h"

ee_status sqlite_overwrite(store *base, bool on, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    const char *sql = on ? "PRAGMA secure_delete = ON" : "PRAGMA secure_delete = FAST";
    return sqlite3_exec(self->database, sql, NULL, NULL, NULL) ? store_fail(self->database, "overwrite", error) : EE_OK;
}

ee_status sqlite_empty_log(store *base, bool *done, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    enum { PATIENCE = 10000 }; /* milliseconds, as store_connect has it */
    sqlite3_busy_timeout(self->database, 0);
    int code = sqlite3_wal_checkpoint_v2(self->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(self->database, PATIENCE);
    *done = code == SQLITE_OK;
    return code == SQLITE_OK || code == SQLITE_BUSY ? EE_OK : store_fail(self->database, "empty the log", error);
}

/* Runs a statement whose parameters are the bandit's number, the places around its events, and a number of rows. */
static ee_status run(sqlite_store *self, const char *sql, uint32_t bandit, size_t limit, ee_error *error)
{
    sqlite3_stmt *statement = NULL;
    ee_status status = store_prepare(self->database, &sql, 1, &statement, error);
    if (status) return status;
    const int64_t values[] = {bandit, store_place(bandit, 0), store_place(bandit + 1, 0), (int64_t)limit};
    int count = sqlite3_bind_parameter_count(statement);
    for (int i = 0; i < count; i++) sqlite3_bind_int64(statement, i + 1, values[i]);
    if (sqlite3_step(statement) != SQLITE_DONE) status = store_fail(self->database, "remove a bandit", error);
    store_finalize(&statement, 1);
    return status;
}

static ee_status end(store *base, ee_status status, ee_error *error)
{
    if (!status) status = base->methods->commit(base, error);
    if (status) base->methods->rollback(base);
    return status;
}

/* The log of the bandit is empty: check_end does not look for its events. */
static ee_status forget_end(sqlite_store *self, uint32_t bandit, ee_error *error)
{
    store_bind_end(self->statements[SET_END], bandit, &(stored_end){.first = 1});
    return sqlite_run(self, SET_END, "remove a bandit", error);
}

/* A name cannot begin with '#', so this one is free. */
ee_status sqlite_purge(store *base, uint32_t bandit, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    ee_status status = base->methods->begin(base, error);
    if (status) return status;
    status = run(self,
                 "UPDATE bandits SET name = '#' || number, archived = 1, settled_to = 0, settings = NULL,"
                 " first_settings = NULL, purged = 1, checksum = row_checksum(number, '#' || number, 1, NULL)"
                 " WHERE number = ?1",
                 bandit, 0, error);
    if (!status) status = forget_end(self, bandit, error);
    return end(base, status, error);
}

static ee_status remove_rows(sqlite_store *self, uint32_t bandit, size_t limit, size_t *removed, ee_error *error)
{
    static const char *const removals[] = {
        "DELETE FROM events WHERE place IN"
        " (SELECT place FROM events WHERE place > ?2 AND place < ?3 AND ?1 LIMIT ?4)",
        "DELETE FROM decisions WHERE place IN"
        " (SELECT place FROM decisions WHERE place > ?2 AND place < ?3 AND ?1 LIMIT ?4)",
        "DELETE FROM ids WHERE bandit = ?1 AND id IN"
        " (SELECT id FROM ids WHERE bandit = ?1 AND ?2 < ?3 LIMIT ?4)",
        "DELETE FROM reward_ids WHERE bandit = ?1 AND (id, reward_id) IN"
        " (SELECT id, reward_id FROM reward_ids WHERE bandit = ?1 AND ?2 < ?3 LIMIT ?4)",
        "DELETE FROM unclaimed WHERE bandit = ?1 AND (id, number) IN"
        " (SELECT id, number FROM unclaimed WHERE bandit = ?1 AND ?2 < ?3 LIMIT ?4)",
    };
    ee_status status = EE_OK;
    for (size_t i = 0; i < sizeof removals / sizeof *removals && *removed < limit && !status; i++) {
        status = run(self, removals[i], bandit, limit - *removed, error);
        if (!status) *removed += (size_t)sqlite3_changes(self->database);
    }
    return status;
}

ee_status sqlite_purge_some(store *base, uint32_t bandit, size_t limit, bool *more, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    size_t removed = 0;
    ee_status status = sqlite_overwrite(base, true, error);
    if (!status) status = base->methods->begin(base, error);
    if (!status) status = end(base, remove_rows(self, bandit, limit, &removed, error), error);
    ee_status other = sqlite_overwrite(base, false, status ? NULL : error);
    *more = removed == limit;
    return status ? status : other;
}

ee_status sqlite_purge_end(store *base, uint32_t bandit, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    ee_status status = base->methods->begin(base, error);
    if (status) return status;
    status = run(self, "UPDATE bandits SET purged = 2 WHERE number = ?1", bandit, 0, error);
    if (!status) status = forget_end(self, bandit, error); /* a repair may have written it again */
    return end(base, status, error);
}

ee_status sqlite_purge_next(store *base, uint32_t after, uint32_t *bandit, ee_error *error)
{
    static const char *const sql[] = {"SELECT min(number) FROM bandits WHERE purged = 1 AND number > ?1"};
    sqlite_store *self = (sqlite_store *)base;
    sqlite3_stmt *statement = NULL;
    ee_status status = store_prepare(self->database, sql, 1, &statement, error);
    if (status) return status;
    sqlite3_bind_int64(statement, 1, after);
    if (sqlite3_step(statement) != SQLITE_ROW) status = store_fail(self->database, "read the bandits", error);
    *bandit = status ? 0 : (uint32_t)sqlite3_column_int64(statement, 0);
    store_finalize(&statement, 1);
    return status;
}
