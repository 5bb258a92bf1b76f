/* What the files of the store share: connections to SQLite, its statements, and where things lie in the folder.
 *
 *   FOLDER/eenet.db             all but the models; with eenet.db-wal and eenet.db-shm beside it while it is open
 *   FOLDER/lock                 locked by the process that writes
 *   FOLDER/models/3/250.model   of bandit 3, the one that belongs to its event 250
 *
 * An event's key is its place: the bandit's number and, in the lower 40 bits, its own. So the events of a bandit lie
 * beside each other, in their order. */
#ifndef EENET_STORE_SQLITE_H
#define EENET_STORE_SQLITE_H

#include <sqlite3.h>

#include "sqlite_rows.h"
#include "store_methods.h"

enum { STORE_NUMBER_BITS = 40 };

static inline int64_t store_place(uint32_t bandit, uint64_t number)
{
    return (int64_t)((uint64_t)bandit << STORE_NUMBER_BITS | number);
}

static inline uint64_t store_number_at(int64_t place)
{
    return (uint64_t)place & (((uint64_t)1 << STORE_NUMBER_BITS) - 1);
}

/* ---- connections: store_schema.c ---- */

typedef enum store_access { STORE_READS, STORE_COPIES, STORE_WRITES } store_access;

/* Opens FOLDER/eenet.db. For writing it is made where it is missing, and brought up to this version; for reading it
 * must be of this version, and to be copied not of a newer one. *out is NULL where it fails. */
ee_status store_connect(const char *folder, store_access access, sqlite3 **out, ee_error *error);

/* Applies the steps that the database has not had yet: its user_version says how many it had. A step is all done, or
 * not at all. */
ee_status store_migrate(sqlite3 *database, const char *const *steps, size_t count, ee_error *error);

/* What SQLite says of the last call on the database, as "store: could not DO: why". */
ee_status store_fail(sqlite3 *database, const char *what, ee_error *error);

/* Statements live as long as the connection: sql is (count), and so is out, which is all NULL where it fails. */
ee_status store_prepare(sqlite3 *database, const char *const *sql, size_t count, sqlite3_stmt **out, ee_error *error);
void store_finalize(sqlite3_stmt **statements, size_t count);

/* ---- values: bytes are borrowed until the statement is reset ---- */

void store_bind_text(sqlite3_stmt *statement, int at, json_text value); /* NULL where it is empty */
json_text store_column_text(sqlite3_stmt *statement, int at);

/* ---- decisions: of any connection ---- */

#define STORE_DECISION_COLUMNS "SELECT place, time, request_a, request_b, rewards, settled, value, inactive, slots"
#define STORE_COUNT_WAITING_SQL "SELECT count(*) FROM decisions WHERE settled = 0 AND place > ?1 AND place < ?2"
stored_decision store_column_decision(sqlite3_stmt *statement);

/* ---- the ends of a bandit's log: of any connection ---- */

typedef struct store_ends {
    uint64_t first, last; /* numbers; 0: there are no events */
    int64_t time;         /* of the last */
} store_ends;

#define STORE_ENDS_SQL                                                                                                 \
    "SELECT (SELECT min(place) FROM events WHERE place > ?1 AND place < ?2), place, time FROM events"                  \
    " WHERE place > ?1 AND place < ?2 ORDER BY place DESC LIMIT 1"
ee_status store_find_ends(sqlite3 *database, sqlite3_stmt *statement, uint32_t bandit, store_ends *out,
                          ee_error *error);

/* ---- opening: store_sqlite.c, store_read.c ---- */

ee_status sqlite_store_open(const char *folder, store **out, ee_error *error);
ee_status sqlite_reader_open(const char *folder, store_reader **out, ee_error *error);

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
    STORE_STATEMENTS
};

enum { GROUP_TABLES = 8 };

typedef struct sqlite_store {
    store base;
    char *folder;
    int lock;
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

/* ---- models: store_models.c ---- */

/* "FOLDER/models/BANDIT/NUMBER.model", to be freed with memory_free. */
ee_status store_model_path(const char *folder, uint32_t bandit, uint64_t number, char **path, ee_error *error);
ee_status store_write_model(const char *folder, uint32_t bandit, uint64_t number, const void *bytes, size_t size,
                            ee_error *error);
ee_status store_read_model(const char *folder, uint32_t bandit, uint64_t number, uint8_t **bytes, size_t *size,
                           ee_error *error);
/* Removes what a crash left under temporary names. */
void store_sweep_models(const char *folder);
uint64_t store_model_bytes(const char *folder);

#endif
