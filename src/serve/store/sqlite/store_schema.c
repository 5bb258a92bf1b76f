/* The tables of the store, their upgrades, and connections. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "serve/store/row_checksum.h"
#include "store_sqlite.h"

/* In the head of the file: this is a store of ours. ("EENT") */
enum { APPLICATION = 0x45454e54 };

/* Never change a step that was released: add one. Each begins where the one before it ended.
 *
 * decisions has what joining changes, apart from the events, which never change: small rows, many to a page, and the
 * ones that change lie together. ids and reward_ids are what makes everything happen once. */
static const char *const steps[] = {
    /* 1 */
    "CREATE TABLE bandits (\n"
    "  number INTEGER PRIMARY KEY,\n"
    "  name TEXT NOT NULL UNIQUE,\n"
    "  archived INTEGER NOT NULL DEFAULT 0,\n"
    "  settled_to INTEGER NOT NULL DEFAULT 0, -- all decisions up to this event are settled\n"
    "  settings TEXT -- those in force\n"
    ");"
    "CREATE TABLE events (\n"
    "  place INTEGER PRIMARY KEY, -- bandit << 40 | number\n"
    "  kind INTEGER NOT NULL, -- see the view log\n"
    "  time INTEGER NOT NULL, -- microseconds since 1970\n"
    "  id TEXT,\n"
    "  decision INTEGER, -- number of the decision that a reward or a settlement is of\n"
    "  value REAL,\n"
    "  outcome INTEGER, -- see the view log\n"
    "  reward_id TEXT,\n"
    "  body BLOB\n"
    ");"
    "CREATE INDEX rare_events ON events (kind, place) WHERE kind >= 4;"
    "CREATE TABLE decisions (\n"
    "  place INTEGER PRIMARY KEY,\n"
    "  time INTEGER NOT NULL,\n"
    "  request_a INTEGER NOT NULL, -- checksum of the request\n"
    "  request_b INTEGER NOT NULL,\n"
    "  rewards INTEGER NOT NULL,\n"
    "  settled INTEGER NOT NULL,\n"
    "  value REAL NOT NULL\n"
    ");"
    "CREATE TABLE ids (\n"
    "  bandit INTEGER NOT NULL,\n"
    "  id TEXT NOT NULL,\n"
    "  number INTEGER NOT NULL,\n"
    "  PRIMARY KEY (bandit, id)\n"
    ") WITHOUT ROWID;"
    "CREATE TABLE reward_ids (\n"
    "  bandit INTEGER NOT NULL,\n"
    "  id TEXT NOT NULL,\n"
    "  reward_id TEXT NOT NULL,\n"
    "  value REAL NOT NULL,\n"
    "  outcome INTEGER NOT NULL,\n"
    "  PRIMARY KEY (bandit, id, reward_id)\n"
    ") WITHOUT ROWID;"
    "CREATE TABLE unclaimed (\n"
    "  bandit INTEGER NOT NULL,\n"
    "  id TEXT NOT NULL,\n"
    "  number INTEGER NOT NULL,\n"
    "  PRIMARY KEY (bandit, id, number)\n"
    ") WITHOUT ROWID;"
    /* The log as a person reads it. */
    "CREATE VIEW log AS SELECT\n"
    "  bandits.name AS bandit,\n"
    "  place & 0xffffffffff AS number,\n"
    "  CASE kind WHEN 1 THEN 'decision' WHEN 2 THEN 'reward' WHEN 3 THEN 'settled' WHEN 4 THEN 'step'\n"
    "    WHEN 5 THEN 'checkpoint' WHEN 6 THEN 'settings' WHEN 7 THEN 'model' END AS kind,\n"
    "  strftime('%Y-%m-%dT%H:%M:%S', time / 1000000, 'unixepoch') || printf('.%06dZ', time % 1000000) AS time,\n"
    "  id, decision, value,\n"
    "  CASE outcome WHEN 1 THEN 'joined' WHEN 2 THEN 'repeated' WHEN 3 THEN 'late' WHEN 4 THEN 'unknown'\n"
    "    WHEN 5 THEN 'claimed' WHEN 6 THEN 'rewarded' WHEN 7 THEN 'default' WHEN 8 THEN 'nothing' END AS outcome,\n"
    "  reward_id, length(body) AS bytes\n"
    "FROM events JOIN bandits ON bandits.number = place >> 40;",
    /* 2: decisions.settled was 1, and is the number of the event now. Activations are many: they have no index. */
    "ALTER TABLE decisions ADD COLUMN inactive INTEGER NOT NULL DEFAULT 0; -- deferred and not activated yet\n"
    "ALTER TABLE decisions ADD COLUMN slots INTEGER NOT NULL DEFAULT 0; -- of the round, at its first slot\n"
    "UPDATE decisions SET settled = 0;"
    "UPDATE decisions SET settled = ended.number FROM\n"
    "  (SELECT place >> 40 << 40 | decision AS of, place & 0xffffffffff AS number FROM events WHERE kind = 3) AS "
    "ended\n"
    "  WHERE place = ended.of;"
    "DROP INDEX rare_events;"
    "CREATE INDEX rare_events ON events (kind, place) WHERE kind >= 4 AND kind <> 8;"
    "DROP VIEW log;"
    "CREATE VIEW log AS SELECT\n"
    "  bandits.name AS bandit,\n"
    "  place & 0xffffffffff AS number,\n"
    "  CASE kind WHEN 1 THEN 'decision' WHEN 2 THEN 'reward' WHEN 3 THEN 'settled' WHEN 4 THEN 'step'\n"
    "    WHEN 5 THEN 'checkpoint' WHEN 6 THEN 'settings' WHEN 7 THEN 'model' WHEN 8 THEN 'activated'\n"
    "    WHEN 9 THEN 'promotion' END AS kind,\n"
    "  strftime('%Y-%m-%dT%H:%M:%S', time / 1000000, 'unixepoch') || printf('.%06dZ', time % 1000000) AS time,\n"
    "  replace(id, char(31), '/') AS id, decision, value,\n"
    "  CASE outcome WHEN 1 THEN 'joined' WHEN 2 THEN 'repeated' WHEN 3 THEN 'late' WHEN 4 THEN 'unknown'\n"
    "    WHEN 5 THEN 'claimed' WHEN 6 THEN 'rewarded' WHEN 7 THEN 'default' WHEN 8 THEN 'nothing'\n"
    "    WHEN 9 THEN 'inactive' END AS outcome,\n"
    "  reward_id, length(body) AS bytes\n"
    "FROM events JOIN bandits ON bandits.number = place >> 40;",
    /* 3: what the clock of the log did. The time of an event never goes back; the wall time is this minus ahead. */
    "CREATE TABLE clock (\n"
    "  time INTEGER PRIMARY KEY, -- from this time of events on\n"
    "  ahead INTEGER NOT NULL, -- the time of events minus the wall time, microseconds\n"
    "  in_doubt INTEGER NOT NULL -- whether the wall clock has jumped and nobody has accepted it\n"
    ");"
    "DROP VIEW log;"
    "CREATE VIEW log AS SELECT bandit, number, kind,\n"
    "  strftime('%Y-%m-%dT%H:%M:%S', (wall - (wall % 1000000 + 1000000) % 1000000) / 1000000, 'unixepoch')\n"
    "    || printf('.%06dZ', (wall % 1000000 + 1000000) % 1000000) AS time,\n"
    "  id, decision, value, outcome, reward_id, bytes\n"
    "FROM (SELECT\n"
    "  bandits.name AS bandit,\n"
    "  place & 0xffffffffff AS number,\n"
    "  CASE kind WHEN 1 THEN 'decision' WHEN 2 THEN 'reward' WHEN 3 THEN 'settled' WHEN 4 THEN 'step'\n"
    "    WHEN 5 THEN 'checkpoint' WHEN 6 THEN 'settings' WHEN 7 THEN 'model' WHEN 8 THEN 'activated'\n"
    "    WHEN 9 THEN 'promotion' END AS kind,\n"
    "  time - coalesce((SELECT ahead FROM clock WHERE clock.time <= events.time ORDER BY clock.time DESC LIMIT 1), 0)\n"
    "    AS wall,\n"
    "  replace(id, char(31), '/') AS id, decision, value,\n"
    "  CASE outcome WHEN 1 THEN 'joined' WHEN 2 THEN 'repeated' WHEN 3 THEN 'late' WHEN 4 THEN 'unknown'\n"
    "    WHEN 5 THEN 'claimed' WHEN 6 THEN 'rewarded' WHEN 7 THEN 'default' WHEN 8 THEN 'nothing'\n"
    "    WHEN 9 THEN 'inactive' END AS outcome,\n"
    "  reward_id, length(body) AS bytes\n"
    "FROM events JOIN bandits ON bandits.number = place >> 40);",
    /* 4: checksums, and the ends of each log, so that damage is found: see store_check.h. */
    "ALTER TABLE events ADD COLUMN checksum INTEGER; -- row_checksum of the columns before it\n"
    "UPDATE events SET checksum =\n"
    "  row_checksum(place, kind, time, id, decision, value, outcome, reward_id, body);"
    "ALTER TABLE bandits ADD COLUMN first_settings TEXT; -- in force before the first event that is left\n"
    "ALTER TABLE bandits ADD COLUMN checksum INTEGER; -- row_checksum of number, name, archived, first_settings\n"
    "UPDATE bandits SET first_settings = settings WHERE NOT EXISTS\n"
    "  (SELECT 1 FROM events WHERE kind = 6 AND kind >= 4 AND kind <> 8 AND place > number << 40\n"
    "    AND place < number + 1 << 40);"
    "UPDATE bandits SET checksum = row_checksum(number, name, archived, first_settings);"
    "CREATE TABLE log_ends (\n"
    "  bandit INTEGER PRIMARY KEY,\n"
    "  first INTEGER NOT NULL, -- number of the first event that is left\n"
    "  last INTEGER NOT NULL,\n"
    "  sum INTEGER NOT NULL, -- of the checksums of the events, modulo 2^64\n"
    "  settled_to INTEGER NOT NULL, -- as in bandits\n"
    "  kept INTEGER NOT NULL, -- sum of the checksums of reward_ids whose event is gone and whose decision is left\n"
    "  checksum INTEGER NOT NULL -- row_checksum of the columns before it\n"
    ");"
    "INSERT INTO log_ends SELECT number, 1, 0, 0, settled_to, 0, 0 FROM bandits;"
    "UPDATE log_ends SET first = ends.first, last = ends.last, sum = ends.sum FROM (SELECT place >> 40 AS bandit,\n"
    "    min(place) & 0xffffffffff AS first, max(place) & 0xffffffffff AS last,\n"
    "    ((sum(checksum >> 32 & 0xffffffff) + (sum(checksum & 0xffffffff) >> 32)) & 0xffffffff) << 32\n"
    "      | (sum(checksum & 0xffffffff) & 0xffffffff) AS sum\n"
    "    FROM events GROUP BY place >> 40) AS ends WHERE ends.bandit = log_ends.bandit;"
    "UPDATE log_ends SET kept = orphans.sum FROM (SELECT bandit,\n"
    "    ((sum(checksum >> 32 & 0xffffffff) + (sum(checksum & 0xffffffff) >> 32)) & 0xffffffff) << 32\n"
    "      | (sum(checksum & 0xffffffff) & 0xffffffff) AS sum\n"
    "    FROM (SELECT bandit, row_checksum(bandit, id, reward_id, value, outcome) AS checksum FROM reward_ids\n"
    "      WHERE outcome = 4 EXCEPT SELECT place >> 40, row_checksum(place >> 40, id, reward_id, value, outcome)\n"
    "      FROM events WHERE kind = 2 AND outcome = 4 AND reward_id IS NOT NULL)\n"
    "    GROUP BY bandit) AS orphans WHERE orphans.bandit = log_ends.bandit;"
    "ALTER TABLE clock ADD COLUMN checksum INTEGER; -- row_checksum of the columns before it\n"
    "UPDATE clock SET checksum = row_checksum(time, ahead, in_doubt);"
    /* Number 0 is the clock: how many rows it has, and their sum. */
    "INSERT INTO log_ends SELECT 0, 1, count(*),\n"
    "    coalesce(((sum(checksum >> 32 & 0xffffffff) + (sum(checksum & 0xffffffff) >> 32)) & 0xffffffff) << 32\n"
    "      | (sum(checksum & 0xffffffff) & 0xffffffff), 0), 0, 0, 0 FROM clock;"
    "UPDATE log_ends SET checksum = row_checksum(bandit, first, last, sum, settled_to, kept);",
    /* 5: bandits that are removed keep their number; events whose content was erased */
    "ALTER TABLE bandits ADD COLUMN purged INTEGER NOT NULL DEFAULT 0; -- 1: being removed, 2: removed\n"
    "DROP VIEW log;"
    "CREATE VIEW log AS SELECT bandit, number, kind,\n"
    "  strftime('%Y-%m-%dT%H:%M:%S', (wall - (wall % 1000000 + 1000000) % 1000000) / 1000000, 'unixepoch')\n"
    "    || printf('.%06dZ', (wall % 1000000 + 1000000) % 1000000) AS time,\n"
    "  id, decision, value, outcome, reward_id, bytes\n"
    "FROM (SELECT\n"
    "  bandits.name AS bandit,\n"
    "  place & 0xffffffffff AS number,\n"
    "  CASE kind WHEN 1 THEN 'decision' WHEN 2 THEN 'reward' WHEN 3 THEN 'settled' WHEN 4 THEN 'step'\n"
    "    WHEN 5 THEN 'checkpoint' WHEN 6 THEN 'settings' WHEN 7 THEN 'model' WHEN 8 THEN 'activated'\n"
    "    WHEN 9 THEN 'promotion' WHEN 10 THEN 'erased' END AS kind,\n"
    "  time - coalesce((SELECT ahead FROM clock WHERE clock.time <= events.time ORDER BY clock.time DESC LIMIT 1), 0)\n"
    "    AS wall,\n"
    "  replace(id, char(31), '/') AS id, decision, value,\n"
    "  CASE outcome WHEN 1 THEN 'joined' WHEN 2 THEN 'repeated' WHEN 3 THEN 'late' WHEN 4 THEN 'unknown'\n"
    "    WHEN 5 THEN 'claimed' WHEN 6 THEN 'rewarded' WHEN 7 THEN 'default' WHEN 8 THEN 'nothing'\n"
    "    WHEN 9 THEN 'inactive' END AS outcome,\n"
    "  reward_id, length(body) AS bytes\n"
    "FROM events JOIN bandits ON bandits.number = place >> 40 WHERE bandits.purged = 0);",
    /* 6 */
    "ALTER TABLE decisions ADD COLUMN metrics BLOB; -- totals so far: metric_values.h; NULL: none, or settled\n",
    /* 7: the name of alarms */
    "DROP VIEW log;"
    "CREATE VIEW log AS SELECT bandit, number, kind,\n"
    "  strftime('%Y-%m-%dT%H:%M:%S', (wall - (wall % 1000000 + 1000000) % 1000000) / 1000000, 'unixepoch')\n"
    "    || printf('.%06dZ', (wall % 1000000 + 1000000) % 1000000) AS time,\n"
    "  id, decision, value, outcome, reward_id, bytes\n"
    "FROM (SELECT\n"
    "  bandits.name AS bandit,\n"
    "  place & 0xffffffffff AS number,\n"
    "  CASE kind WHEN 1 THEN 'decision' WHEN 2 THEN 'reward' WHEN 3 THEN 'settled' WHEN 4 THEN 'step'\n"
    "    WHEN 5 THEN 'checkpoint' WHEN 6 THEN 'settings' WHEN 7 THEN 'model' WHEN 8 THEN 'activated'\n"
    "    WHEN 9 THEN 'promotion' WHEN 10 THEN 'erased' WHEN 11 THEN 'alarm' END AS kind,\n"
    "  time - coalesce((SELECT ahead FROM clock WHERE clock.time <= events.time ORDER BY clock.time DESC LIMIT 1), 0)\n"
    "    AS wall,\n"
    "  replace(id, char(31), '/') AS id, decision, value,\n"
    "  CASE outcome WHEN 1 THEN 'joined' WHEN 2 THEN 'repeated' WHEN 3 THEN 'late' WHEN 4 THEN 'unknown'\n"
    "    WHEN 5 THEN 'claimed' WHEN 6 THEN 'rewarded' WHEN 7 THEN 'default' WHEN 8 THEN 'nothing'\n"
    "    WHEN 9 THEN 'inactive' END AS outcome,\n"
    "  reward_id, length(body) AS bytes\n"
    "FROM events JOIN bandits ON bandits.number = place >> 40 WHERE bandits.purged = 0);",
};
enum { VERSION = sizeof steps / sizeof *steps };

/* ---- what went wrong ---- */

ee_status store_fail(sqlite3 *database, const char *what, ee_error *error)
{
    int code = sqlite3_errcode(database);
    if (code == SQLITE_NOMEM) return status_fail(error, EE_NO_MEMORY, "store: could not %s: out of memory", what);
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return status_fail(error, EE_FILE_ERROR, "store: could not %s: eenet.db is damaged (%s); restore a backup",
                           what, sqlite3_errmsg(database));
    int reason = sqlite3_system_errno(database);
    bool has_reason = reason && (code == SQLITE_IOERR || code == SQLITE_CANTOPEN);
    return status_fail(error, EE_FILE_ERROR, "store: could not %s: %s%s%s", what, sqlite3_errmsg(database),
                       has_reason ? ": " : "", has_reason ? strerror(reason) : "");
}

/* ---- statements ---- */

void store_finalize(sqlite3_stmt **statements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sqlite3_finalize(statements[i]);
        statements[i] = NULL;
    }
}

ee_status store_prepare(sqlite3 *database, const char *const *sql, size_t count, sqlite3_stmt **out, ee_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!sqlite3_prepare_v3(database, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &out[i], NULL)) continue;
        ee_status status = store_fail(database, "read the tables", error);
        store_finalize(out, i);
        return status;
    }
    return EE_OK;
}

void store_bind_text(sqlite3_stmt *statement, int at, json_text value)
{
    if (value.length)
        sqlite3_bind_text64(statement, at, value.bytes, value.length, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_bind_null(statement, at);
}

json_text store_column_text(sqlite3_stmt *statement, int at)
{
    const char *bytes = (const char *)sqlite3_column_text(statement, at);
    return (json_text){bytes ? bytes : "", bytes ? (size_t)sqlite3_column_bytes(statement, at) : 0};
}

stored_decision store_column_decision(sqlite3_stmt *statement)
{
    return (stored_decision){
        .number = store_number_at(sqlite3_column_int64(statement, 0)),
        .time = sqlite3_column_int64(statement, 1),
        .request = {(uint64_t)sqlite3_column_int64(statement, 2), (uint64_t)sqlite3_column_int64(statement, 3)},
        .rewards = (uint32_t)sqlite3_column_int64(statement, 4),
        .settled = (uint64_t)sqlite3_column_int64(statement, 5),
        .value = sqlite3_column_double(statement, 6),
        .inactive = sqlite3_column_int(statement, 7) != 0,
        .slots = (uint32_t)sqlite3_column_int64(statement, 8),
    };
}

ee_status store_find_ends(sqlite3 *database, sqlite3_stmt *statement, uint32_t bandit, store_ends *out, ee_error *error)
{
    *out = (store_ends){0};
    sqlite3_bind_int64(statement, 1, store_place(bandit, 0));
    sqlite3_bind_int64(statement, 2, store_place(bandit + 1, 0));
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out = (store_ends){store_number_at(sqlite3_column_int64(statement, 0)),
                            store_number_at(sqlite3_column_int64(statement, 1)), sqlite3_column_int64(statement, 2)};
    ee_status status =
        code == SQLITE_ROW || code == SQLITE_DONE ? EE_OK : store_fail(database, "read the ends of a log", error);
    sqlite3_reset(statement);
    return status;
}

/* ---- versions ---- */

static ee_status execute(sqlite3 *database, const char *sql, const char *what, ee_error *error)
{
    return sqlite3_exec(database, sql, NULL, NULL, NULL) ? store_fail(database, what, error) : EE_OK;
}

static ee_status ask_number(sqlite3 *database, const char *sql, int64_t *out, ee_error *error)
{
    sqlite3_stmt *statement = NULL;
    *out = 0;
    int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (!code) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *out = sqlite3_column_int64(statement, 0);
    ee_status status = code == SQLITE_ROW || code == SQLITE_DONE ? EE_OK : store_fail(database, "open eenet.db", error);
    sqlite3_finalize(statement);
    return status;
}

static ee_status apply(sqlite3 *database, const char *step, size_t version, ee_error *error)
{
    char mark[64];
    snprintf(mark, sizeof mark, "PRAGMA user_version = %zu", version);
    ee_status status = execute(database, "BEGIN IMMEDIATE", "upgrade eenet.db", error);
    if (status) return status;
    status = execute(database, step, "upgrade eenet.db", error);
    if (!status) status = execute(database, mark, "upgrade eenet.db", error);
    if (!status) status = execute(database, "COMMIT", "upgrade eenet.db", error);
    if (status && !sqlite3_get_autocommit(database)) sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static ee_status refuse_newer(int64_t version, size_t count, ee_error *error)
{
    if (version >= 0 && version <= (int64_t)count) return EE_OK;
    return status_fail(error, EE_FILE_ERROR,
                       "store: eenet.db has version %" PRId64 ", written by a newer eenet; this one reads up to %zu",
                       version, count);
}

ee_status store_migrate(sqlite3 *database, const char *const *list, size_t count, ee_error *error)
{
    int64_t version;
    ee_status status = ask_number(database, "PRAGMA user_version", &version, error);
    if (!status) status = refuse_newer(version, count, error);
    for (size_t i = (size_t)version; !status && i < count; i++) status = apply(database, list[i], i + 1, error);
    return status;
}

/* Whether the file is ours, or empty and to become ours. */
static ee_status check_application(sqlite3 *database, bool *empty, ee_error *error)
{
    int64_t application, tables;
    ee_status status = ask_number(database, "PRAGMA application_id", &application, error);
    if (!status) status = ask_number(database, "SELECT count(*) FROM sqlite_schema", &tables, error);
    if (status) return status;
    *empty = application == 0 && tables == 0;
    if (application == APPLICATION || *empty) return EE_OK;
    return status_fail(error, EE_FILE_ERROR, "store: eenet.db belongs to another program");
}

ee_status store_is_current(sqlite3 *database, bool *current, ee_error *error)
{
    int64_t version;
    ee_status status = ask_number(database, "PRAGMA user_version", &version, error);
    *current = !status && version == VERSION;
    return status;
}

ee_status store_create_tables(sqlite3 *database, ee_error *error)
{
    char mark[64];
    snprintf(mark, sizeof mark, "PRAGMA page_size = 8192; PRAGMA application_id = %d", APPLICATION);
    ee_status status = execute(database, mark, "create eenet.db", error);
    if (!status && row_checksum_register(database)) status = store_fail(database, "create eenet.db", error);
    return status ? status : store_migrate(database, steps, VERSION, error);
}

/* ---- connections ---- */

/* Pages of 8 KiB: three decisions of 2 KB to a page, which is a little less work than with 4 KiB. FULL: a commit is on
 * the disk when it returns. The writer keeps 64 MiB of pages, so that the ids of the last minutes are found without
 * reading. FAST: what is deleted or moved within a page leaves no copy there, so that erasing finds all of it. The
 * write-ahead log is moved into the database by store_sqlite.c, not by each commit. */
static ee_status prepare_writer(sqlite3 *database, ee_error *error)
{
    char mark[64];
    bool empty = false;
    ee_status status = check_application(database, &empty, error);
    if (!status && empty) {
        snprintf(mark, sizeof mark, "PRAGMA page_size = 8192; PRAGMA application_id = %d", APPLICATION);
        status = execute(database, mark, "create eenet.db", error);
    }
    if (!status)
        status = execute(database,
                         "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;"
                         "PRAGMA cache_size = -65536; PRAGMA journal_size_limit = 67108864;"
                         "PRAGMA trusted_schema = OFF; PRAGMA secure_delete = FAST",
                         "open eenet.db", error);
    if (!status && row_checksum_register(database)) status = store_fail(database, "open eenet.db", error);
    if (!status) status = store_migrate(database, steps, VERSION, error);
    return status;
}

static ee_status prepare_reader(sqlite3 *database, bool to_copy, ee_error *error)
{
    int64_t version = 0;
    bool empty = false;
    ee_status status = check_application(database, &empty, error);
    if (!status) status = ask_number(database, "PRAGMA user_version", &version, error);
    if (!status) status = refuse_newer(version, VERSION, error);
    if (!status && version < VERSION && !to_copy)
        status = status_fail(error, EE_FILE_ERROR,
                             "store: eenet.db has version %" PRId64 "; start the server on it once to upgrade it to %d",
                             version, VERSION);
    return status;
}

ee_status store_connect(const char *folder, store_access access, sqlite3 **out, ee_error *error)
{
    enum { PATIENCE = 10000 }; /* milliseconds that one waits for another process, as one that recovers the log */
    char *path;
    *out = NULL;
    ee_status status = file_join(folder, "eenet.db", &path, error);
    if (status) return status;
    int flags = access == STORE_WRITES ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    int code = sqlite3_open_v2(path, out, flags | SQLITE_OPEN_NOMUTEX, NULL);
    memory_free(path);
    if (!*out) return status_no_memory(error, 0);
    sqlite3_busy_timeout(*out, PATIENCE);
    int reason = code ? sqlite3_system_errno(*out) : 0;
    if (access != STORE_WRITES && (reason == ENOENT || reason == ENOTDIR))
        status = status_fail(error, EE_FILE_ERROR, "store: '%s' is not a server's folder: it has no eenet.db", folder);
    else if (code)
        status = store_fail(*out, "open eenet.db", error);
    else
        status =
            access == STORE_WRITES ? prepare_writer(*out, error) : prepare_reader(*out, access == STORE_COPIES, error);
    if (!status) return EE_OK;
    sqlite3_close(*out);
    *out = NULL;
    return status;
}
