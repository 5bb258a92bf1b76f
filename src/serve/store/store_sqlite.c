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

/* A bandit's name is unique: nothing else may be in an INSERT's way. */
static const char *const sql[STORE_STATEMENTS] = {
    [WRITE_BEGIN] = "BEGIN IMMEDIATE",
    [WRITE_COMMIT] = "COMMIT",
    [WRITE_ROLLBACK] = "ROLLBACK",
    [WRITE_BANDIT] = "INSERT OR IGNORE INTO bandits (number, name) VALUES (?1, ?2)",
    [WRITE_CHANGE] = "UPDATE bandits SET archived = ?2, settled_to = ?3, settings = coalesce(?4, settings)"
                     " WHERE number = ?1",
    [WRITE_EVENT] = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [FIND_DECISION] =
        STORE_DECISION_COLUMNS " WHERE place = (?1 << 40 | (SELECT number FROM ids WHERE bandit = ?1 AND id = ?2))",
    [GET_DECISION] = STORE_DECISION_COLUMNS " WHERE place = ?1",
    [WRITE_DECISION] = "INSERT INTO decisions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [WRITE_ID] = "INSERT INTO ids VALUES (?1, ?2, ?3)",
    [CHANGE_DECISION] = "UPDATE decisions SET rewards = ?2, settled = ?3, value = ?4, inactive = ?5 WHERE place = ?1",
    [FIND_WAITING] = STORE_DECISION_COLUMNS " WHERE place > ?1 AND place < ?2 ORDER BY place",
    [FIND_REWARD_ID] = "SELECT value, outcome FROM reward_ids WHERE bandit = ?1 AND id = ?2 AND reward_id = ?3",
    [WRITE_REWARD_ID] = "INSERT INTO reward_ids VALUES (?1, ?2, ?3, ?4, ?5)",
    [WRITE_UNCLAIMED] = "INSERT INTO unclaimed VALUES (?1, ?2, ?3)",
    [FIND_UNCLAIMED] = "SELECT number, kind, value FROM unclaimed LEFT JOIN events ON place = (?1 << 40 | number)"
                       " WHERE bandit = ?1 AND unclaimed.id = ?2 ORDER BY number LIMIT 1",
    [REMOVE_UNCLAIMED] = "DELETE FROM unclaimed WHERE bandit = ?1 AND id = ?2 AND number = ?3",
    [FIND_OLDEST] = "SELECT place, kind, time, id, decision, reward_id FROM events"
                    " WHERE place > ?1 AND place < ?2 ORDER BY place",
    [COUNT_OPEN] = "SELECT count(*) FROM decisions WHERE place >= ?1 AND place < ?2 AND settled = 0",
    [REMOVE_EVENTS] = "DELETE FROM events WHERE place > ?1 AND place <= ?2",
    [REMOVE_DECISION] = "DELETE FROM decisions WHERE place = ?1",
    [REMOVE_ID] = "DELETE FROM ids WHERE bandit = ?1 AND id = ?2",
    [REMOVE_REWARD_IDS] = "DELETE FROM reward_ids WHERE bandit = ?1 AND id = ?2",
    [REMOVE_REWARD_ID] = "DELETE FROM reward_ids WHERE bandit = ?1 AND id = ?2 AND reward_id = ?3",
    [WRITE_CLOCK] = "INSERT OR REPLACE INTO clock VALUES (?1, ?2, ?3)",
};

/* ---- opening ---- */

static ee_status take_lock(store *self, ee_error *error)
{
    char *path;
    ee_status status = file_join(self->folder, "lock", &path, error);
    if (status) return status;
    self->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    int failed = self->lock < 0 || flock(self->lock, LOCK_EX | LOCK_NB) ? errno : 0;
    if (self->lock >= 0 && failed == EWOULDBLOCK)
        status = status_fail(error, EE_FILE_ERROR, "store: another process is serving %s", file_tail(self->folder));
    else if (failed)
        status = status_fail(error, EE_FILE_ERROR, "store: could not lock %s: %s", file_tail(path), strerror(failed));
    memory_free(path);
    return status;
}

/* Adds the bandits in the order of their numbers, which have no gaps: none is ever removed. */
static ee_status add_entry(store *self, bandit_state state, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &self->bandits, &self->bandit_capacity, self->bandit_count + 1,
                                   sizeof *self->bandits, error);
    if (!status) self->bandits[self->bandit_count++] = (bandit_entry){state, state, false};
    return status;
}

static ee_status load_bandits(store *self, ee_error *error)
{
    enum { NUMBERS, UNCLAIMED, ENDS, COUNT };
    static const char *const questions[COUNT] = {
        [NUMBERS] = "SELECT number FROM bandits ORDER BY number",
        [UNCLAIMED] = "SELECT count(*) FROM unclaimed WHERE bandit = ?1",
        [ENDS] = STORE_ENDS_SQL,
    };
    sqlite3_stmt *statements[COUNT] = {0};
    ee_status status = store_prepare(self->database, questions, COUNT, statements, error);
    if (status) return status;
    int code;
    while (!status && (code = sqlite3_step(statements[NUMBERS])) != SQLITE_DONE) {
        uint32_t number = (uint32_t)self->bandit_count + 1;
        store_ends ends;
        if (code != SQLITE_ROW)
            status = store_fail(self->database, "read the bandits", error);
        else if (sqlite3_column_int64(statements[NUMBERS], 0) != number)
            status = status_fail(error, EE_FILE_ERROR, "store: eenet.db is damaged: bandit %u is missing", number);
        if (!status) status = store_find_ends(self->database, statements[ENDS], number, &ends, error);
        if (status) break;
        sqlite3_bind_int64(statements[UNCLAIMED], 1, number);
        if (sqlite3_step(statements[UNCLAIMED]) != SQLITE_ROW)
            status = store_fail(self->database, "count the unclaimed rewards", error);
        uint64_t unclaimed = (uint64_t)sqlite3_column_int64(statements[UNCLAIMED], 0);
        sqlite3_reset(statements[UNCLAIMED]);
        if (!status) status = add_entry(self, (bandit_state){ends.last, ends.time, unclaimed}, error);
    }
    self->committed_count = self->bandit_count;
    store_finalize(statements, COUNT);
    return status;
}

static int count_pages(void *context, sqlite3 *database, const char *name, int pages)
{
    (void)database;
    (void)name;
    ((store *)context)->log_pages = pages;
    return SQLITE_OK;
}

static ee_status open_all(store *self, const char *folder, ee_error *error)
{
    self->lock = -1;
    size_t size = strlen(folder) + 1;
    ee_status status = memory_create(&self->memory, &self->folder, size, 1, error);
    if (status) return status;
    memcpy(self->folder, folder, size);
    status = file_make_folder(folder, error);
    if (!status) status = take_lock(self, error);
    if (!status) store_sweep_models(folder);
    if (!status) status = store_connect(folder, STORE_WRITES, &self->database, error);
    if (!status) status = store_prepare(self->database, sql, STORE_STATEMENTS, self->statements, error);
    if (!status) status = load_bandits(self, error);
    if (!status) status = file_sync_folder(folder, error); /* the database may be new in it */
    if (!status) sqlite3_wal_hook(self->database, count_pages, self);
    return status;
}

ee_status store_open(const char *folder, store **out, ee_error *error)
{
    store *self;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    status = open_all(self, folder, error);
    if (status)
        store_close(self);
    else
        *out = self;
    return status;
}

void store_close(store *self)
{
    if (!self) return;
    if (self->begun) store_rollback(self);
    store_finalize(self->statements, STORE_STATEMENTS);
    sqlite3_close(self->database);
    if (self->lock >= 0) close(self->lock);
    memory_release(&self->memory);
}

/* ---- statements ---- */

static ee_status break_off(store *self, const char *what, ee_error *error)
{
    store_fail(self->database, what, &self->trouble);
    if (error) *error = self->trouble;
    return self->trouble.status;
}

ee_status store_step(store *self, int which, const char *what, bool *row, ee_error *error)
{
    int code = sqlite3_step(self->statements[which]);
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return EE_OK;
    ee_status status = break_off(self, what, error);
    sqlite3_reset(self->statements[which]);
    return status;
}

ee_status store_run(store *self, int which, const char *what, ee_error *error)
{
    bool row;
    ee_status status = store_step(self, which, what, &row, error);
    sqlite3_reset(self->statements[which]);
    return status;
}

ee_status store_check(const store *self, ee_error *error)
{
    if (!self->begun) return status_fail(error, EE_BAD_INPUT, "store: no transaction is open");
    if (self->trouble.status && error) *error = self->trouble;
    return self->trouble.status;
}

ee_status store_change(store *self, uint32_t bandit, bandit_entry **out, ee_error *error)
{
    ee_status status = store_check(self, error);
    if (status) return status;
    if (!bandit || bandit > self->bandit_count)
        return status_fail(error, EE_BAD_INPUT, "store: there is no bandit %u", bandit);
    bandit_entry *entry = *out = &self->bandits[bandit - 1];
    if (entry->changed) return EE_OK;
    status = memory_grow(&self->memory, &self->changed, &self->changed_capacity, self->changed_count + 1,
                         sizeof *self->changed, error);
    if (status) return status;
    self->changed[self->changed_count++] = bandit;
    entry->changed = true;
    return EE_OK;
}

/* ---- transactions ---- */

/* Moves the log of transactions (eenet.db-wal) into the database, so that it can start anew. SQLite would do it within
 * a commit; here those who wait for the last commit have been told. Another thread beside the writer is worse: at
 * 30,000 rewards a second it never ends, and the 99th percentile of an answer was 12 to 315 ms, and not 5. What fails,
 * as on a full disk, is tried again before the next transaction: the log has everything. */
static void move_log(store *self)
{
    enum { PAGES = 1000 }; /* 8 MB, as SQLite has it */
    if (self->log_pages < PAGES) return;
    sqlite3_wal_checkpoint_v2(self->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

ee_status store_begin(store *self, ee_error *error)
{
    if (self->begun) return status_fail(error, EE_BAD_INPUT, "store: a transaction is already open");
    move_log(self);
    ee_status status = store_run(self, WRITE_BEGIN, "begin a transaction", error);
    self->trouble = (ee_error){0};
    self->begun = !status;
    return status;
}

static void end_transaction(store *self, bool committed)
{
    self->begun = false;
    if (committed)
        self->committed_count = self->bandit_count;
    else
        self->bandit_count = self->committed_count;
    for (size_t i = 0; i < self->changed_count; i++) {
        bandit_entry *entry = &self->bandits[self->changed[i] - 1];
        if (committed)
            entry->committed = entry->now;
        else
            entry->now = entry->committed;
        entry->changed = false;
    }
    self->changed_count = 0;
}

ee_status store_commit(store *self, ee_error *error)
{
    ee_status status = store_check(self, error);
    if (!status) status = store_run(self, WRITE_COMMIT, "commit a transaction", error);
    if (status)
        store_rollback(self);
    else
        end_transaction(self, true);
    return status;
}

void store_rollback(store *self)
{
    if (!self->begun) return;
    /* What fails may have been rolled back by SQLite already. */
    if (!sqlite3_get_autocommit(self->database)) {
        sqlite3_step(self->statements[WRITE_ROLLBACK]);
        sqlite3_reset(self->statements[WRITE_ROLLBACK]);
    }
    end_transaction(self, false);
}

/* ---- bandits and events ---- */

ee_status store_add_bandit(store *self, json_text name, uint32_t *number, ee_error *error)
{
    ee_status status = store_check(self, error);
    if (status) return status;
    sqlite3_bind_int64(self->statements[WRITE_BANDIT], 1, (int64_t)self->bandit_count + 1);
    store_bind_text(self->statements[WRITE_BANDIT], 2, name);
    status = store_run(self, WRITE_BANDIT, "add a bandit", error);
    if (!status && sqlite3_changes(self->database) == 0)
        status =
            status_fail(error, EE_BAD_INPUT, "store: the bandit '%.*s' already exists", (int)name.length, name.bytes);
    if (!status) status = add_entry(self, (bandit_state){0}, error);
    if (!status) *number = (uint32_t)self->bandit_count;
    return status;
}

ee_status store_put_bandit(store *self, const stored_bandit *bandit, ee_error *error)
{
    sqlite3_stmt *statement = self->statements[WRITE_CHANGE];
    ee_status status = store_check(self, error);
    if (status) return status;
    sqlite3_bind_int64(statement, 1, bandit->number);
    sqlite3_bind_int(statement, 2, bandit->archived);
    sqlite3_bind_int64(statement, 3, (int64_t)bandit->settled_to);
    store_bind_text(statement, 4, bandit->settings);
    status = store_run(self, WRITE_CHANGE, "change a bandit", error);
    if (!status && sqlite3_changes(self->database) == 0)
        status = status_fail(error, EE_BAD_INPUT, "store: there is no bandit %u", bandit->number);
    return status;
}

static void bind_event(sqlite3_stmt *statement, uint32_t bandit, const event *new)
{
    bool rewarded = new->kind == EVENT_REWARD || new->kind == EVENT_SETTLED;
    bool judged = rewarded || new->kind == EVENT_ACTIVATED;
    sqlite3_bind_int64(statement, 1, store_place(bandit, new->number));
    sqlite3_bind_int(statement, 2, (int)new->kind);
    sqlite3_bind_int64(statement, 3, new->time);
    store_bind_text(statement, 4, new->id);
    if (new->decision)
        sqlite3_bind_int64(statement, 5, (int64_t) new->decision);
    else
        sqlite3_bind_null(statement, 5);
    if (rewarded)
        sqlite3_bind_double(statement, 6, new->value);
    else
        sqlite3_bind_null(statement, 6);
    if (judged)
        sqlite3_bind_int(statement, 7, (int)new->outcome);
    else
        sqlite3_bind_null(statement, 7);
    store_bind_text(statement, 8, new->reward_id);
    if (new->size)
        sqlite3_bind_blob64(statement, 9, new->body, new->size, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, 9);
}

ee_status store_append(store *self, uint32_t bandit, const event *new, ee_error *error)
{
    enum { MOST_BYTES = 500000000 }; /* SQLite takes 10^9 in a row */
    bandit_entry *entry = NULL;
    ee_status status = store_change(self, bandit, &entry, error);
    if (status) return status;
    if (new->size > MOST_BYTES)
        return status_fail(error, EE_BAD_INPUT, "store: an event of %zu bytes is too large", new->size);
    if (new->number != entry->now.events + 1 || new->number >> STORE_NUMBER_BITS || new->time < entry->now.time)
        return status_fail(error, EE_BAD_INPUT, "store: event %llu does not follow %llu of bandit %u",
                           (unsigned long long)new->number, (unsigned long long)entry->now.events, bandit);
    bind_event(self->statements[WRITE_EVENT], bandit, new);
    status = store_run(self, WRITE_EVENT, "append an event", error);
    if (status) return status;
    entry->now.events = new->number;
    entry->now.time = new->time;
    return EE_OK;
}

ee_status store_put_clock(store *self, const stored_clock *clock, ee_error *error)
{
    sqlite3_stmt *statement = self->statements[WRITE_CLOCK];
    ee_status status = store_check(self, error);
    if (status) return status;
    sqlite3_bind_int64(statement, 1, clock->time);
    sqlite3_bind_int64(statement, 2, clock->ahead);
    sqlite3_bind_int(statement, 3, clock->in_doubt);
    return store_run(self, WRITE_CLOCK, "write the state of the clock", error);
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

uint64_t store_bytes(const store *self)
{
    return file_bytes(self->folder, "eenet.db") + file_bytes(self->folder, "eenet.db-wal") +
           store_model_bytes(self->folder);
}

bool store_disk_space(const store *self, store_space *out)
{
    struct statvfs disk;
    if (statvfs(self->folder, &disk)) return false;
    *out = (store_space){(uint64_t)disk.f_blocks * disk.f_frsize, (uint64_t)disk.f_bavail * disk.f_frsize};
    return true;
}
