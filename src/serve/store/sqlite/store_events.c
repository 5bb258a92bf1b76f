/* Rows of events with their checksums, and rows of log_ends. */
#include "serve/store/row_checksum.h"
#include "store_sqlite.h"

enum { EVENT_PLACE, KIND, TIME, ID, DECISION, VALUE, OUTCOME, REWARD_ID, BODY, CHECKSUM };

ee_status store_column_event(sqlite3_stmt *statement, event *out, ee_error *error)
{
    int64_t place = sqlite3_column_int64(statement, EVENT_PLACE);
    row_checksum sum = {0};
    row_add_columns(&sum, statement, EVENT_PLACE, CHECKSUM);
    *out = (event){
        .number = store_number_at(place),
        .kind = (event_kind)sqlite3_column_int(statement, KIND),
        .time = sqlite3_column_int64(statement, TIME),
        .id = store_column_text(statement, ID),
        .decision = (uint64_t)sqlite3_column_int64(statement, DECISION),
        .value = sqlite3_column_double(statement, VALUE),
        .outcome = (event_outcome)sqlite3_column_int(statement, OUTCOME),
        .reward_id = store_column_text(statement, REWARD_ID),
        .body = sqlite3_column_blob(statement, BODY),
        .size = (size_t)sqlite3_column_bytes(statement, BODY),
    };
    if (sqlite3_column_type(statement, CHECKSUM) == SQLITE_INTEGER &&
        sqlite3_column_int64(statement, CHECKSUM) == row_checksum_end(&sum))
        return EE_OK;
    return store_event_damaged(place, error);
}

/* ---- ends ---- */

void store_bind_end(sqlite3_stmt *statement, uint32_t bandit, const stored_end *end)
{
    int64_t columns[END_COLUMNS];
    store_end_columns(bandit, end, columns);
    for (int i = 0; i < END_COLUMNS; i++) sqlite3_bind_int64(statement, i + 1, columns[i]);
}

bool store_column_end(sqlite3_stmt *statement, stored_end *out)
{
    int64_t columns[END_COLUMNS];
    bool are_integers = true;
    for (int i = 0; i < END_COLUMNS; i++) {
        are_integers &= sqlite3_column_type(statement, i) == SQLITE_INTEGER;
        columns[i] = sqlite3_column_int64(statement, i);
    }
    return store_end_of(columns, out) && are_integers;
}

static ee_status set_end(sqlite3 *database, sqlite3_stmt *set, uint32_t bandit, const stored_end *end, ee_error *error)
{
    store_bind_end(set, bandit, end);
    int code = sqlite3_step(set);
    sqlite3_reset(set);
    return code == SQLITE_DONE ? EE_OK : store_fail(database, "write the end of a log", error);
}

ee_status store_change_end(sqlite3 *database, sqlite3_stmt *read, sqlite3_stmt *set, uint32_t bandit,
                           const end_change *by, ee_error *error)
{
    stored_end end;
    sqlite3_bind_int64(read, 1, bandit);
    int code = sqlite3_step(read);
    bool whole = code == SQLITE_ROW && store_column_end(read, &end);
    sqlite3_reset(read);
    if (code != SQLITE_ROW && code != SQLITE_DONE) return store_fail(database, "read the end of a log", error);
    if (!whole)
        return status_fail(error, EE_FILE_ERROR,
                           "store: eenet.db is damaged: the end of the log of bandit %u; run 'eenet check'", bandit);
    store_end_apply(&end, by);
    return set_end(database, set, bandit, &end, error);
}

/* The sum is computed again: there are few rows, and seldom a new one. */
ee_status store_change_clock_end(sqlite3 *database, sqlite3_stmt *rows, sqlite3_stmt *set, ee_error *error)
{
    stored_end end = {.first = 1};
    int code;
    for (; (code = sqlite3_step(rows)) == SQLITE_ROW; end.last++) end.sum += (uint64_t)sqlite3_column_int64(rows, 0);
    sqlite3_reset(rows);
    if (code != SQLITE_DONE) return store_fail(database, "read the clock", error);
    return set_end(database, set, CLOCK_END, &end, error);
}
