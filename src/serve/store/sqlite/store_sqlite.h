/* Private to the implementation with SQLite: connections, statements, and the files of the folder.
 *
 *   FOLDER/eenet.db    all but the blobs (blobs.h); with eenet.db-wal and eenet.db-shm beside it while it is open
 *   FOLDER/lock        locked by the process that writes, as eenet.db is
 */
#ifndef EENET_STORE_SQLITE_H
#define EENET_STORE_SQLITE_H

#include <sqlite3.h>

#include "serve/store/store_methods.h"
#include "serve/store/store_rows.h"
#include "sqlite_rows.h"

/* ---- connections: store_schema.c ---- */

typedef enum store_access { STORE_READS, STORE_COPIES, STORE_WRITES } store_access;

/* Opens FOLDER/eenet.db. For writing it is created if it is missing, and upgraded to this version. For reading it must
 * have this version, for copying not a newer one. *out is NULL on failure. */
ee_status store_connect(const char *folder, store_access access, sqlite3 **out, ee_error *error);

/* Whether the database has this version's tables: an older one has no checksums. */
ee_status store_is_current(sqlite3 *database, bool *current, ee_error *error);

/* Makes the tables of this version in an empty database. */
ee_status store_create_tables(sqlite3 *database, ee_error *error);

/* Applies the steps that the database has not had yet: its user_version says how many it had. A step is all done, or
 * not at all. */
ee_status store_migrate(sqlite3 *database, const char *const *steps, size_t count, ee_error *error);

/* What SQLite says of the last call on the database, as "store: could not DO: why". */
ee_status store_fail(sqlite3 *database, const char *what, ee_error *error);

/* Statements live as long as the connection. sql and out are (count); on failure out is all NULL. */
ee_status store_prepare(sqlite3 *database, const char *const *sql, size_t count, sqlite3_stmt **out, ee_error *error);
void store_finalize(sqlite3_stmt **statements, size_t count);

/* ---- values: bytes are borrowed until the statement is reset ---- */

void store_bind_text(sqlite3_stmt *statement, int at, json_text value); /* NULL if it is empty */
json_text store_column_text(sqlite3_stmt *statement, int at);

/* ---- decisions: of any connection ---- */

#define STORE_DECISION_COLUMNS                                                                                         \
    "SELECT place, time, request_a, request_b, rewards, settled, value, inactive, slots, metrics"
enum { STORE_DECISION_METRICS = 9, STORE_DECISION_WIDTH };
#define STORE_COUNT_WAITING_SQL "SELECT count(*) FROM decisions WHERE settled = 0 AND place > ?1 AND place < ?2"
/* Without its metrics. */
stored_decision store_column_decision(sqlite3_stmt *statement);

/* ---- the ends of a bandit's log: of any connection ---- */

#define STORE_ENDS_SQL                                                                                                 \
    "SELECT (SELECT min(place) FROM events WHERE place > ?1 AND place < ?2), place, time FROM events"                  \
    " WHERE place > ?1 AND place < ?2 ORDER BY place DESC LIMIT 1"
ee_status store_find_ends(sqlite3 *database, sqlite3_stmt *statement, uint32_t bandit, store_ends *out,
                          ee_error *error);

/* ---- events: store_events.c ---- */

#define STORE_EVENT_COLUMNS                                                                                            \
    "SELECT place, kind, time, id, decision, value, outcome, reward_id, body, checksum FROM events"
/* The row of a statement that begins with these columns. EE_FILE_ERROR if its checksum is wrong: a damaged event is
 * never used. */
ee_status store_column_event(sqlite3_stmt *statement, event *out, ee_error *error);

/* ---- rows of log_ends: store_events.c ---- */

#define STORE_ADD_END_SQL "INSERT INTO log_ends VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
#define STORE_SET_END_SQL                                                                                              \
    "UPDATE log_ends SET first = ?2, last = ?3, sum = ?4, settled_to = ?5, kept = ?6, checksum = ?7 WHERE bandit = ?1"
void store_bind_end(sqlite3_stmt *statement, uint32_t bandit, const stored_end *end);

/* read, set: STORE_READ_END_SQL and STORE_SET_END_SQL. The row is read from the database each time, so that no copy of
 * it has to follow a rollback. */
ee_status store_change_end(sqlite3 *database, sqlite3_stmt *read, sqlite3_stmt *set, uint32_t bandit,
                           const end_change *by, ee_error *error);

/* After a change of the table clock. rows: STORE_CLOCK_SUMS_SQL. */
#define STORE_CLOCK_SUMS_SQL "SELECT checksum FROM clock"
ee_status store_change_clock_end(sqlite3 *database, sqlite3_stmt *rows, sqlite3_stmt *set, ee_error *error);

#define STORE_READ_END_SQL "SELECT bandit, first, last, sum, settled_to, kept, checksum FROM log_ends WHERE bandit = ?1"
#define STORE_READ_ENDS_SQL                                                                                            \
    "SELECT bandit, first, last, sum, settled_to, kept, checksum FROM log_ends WHERE bandit > 0 ORDER BY bandit"
/* The row of these statements. false: its checksum is wrong. */
bool store_column_end(sqlite3_stmt *statement, stored_end *out);

/* ---- opening: store_sqlite.c, store_read.c ---- */

ee_status sqlite_store_open(const char *folder, store **out, ee_error *error);
ee_status sqlite_reader_open(const char *folder, store_reader **out, ee_error *error);

/* Locks a folder, which one process may do at a time: EE_FILE_ERROR for the second. There are two locks: older versions
 * know only the file `lock`, and a file that somebody deletes locks nothing; so the database is locked itself. Release
 * them after SQLite's connections are closed: closing a descriptor of the database drops SQLite's own locks. */
typedef struct store_locks {
    int file, database; /* descriptors; -1: none */
} store_locks;

#define STORE_UNLOCKED ((store_locks){-1, -1})
ee_status store_take_locks(const char *folder, store_locks *out, ee_error *error);
void store_release_locks(store_locks *locks);

/* ---- the writer ---- */

enum {
    WRITE_BEGIN,
    WRITE_COMMIT,
    WRITE_ROLLBACK,
    WRITE_BANDIT,
    WRITE_CHANGE,
    WRITE_PROBE,
    FIND_NAME,
    FETCH_DECISIONS,
    FETCH_UNCLAIMED,
    FETCH_REWARD_IDS,
    GET_DECISION,
    FIND_WAITING,
    WRITE_EVENTS,
    WRITE_DECISIONS,
    CHANGE_DECISION,
    WRITE_IDS,
    WRITE_REWARD_IDS,
    WRITE_UNCLAIMED,
    REMOVE_UNCLAIMED,
    FIND_OLDEST,
    COUNT_OPEN,
    REMOVE_EVENTS,
    REMOVE_DECISION,
    REMOVE_ID,
    REMOVE_REWARD_IDS,
    REMOVE_REWARD_ID,
    WRITE_CLOCK,
    SUM_CLOCK,
    ADD_END,
    GET_END,
    SET_END,
    SUM_REWARD_ID,
    SUM_KEPT_REWARD_IDS,
    KEEP_SETTINGS,
    STORE_STATEMENTS
};

enum { GROUP_TABLES = 8 };

typedef struct sqlite_store {
    store base;
    char *folder;
    store_locks locks;
    sqlite3 *database;
    sqlite3_stmt *statements[STORE_STATEMENTS];
    sqlite_rows tables[GROUP_TABLES]; /* of the group that is written */
    bool begun;
    int log_pages; /* that the write-ahead log had after the last commit */
} sqlite_store;

/* sqlite_statement.c: runs a statement that returns no row, and resets it. */
ee_status sqlite_run(sqlite_store *self, int which, const char *what, ee_error *error);
/* Runs to the first or next row; *row false: there is none. The caller resets. */
ee_status sqlite_step(sqlite_store *self, int which, const char *what, bool *row, ee_error *error);
ee_status sqlite_get_decision(sqlite_store *self, int64_t place, stored_decision *out, bool *found, ee_error *error);
/* *removed: whether it was there. */
ee_status sqlite_remove_unclaimed(sqlite_store *self, uint32_t bandit, json_text id, uint64_t number, bool *removed,
                                  ee_error *error);

/* sqlite_group.c: the tables of the group, to be added before statements are prepared; and the methods of writing. */
ee_status sqlite_add_group_tables(sqlite_store *self, ee_error *error);
ee_status sqlite_fetch(store *base, ee_error *error);
ee_status sqlite_fetch_slots(store *base, ee_error *error);
ee_status sqlite_fetch_waiting(store *base, join_due *due, stored_decision *out, size_t limit, size_t *count,
                               ee_error *error);
ee_status sqlite_apply(store *base, ee_error *error);

/* sqlite_remove.c */
ee_status sqlite_remove(store *base, uint32_t bandit, int64_t before, uint64_t keep_from, size_t limit, bool *more,
                        uint64_t *unclaimed, ee_error *error);

/* sqlite_purge.c */
ee_status sqlite_purge(store *base, uint32_t bandit, ee_error *error);
ee_status sqlite_purge_some(store *base, uint32_t bandit, size_t limit, bool *more, ee_error *error);
ee_status sqlite_purge_end(store *base, uint32_t bandit, ee_error *error);
ee_status sqlite_purge_next(store *base, uint32_t after, uint32_t *bandit, ee_error *error);
/* Whether deleted content is overwritten with zeros, in free pages too. Outside of a transaction. */
ee_status sqlite_overwrite(store *base, bool on, ee_error *error);
/* sqlite_scrub.c: as store_scrub. */
ee_status sqlite_scrub(store *base, uint64_t *page, size_t count, bool *more, ee_error *error);

/* sqlite_erase.c */
ee_status sqlite_erase(store *base, uint32_t bandit, const uint64_t *numbers, size_t count, uint64_t *unclaimed,
                       ee_error *error);
/* Moves the write-ahead log into the database and empties its file. *done false: a reader needs it; nothing waits. */
ee_status sqlite_empty_log(store *base, bool *done, ee_error *error);

#endif
