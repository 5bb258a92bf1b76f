/* The writer of the store, with SQLite: a write-ahead log that is synced at each commit. */
#define _DEFAULT_SOURCE /* flock */
#include "store_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"

/* The tables wanted_... and new_... are the group's: sqlite_group.c. CROSS JOIN keeps them the outer loop.
 * OR ROLLBACK: a statement that fails undoes the whole group, so that SQLite need not copy each page that it changes,
 * to undo the statement alone. */
static const char *const sql[STORE_STATEMENTS] = {
    [WRITE_BEGIN] = "BEGIN IMMEDIATE",
    [WRITE_COMMIT] = "COMMIT",
    [WRITE_ROLLBACK] = "ROLLBACK",
    [WRITE_BANDIT] = "INSERT INTO bandits (number, name, checksum) VALUES (?1, ?2, row_checksum(?1, ?2, 0, NULL))",
    [WRITE_CHANGE] = "UPDATE bandits SET archived = ?2, settled_to = ?3, settings = coalesce(?4, settings),"
                     " checksum = row_checksum(number, name, ?2, first_settings) WHERE number = ?1",
    [WRITE_PROBE] = "UPDATE bandits SET archived = 1 - archived WHERE number = 1",
    [FIND_NAME] = "SELECT 1 FROM bandits WHERE name = ?1",
    [FETCH_DECISIONS] = STORE_DECISION_COLUMNS ", wanted_ids.rowid FROM wanted_ids CROSS JOIN ids USING (bandit, id)"
                                               " CROSS JOIN decisions ON place = (wanted_ids.bandit << 40 | number)",
    [FETCH_UNCLAIMED] =
        "SELECT wanted.rowid, number, kind, value, checksum = row_checksum(place, kind, time, events.id,"
        " decision, value, outcome, reward_id, body), body FROM wanted_unclaimed AS wanted"
        " CROSS JOIN unclaimed USING (bandit, id)"
        " LEFT JOIN events ON place = (wanted.bandit << 40 | number)",
    [FETCH_REWARD_IDS] = "SELECT wanted.rowid, value, outcome FROM wanted_reward_ids AS wanted"
                         " CROSS JOIN reward_ids USING (bandit, id, reward_id)",
    [GET_DECISION] = STORE_DECISION_COLUMNS " FROM decisions WHERE place = ?1",
    [FIND_WAITING] = STORE_DECISION_COLUMNS " FROM decisions WHERE place > ?1 AND place < ?2 ORDER BY place",
    [WRITE_EVENTS] = "INSERT OR ROLLBACK INTO events (place, kind, time, id, decision, value, outcome, reward_id, body,"
                     " checksum)"
                     " SELECT * FROM new_events",
    [WRITE_DECISIONS] = "INSERT OR ROLLBACK INTO decisions (place, time, request_a, request_b, rewards, settled, value,"
                        " inactive, slots, metrics) SELECT * FROM new_decisions",
    [CHANGE_DECISION] = "UPDATE decisions SET rewards = ?2, settled = ?3, value = ?4, inactive = ?5, metrics = ?6"
                        " WHERE place = ?1",
    [WRITE_IDS] = "INSERT OR ROLLBACK INTO ids (bandit, id, number) SELECT * FROM new_ids",
    [WRITE_REWARD_IDS] =
        "INSERT OR ROLLBACK INTO reward_ids (bandit, id, reward_id, value, outcome) SELECT * FROM new_reward_ids",
    [WRITE_UNCLAIMED] = "INSERT OR ROLLBACK INTO unclaimed (bandit, id, number) SELECT * FROM new_unclaimed",
    [REMOVE_UNCLAIMED] = "DELETE FROM unclaimed WHERE bandit = ?1 AND id = ?2 AND number = ?3",
    [FIND_OLDEST] = "SELECT place, kind, time, id, decision, reward_id, checksum FROM events"
                    " WHERE place > ?1 AND place < ?2 ORDER BY place",
    [COUNT_OPEN] = "SELECT count(*) FROM decisions WHERE place >= ?1 AND place < ?2 AND settled = 0",
    [REMOVE_EVENTS] = "DELETE FROM events WHERE place > ?1 AND place <= ?2",
    [REMOVE_DECISION] = "DELETE FROM decisions WHERE place = ?1",
    [REMOVE_ID] = "DELETE FROM ids WHERE bandit = ?1 AND id = ?2",
    [REMOVE_REWARD_IDS] = "DELETE FROM reward_ids WHERE bandit = ?1 AND id = ?2",
    [REMOVE_REWARD_ID] = "DELETE FROM reward_ids WHERE bandit = ?1 AND id = ?2 AND reward_id = ?3",
    [WRITE_CLOCK] = "INSERT OR REPLACE INTO clock VALUES (?1, ?2, ?3, row_checksum(?1, ?2, ?3))",
    [SUM_CLOCK] = STORE_CLOCK_SUMS_SQL,
    [ADD_END] = STORE_ADD_END_SQL,
    [GET_END] = STORE_READ_END_SQL,
    [SET_END] = STORE_SET_END_SQL,
    [SUM_REWARD_ID] = "SELECT row_checksum(bandit, id, reward_id, value, outcome) FROM reward_ids"
                      " WHERE bandit = ?1 AND id = ?2 AND reward_id = ?3",
    [SUM_KEPT_REWARD_IDS] = "SELECT row_checksum(bandit, id, reward_id, value, outcome) FROM reward_ids"
                            " WHERE bandit = ?1 AND id = ?2 AND outcome = 4",
    [KEEP_SETTINGS] = "UPDATE bandits SET first_settings = removed.settings,"
                      " checksum = row_checksum(number, name, archived, removed.settings)"
                      " FROM (SELECT CAST(body AS TEXT) AS settings FROM events WHERE place = ?2) AS removed"
                      " WHERE number = ?1",
};

/* ---- opening ---- */

/* Opens a file for its owner only, whatever the umask, and locks it if nobody else has. flock(2) is independent of the
 * POSIX locks of SQLite, and of descriptors that SQLite opens and closes. */
static ee_status lock_file(const char *folder, const char *name, int *out, ee_error *error)
{
    char *path;
    ee_status status = file_join(folder, name, &path, error);
    if (status) return status;
    *out = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int failed = *out < 0 || flock(*out, LOCK_EX | LOCK_NB) ? errno : 0;
    if (*out >= 0 && failed == EWOULDBLOCK)
        status = status_fail(error, EE_FILE_ERROR, "store: another process is serving %s", file_tail(folder));
    else if (failed)
        status = status_fail(error, EE_FILE_ERROR, "store: could not lock %s: %s", file_tail(path), strerror(failed));
    memory_free(path);
    return status;
}

ee_status store_take_locks(const char *folder, store_locks *out, ee_error *error)
{
    *out = STORE_UNLOCKED;
    ee_status status = lock_file(folder, "lock", &out->file, error);
    return status ? status : lock_file(folder, "eenet.db", &out->database, error);
}

void store_release_locks(store_locks *locks)
{
    if (locks->database >= 0) close(locks->database);
    if (locks->file >= 0) close(locks->file);
    *locks = STORE_UNLOCKED;
}

enum { LIST_BANDITS, COUNT_UNCLAIMED, COUNT_WAITING, FIND_ENDS, STORED_END, LOAD_STATEMENTS };

/* The end of the bandit's log, as it was when it was last written, and as it is: a log that lost events is not
 * continued. */
static ee_status check_end(sqlite_store *self, sqlite3_stmt *statement, uint32_t bandit, const store_ends *found,
                           ee_error *error)
{
    stored_end end;
    sqlite3_bind_int64(statement, 1, bandit);
    int code = sqlite3_step(statement);
    bool whole = code == SQLITE_ROW && store_column_end(statement, &end);
    sqlite3_reset(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) return store_fail(self->database, "read the end of a log", error);
    if (whole && end.last == found->last && (!found->last || end.first == found->first)) return EE_OK;
    return status_fail(error, EE_FILE_ERROR,
                       "store: eenet.db is damaged: the log of bandit %u does not end where it was last written; run "
                       "'eenet check'",
                       bandit);
}

static ee_status count_rows(sqlite_store *self, sqlite3_stmt *statement, uint64_t *count, ee_error *error)
{
    ee_status status = sqlite3_step(statement) == SQLITE_ROW ? EE_OK : store_fail(self->database, "count", error);
    *count = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return status;
}

/* The row of LIST_BANDITS. Numbers have no gaps: of a bandit that is removed the row stays. */
static ee_status load_bandit(sqlite_store *self, sqlite3_stmt **statements, ee_error *error)
{
    sqlite3_stmt *row = statements[LIST_BANDITS];
    json_text stored = store_column_text(row, 3);
    bandit_settings settings = bandit_settings_usual();
    store_ends ends = {0};
    bandit_state state = {.number = (uint32_t)self->base.joining->bandit_count + 1,
                          .owned = true,
                          .archived = sqlite3_column_int(row, 1) != 0,
                          .settled_to = (uint64_t)sqlite3_column_int64(row, 2),
                          .purged = sqlite3_column_int(row, 4) != 0};
    if (sqlite3_column_int64(row, 0) != state.number)
        return status_fail(error, EE_FILE_ERROR, "store: eenet.db is damaged: bandit %u is missing", state.number);
    if (state.purged) state.deadline = INT64_MAX;
    if (state.purged) return joining_add_bandit(self->base.joining, &state, error);
    sqlite3_bind_int64(statements[COUNT_UNCLAIMED], 1, state.number);
    sqlite3_bind_int64(statements[COUNT_WAITING], 1, store_place(state.number, state.settled_to));
    sqlite3_bind_int64(statements[COUNT_WAITING], 2, store_place(state.number + 1, 0));
    ee_status status = EE_OK;
    if (stored.length) status = bandit_settings_read(&settings, stored.bytes, stored.length, SETTINGS_STORED, error);
    if (!status) status = store_find_ends(self->database, statements[FIND_ENDS], state.number, &ends, error);
    if (!status) status = check_end(self, statements[STORED_END], state.number, &ends, error);
    if (!status) status = count_rows(self, statements[COUNT_UNCLAIMED], &state.unclaimed, error);
    if (!status) status = count_rows(self, statements[COUNT_WAITING], &state.waiting, error);
    state.events = state.news = ends.last;
    state.time = ends.time;
    state.rules = settings.joining;
    return status ? status : joining_add_bandit(self->base.joining, &state, error);
}

static ee_status load_bandits(sqlite_store *self, ee_error *error)
{
    static const char *const questions[LOAD_STATEMENTS] = {
        [LIST_BANDITS] = "SELECT number, archived, settled_to, settings, purged FROM bandits ORDER BY number",
        [COUNT_UNCLAIMED] = "SELECT count(*) FROM unclaimed WHERE bandit = ?1",
        [COUNT_WAITING] = STORE_COUNT_WAITING_SQL,
        [FIND_ENDS] = STORE_ENDS_SQL,
        [STORED_END] = STORE_READ_END_SQL,
    };
    sqlite3_stmt *statements[LOAD_STATEMENTS] = {0};
    ee_status status = store_prepare(self->database, questions, LOAD_STATEMENTS, statements, error);
    if (status) return status;
    int code;
    while (!status && (code = sqlite3_step(statements[LIST_BANDITS])) != SQLITE_DONE)
        status = code == SQLITE_ROW ? load_bandit(self, statements, error)
                                    : store_fail(self->database, "read the bandits", error);
    store_finalize(statements, LOAD_STATEMENTS);
    return status;
}

static int count_pages(void *context, sqlite3 *database, const char *name, int pages)
{
    (void)database;
    (void)name;
    ((sqlite_store *)context)->log_pages = pages;
    return SQLITE_OK;
}

static ee_status open_all(sqlite_store *self, const char *folder, ee_error *error)
{
    size_t size = strlen(folder) + 1;
    ee_status status = memory_create(&self->base.memory, &self->folder, size, 1, error);
    if (!status) status = joining_create(&self->base.joining, error);
    if (status) return status;
    memcpy(self->folder, folder, size);
    status = file_make_private_folder(folder, error);
    if (!status) status = store_take_locks(folder, &self->locks, error);
    if (!status) status = blobs_open(folder, &self->base.blobs, error);
    if (!status) blobs_sweep(self->base.blobs);
    if (!status) status = store_connect(folder, STORE_WRITES, &self->database, error);
    if (!status) status = sqlite_add_group_tables(self, error);
    if (!status) status = store_prepare(self->database, sql, STORE_STATEMENTS, self->statements, error);
    if (!status) status = load_bandits(self, error);
    if (!status) status = file_sync_folder(folder, error); /* the database may be new in it */
    if (!status) sqlite3_wal_hook(self->database, count_pages, self);
    return status;
}

/* ---- transactions ---- */

/* Moves the log of transactions (eenet.db-wal) into the database, so that it can start anew. SQLite would do it within
 * a commit; here those who wait for the last commit have been told. Another thread beside the writer is worse: at
 * 30,000 rewards a second it never ends, and the 99th percentile of an answer was 12 to 315 ms, and not 5. What fails,
 * as on a full disk, is tried again before the next transaction: the log has everything. */
static void move_log(sqlite_store *self)
{
    enum { PAGES = 1000 }; /* 8 MB, as SQLite has it */
    if (self->log_pages < PAGES) return;
    sqlite3_wal_checkpoint_v2(self->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

static ee_status begin(store *base, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    move_log(self);
    ee_status status = sqlite_run(self, WRITE_BEGIN, "begin a transaction", error);
    self->begun = !status;
    return status;
}

static ee_status commit(store *base, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    ee_status status = sqlite_run(self, WRITE_COMMIT, "commit a transaction", error);
    if (!status) self->begun = false;
    return status;
}

static void rollback(store *base)
{
    sqlite_store *self = (sqlite_store *)base;
    /* SQLite may have rolled back already. */
    if (self->begun && !sqlite3_get_autocommit(self->database)) {
        sqlite3_step(self->statements[WRITE_ROLLBACK]);
        sqlite3_reset(self->statements[WRITE_ROLLBACK]);
    }
    self->begun = false;
}

/* Writing the same again would not reach the disk: so it is changed, and changed back. */
static ee_status probe(store *base, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    ee_status status = sqlite_run(self, WRITE_PROBE, "write", error);
    return status ? status : sqlite_run(self, WRITE_PROBE, "write", error);
}

static ee_status write_clock(store *base, const stored_clock *clock, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    sqlite3_stmt *statement = self->statements[WRITE_CLOCK];
    sqlite3_bind_int64(statement, 1, clock->time);
    sqlite3_bind_int64(statement, 2, clock->ahead);
    sqlite3_bind_int(statement, 3, clock->in_doubt);
    ee_status status = sqlite_run(self, WRITE_CLOCK, "write the state of the clock", error);
    if (status) return status;
    return store_change_clock_end(self->database, self->statements[SUM_CLOCK], self->statements[SET_END], error);
}

/* ---- size ---- */

static uint64_t file_bytes(const char *folder, const char *name)
{
    char *path;
    struct stat about;
    if (file_join(folder, name, &path, NULL)) return 0;
    uint64_t bytes = stat(path, &about) ? 0 : (uint64_t)about.st_size;
    memory_free(path);
    return bytes;
}

static uint64_t count_bytes(const store *base)
{
    const sqlite_store *self = (const sqlite_store *)base;
    return file_bytes(self->folder, "eenet.db") + file_bytes(self->folder, "eenet.db-wal") + blobs_bytes(base->blobs);
}

static bool disk_space(const store *base, store_space *out)
{
    struct statvfs disk;
    if (statvfs(((const sqlite_store *)base)->folder, &disk)) return false;
    *out = (store_space){(uint64_t)disk.f_blocks * disk.f_frsize, (uint64_t)disk.f_bavail * disk.f_frsize};
    return true;
}

/* ---- the store ---- */

static void close_store(store *base)
{
    sqlite_store *self = (sqlite_store *)base;
    rollback(base);
    store_finalize(self->statements, STORE_STATEMENTS);
    sqlite3_close(self->database);
    store_release_locks(&self->locks);
    joining_free(base->joining);
    blobs_close(base->blobs);
    memory_release(&base->memory);
}

static ee_status create_reader(store *base, store_reader **out, ee_error *error)
{
    return sqlite_reader_open(((sqlite_store *)base)->folder, out, error);
}

static const store_methods methods = {
    .close = close_store,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .fetch = sqlite_fetch,
    .fetch_slots = sqlite_fetch_slots,
    .fetch_waiting = sqlite_fetch_waiting,
    .apply = sqlite_apply,
    .write_clock = write_clock,
    .probe = probe,
    .remove = sqlite_remove,
    .erase = sqlite_erase,
    .overwrite = sqlite_overwrite,
    .scrub = sqlite_scrub,
    .purge = sqlite_purge,
    .purge_some = sqlite_purge_some,
    .purge_end = sqlite_purge_end,
    .purge_next = sqlite_purge_next,
    .create_reader = create_reader,
    .bytes = count_bytes,
    .disk_space = disk_space,
};

ee_status sqlite_store_open(const char *folder, store **out, ee_error *error)
{
    sqlite_store *self;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->base.methods = &methods;
    self->locks = STORE_UNLOCKED;
    status = open_all(self, folder, error);
    if (status)
        close_store(&self->base);
    else
        *out = &self->base;
    return status;
}
