#define _POSIX_C_SOURCE 200809L
#include "store_repair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "serve/store/row_checksum.h"
#include "store_derive.h"

enum {
    COPY_EVENT,
    COPY_BANDIT,
    COPY_CLOCK,
    SUM_NEW_CLOCK,
    SET_NEW_END,
    SET_BANDIT,
    ADD_DECISION,
    ADD_ID,
    ADD_REWARD_ID,
    ADD_UNCLAIMED,
    KEEP_REWARD_ID,
    ADD_NEW_END,
    LOG,
    REBUILD_STATEMENTS
};

static const char *const sql[REBUILD_STATEMENTS] = {
    [COPY_EVENT] = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [COPY_BANDIT] = "INSERT INTO bandits (number, name, archived, first_settings, checksum, purged)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [COPY_CLOCK] = "INSERT INTO clock VALUES (?1, ?2, ?3, ?4)",
    [SUM_NEW_CLOCK] = STORE_CLOCK_SUMS_SQL,
    [SET_NEW_END] = STORE_SET_END_SQL,
    [SET_BANDIT] = "UPDATE bandits SET settings = ?2, settled_to = ?3 WHERE number = ?1",
    [ADD_DECISION] = "INSERT INTO decisions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [ADD_ID] = "INSERT INTO ids VALUES (?1, ?2, ?3)",
    [ADD_REWARD_ID] = "INSERT INTO reward_ids VALUES (?1, ?2, ?3, ?4, ?5)",
    [ADD_UNCLAIMED] = "INSERT INTO unclaimed VALUES (?1, ?2, ?3)",
    [KEEP_REWARD_ID] = "INSERT OR IGNORE INTO reward_ids SELECT ?1, ?2, ?3, ?4, ?5"
                       " WHERE EXISTS (SELECT 1 FROM ids WHERE bandit = ?1 AND id = ?2)",
    [ADD_NEW_END] = STORE_ADD_END_SQL,
    [LOG] = STORE_EVENT_COLUMNS " WHERE place > ?1 AND place < ?2 ORDER BY place",
};

typedef struct rebuild {
    const check_request *request;
    repair_result *result;
    sqlite3 *from, *to;
    sqlite3_stmt *statements[REBUILD_STATEMENTS];
    derivation *rows;
    char *draft; /* the folder of the new database */
} rebuild;

static ee_status run(rebuild *self, int which, ee_error *error)
{
    int code = sqlite3_step(self->statements[which]);
    sqlite3_reset(self->statements[which]);
    return code == SQLITE_DONE ? EE_OK : store_fail(self->to, "write the new eenet.db", error);
}

static bool goes_on(const rebuild *self, const char *what)
{
    return !self->request->progress || self->request->progress(self->request->context, what, -1);
}

/* ---- copies ---- */

/* Every row that the question gives becomes one of the statement. */
static ee_status copy_rows(rebuild *self, const char *question, int which, ee_error *error)
{
    enum { ROWS = 4096 };
    sqlite3_stmt *row = NULL;
    ee_status status = EE_OK;
    uint64_t done = 0;
    int code = sqlite3_prepare_v2(self->from, question, -1, &row, NULL);
    while (!code && !status && (code = sqlite3_step(row)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(row); i++)
            sqlite3_bind_value(self->statements[which], i + 1, sqlite3_column_value(row, i));
        status = run(self, which, error);
        code = SQLITE_OK;
        if (!status && ++done % ROWS == 0 && !goes_on(self, "rebuilding"))
            status = status_fail(error, EE_FILE_ERROR, "store: the repair was interrupted");
    }
    if (!status && code != SQLITE_DONE) status = store_fail(self->from, "read eenet.db", error);
    sqlite3_finalize(row);
    return status;
}

/* ---- derived rows ---- */

static ee_status add_decision(void *context, uint32_t bandit, const stored_decision *of, ee_error *error)
{
    rebuild *self = context;
    sqlite3_stmt *into = self->statements[ADD_DECISION];
    const int64_t integers[] = {store_place(bandit, of->number), of->time,    (int64_t)of->request[0],
                                (int64_t)of->request[1],         of->rewards, (int64_t)of->settled};
    for (int i = 0; i < 6; i++) sqlite3_bind_int64(into, i + 1, integers[i]);
    sqlite3_bind_double(into, 7, of->value);
    sqlite3_bind_int(into, 8, of->inactive);
    sqlite3_bind_int64(into, 9, of->slots);
    uint8_t metrics[METRIC_VALUES_SIZE];
    if (of->metrics)
        sqlite3_bind_blob64(into, 10, metrics, metric_values_write(of->metrics, metrics), SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(into, 10);
    return run(self, ADD_DECISION, error);
}

static ee_status add_numbered(rebuild *self, int which, uint32_t bandit, json_text id, uint64_t number, ee_error *error)
{
    sqlite3_bind_int64(self->statements[which], 1, bandit);
    store_bind_text(self->statements[which], 2, id);
    sqlite3_bind_int64(self->statements[which], 3, (int64_t)number);
    return run(self, which, error);
}

static ee_status add_id(void *context, uint32_t bandit, json_text id, uint64_t number, ee_error *error)
{
    return add_numbered(context, ADD_ID, bandit, id, number, error);
}

static ee_status add_unclaimed(void *context, uint32_t bandit, json_text id, uint64_t number, ee_error *error)
{
    return add_numbered(context, ADD_UNCLAIMED, bandit, id, number, error);
}

static ee_status add_reward_id(void *context, uint32_t bandit, const event *reward, ee_error *error)
{
    rebuild *self = context;
    sqlite3_stmt *into = self->statements[ADD_REWARD_ID];
    sqlite3_bind_int64(into, 1, bandit);
    store_bind_text(into, 2, reward->id);
    store_bind_text(into, 3, reward->reward_id);
    sqlite3_bind_double(into, 4, reward_id_value(reward));
    sqlite3_bind_int64(into, 5, reward->outcome);
    return run(self, ADD_REWARD_ID, error);
}

/* The ids of rewards that came before their decision and whose events were removed are only in the damaged table: those
 * that can be read are kept. *sum becomes the sum of their checksums. */
static void keep_reward_ids(rebuild *self, uint32_t bandit, uint64_t *sum)
{
    static const char question[] =
        "SELECT bandit, id, reward_id, value, outcome FROM reward_ids WHERE bandit = ?1 AND outcome = 4";
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(self->from, question, -1, &row, NULL);
    if (!code) sqlite3_bind_int64(row, 1, bandit);
    while (!code && (code = sqlite3_step(row)) == SQLITE_ROW) {
        for (int i = 0; i < 5; i++)
            sqlite3_bind_value(self->statements[KEEP_REWARD_ID], i + 1, sqlite3_column_value(row, i));
        bool kept = !run(self, KEEP_REWARD_ID, NULL) && sqlite3_changes(self->to) > 0;
        row_checksum of = {0};
        row_add_columns(&of, row, 0, 5);
        if (kept) *sum += (uint64_t)row_checksum_end(&of);
        code = SQLITE_OK;
    }
    if (code != SQLITE_DONE) self->result->ids_lost = true;
    sqlite3_finalize(row);
}

/* ---- a bandit ---- */

/* What log_ends had; {0} if that is damaged. */
static stored_end find_end(rebuild *self, uint32_t bandit)
{
    sqlite3_stmt *row = NULL;
    stored_end end = {0}, found;
    if (!sqlite3_prepare_v2(self->from, STORE_READ_END_SQL, -1, &row, NULL)) sqlite3_bind_int64(row, 1, bandit);
    if (sqlite3_step(row) == SQLITE_ROW && store_column_end(row, &found)) end = found;
    sqlite3_finalize(row);
    return end;
}

static ee_status derive_rows(rebuild *self, uint32_t bandit, stored_end *end, ee_error *error)
{
    sqlite3_stmt *log = self->statements[LOG];
    ee_status status = EE_OK;
    sqlite3_bind_int64(log, 1, store_place(bandit, 0));
    sqlite3_bind_int64(log, 2, store_place(bandit + 1, 0));
    for (int code; !status && (code = sqlite3_step(log)) != SQLITE_DONE;) {
        event next = {0};
        if (code != SQLITE_ROW)
            status = store_fail(self->to, "read the new eenet.db", error);
        else
            status = store_column_event(log, &next, error);
        if (!status) status = derivation_add(self->rows, &next, error);
        if (!status) end->sum += (uint64_t)sqlite3_column_int64(log, 9);
        if (!status) end->last = next.number;
    }
    sqlite3_reset(log);
    return status ? status : derivation_end(self->rows, error);
}

static ee_status rebuild_bandit(rebuild *self, const stored_bandit *bandit, ee_error *error)
{
    uint32_t number = bandit->number;
    stored_end before = find_end(self, number), end = {.first = bandit->first_event ? bandit->first_event : 1};
    ee_status status = derivation_begin(self->rows, number, end.first, bandit->settings, error);
    if (!status) status = derive_rows(self, number, &end, error);
    if (status) return status;
    uint64_t pending = derivation_first_pending(self->rows);
    end.settled_to = pending <= end.last ? pending - 1 : end.last;
    keep_reward_ids(self, number, &end.kept);
    if (before.first && before.kept != end.kept) self->result->ids_lost = true;
    sqlite3_bind_int64(self->statements[SET_BANDIT], 1, number);
    store_bind_text(self->statements[SET_BANDIT], 2, derivation_settings(self->rows));
    sqlite3_bind_int64(self->statements[SET_BANDIT], 3, (int64_t)end.settled_to);
    status = run(self, SET_BANDIT, error);
    store_bind_end(self->statements[ADD_NEW_END], number, &end);
    return status ? status : run(self, ADD_NEW_END, error);
}

static ee_status rebuild_bandits(rebuild *self, ee_error *error)
{
    static const char question[] =
        "SELECT number, first_settings, (SELECT min(place) & 0xffffffffff FROM events WHERE place > number << 40"
        " AND place < number + 1 << 40) FROM bandits ORDER BY number";
    sqlite3_stmt *row = NULL;
    ee_status status = EE_OK;
    int code = sqlite3_prepare_v2(self->to, question, -1, &row, NULL);
    while (!code && !status && (code = sqlite3_step(row)) == SQLITE_ROW) {
        stored_bandit bandit = {.number = (uint32_t)sqlite3_column_int64(row, 0),
                                .settings = store_column_text(row, 1),
                                .first_event = (uint64_t)sqlite3_column_int64(row, 2)};
        status = rebuild_bandit(self, &bandit, error);
        code = SQLITE_OK;
    }
    if (!status && code != SQLITE_DONE) status = store_fail(self->to, "read the new eenet.db", error);
    sqlite3_finalize(row);
    return status;
}

/* ---- the new database ---- */

/* Without a journal: the file counts only once it is whole. */
static ee_status fill(rebuild *self, ee_error *error)
{
    derived_rows rows = {add_decision, add_id, add_reward_id, add_unclaimed, self};
    ee_status status = store_create_tables(self->to, error);
    if (!status &&
        sqlite3_exec(self->to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL))
        status = store_fail(self->to, "create the new eenet.db", error);
    if (!status) status = store_prepare(self->to, sql, REBUILD_STATEMENTS, self->statements, error);
    if (!status) status = derivation_create(self->to, &rows, &self->rows, error);
    if (!status)
        status = copy_rows(
            self, "SELECT number, name, archived, first_settings, checksum, purged FROM bandits ORDER BY number",
            COPY_BANDIT, error);
    if (!status) status = copy_rows(self, STORE_EVENT_COLUMNS " NOT INDEXED ORDER BY place", COPY_EVENT, error);
    stored_end clock = find_end(self, CLOCK_END);
    if (!status && (!clock.first || clock.last)) /* else it has no rows, and may not be readable */
        status = copy_rows(self, "SELECT time, ahead, in_doubt, checksum FROM clock", COPY_CLOCK, error);
    if (!status)
        status =
            store_change_clock_end(self->to, self->statements[SUM_NEW_CLOCK], self->statements[SET_NEW_END], error);
    if (!status) status = rebuild_bandits(self, error);
    derivation_free(self->rows);
    store_finalize(self->statements, REBUILD_STATEMENTS);
    if (!status && sqlite3_exec(self->to, "COMMIT", NULL, NULL, NULL))
        status = store_fail(self->to, "write the new eenet.db", error);
    return status;
}

static ee_status make_database(rebuild *self, const char *path, ee_error *error)
{
    ee_status status = EE_OK;
    unlink(path);
    if (sqlite3_open_v2(path, &self->to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        status = store_fail(self->to, "create the new eenet.db", error);
    if (!status) status = fill(self, error);
    sqlite3_close(self->to);
    return status;
}

static ee_status check_new(const rebuild *self, ee_error *error)
{
    check_result found;
    check_request again = {.folder = self->draft, .database_only = true};
    ee_status status = store_check_folder(&again, &found, error);
    if (!status && check_damages(&found))
        status = status_fail(error, EE_FILE_ERROR, "store: the new eenet.db is damaged, and was thrown away: %s",
                             found.first);
    return status;
}

/* ---- the swap ---- */

/* Syncs the new file, gives it the rights of the old one, and keeps that under another name. */
static ee_status swap(rebuild *self, const char *new, ee_error *error)
{
    char *old = NULL, *kept = NULL;
    struct stat about;
    ee_status status = file_join(self->request->folder, "eenet.db", &old, error);
    int file = open(new, O_RDWR | O_CLOEXEC), failed = file < 0 ? errno : 0;
    if (!status && !failed && (stat(old, &about) || fchmod(file, about.st_mode & 0777) || fsync(file))) failed = errno;
    if (file >= 0) close(file);
    for (int i = 1; !status && !failed; i++) {
        snprintf(self->result->kept, sizeof self->result->kept, "eenet.db.damaged-%d", i);
        memory_free(kept);
        status = file_join(self->request->folder, self->result->kept, &kept, error);
        if (!status && !link(old, kept)) break;
        if (!status && errno != EEXIST) failed = errno;
    }
    if (!status && !failed && rename(new, old)) failed = errno;
    if (!status && failed)
        status = status_fail(error, EE_FILE_ERROR, "store: could not replace eenet.db: %s", strerror(failed));
    memory_free(old);
    memory_free(kept);
    return status ? status : file_sync_folder(self->request->folder, error);
}

static ee_status rebuild_database(rebuild *self, ee_error *error)
{
    char *path = NULL;
    ee_status status = file_join(self->request->folder, "repair.partial", &self->draft, error);
    if (!status) status = file_make_folder(self->draft, error);
    if (!status) status = file_join(self->draft, "eenet.db", &path, error);
    if (!status) status = store_connect(self->request->folder, STORE_READS, &self->from, error);
    if (!status) status = make_database(self, path, error);
    sqlite3_close(self->from);
    if (!status) status = check_new(self, error);
    if (!status) status = swap(self, path, error);
    self->result->rebuilt = !status;
    if (path) unlink(path);
    if (self->draft) rmdir(self->draft);
    memory_free(path);
    memory_free(self->draft);
    return status;
}

/* ---- the whole ---- */

/* Moves the write-ahead log into the database: it must not be found beside the new one. */
static ee_status empty_log(const char *folder, ee_error *error)
{
    char *path = NULL, *log = NULL;
    sqlite3 *database = NULL;
    struct stat about;
    ee_status status = file_join(folder, "eenet.db", &path, error);
    if (!status) status = file_join(folder, "eenet.db-wal", &log, error);
    if (!status && stat(log, &about) == 0) {
        if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ||
            sqlite3_exec(database, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL))
            status = store_fail(database, "empty eenet.db-wal", error);
        sqlite3_close(database);
        if (!status && stat(log, &about) == 0 && about.st_size > 0)
            status =
                status_fail(error, EE_FILE_ERROR, "store: another process uses eenet.db; stop it before the repair");
    }
    memory_free(path);
    memory_free(log);
    return status;
}

static ee_status repair(rebuild *self, ee_error *error)
{
    check_result *before = &self->result->before;
    ee_status status = empty_log(self->request->folder, error);
    if (!status) status = store_check_folder(self->request, before, error);
    if (status) return status;
    if (before->partial)
        return status_fail(error, EE_FILE_ERROR,
                           "store: eenet.db is of an older version; start the server on it once to upgrade it");
    if (before->log)
        return status_fail(error, EE_FILE_ERROR,
                           "store: the log itself is damaged, and only a backup has what is missing: restore one");
    return before->structure || before->tables ? rebuild_database(self, error) : EE_OK;
}

ee_status store_repair(const check_request *request, repair_result *out, ee_error *error)
{
    rebuild self = {.request = request, .result = out};
    sqlite3 *database;
    store_locks locks = STORE_UNLOCKED;
    *out = (repair_result){0};
    ee_status status = store_connect(request->folder, STORE_COPIES, &database, error); /* it makes no folder */
    if (status) return status;
    sqlite3_close(database);
    status = store_take_locks(request->folder, &locks, error);
    if (!status) status = repair(&self, error);
    store_release_locks(&locks);
    return status;
}
