/* Rows of events with their checksums, and rows of log_ends. */
#include <inttypes.h>

#include "row_checksum.h"
#include "store_sqlite.h"

enum { EVENT_PLACE, KIND, TIME, ID, DECISION, VALUE, OUTCOME, REWARD_ID, BODY, CHECKSUM };

int64_t store_event_checksum(uint32_t bandit, const event *of)
{
    row_checksum sum = {0};
    bool rewarded = of->kind == EVENT_REWARD || of->kind == EVENT_SETTLED;
    bool judged = rewarded || of->kind == EVENT_ACTIVATED;
    row_add_integer(&sum, store_place(bandit, of->number));
    row_add_integer(&sum, (int64_t)of->kind);
    row_add_integer(&sum, of->time);
    row_add_text(&sum, of->id);
    if (of->decision)
        row_add_integer(&sum, (int64_t)of->decision);
    else
        row_add_null(&sum);
    if (rewarded)
        row_add_real(&sum, of->value);
    else
        row_add_null(&sum);
    if (judged)
        row_add_integer(&sum, (int64_t)of->outcome);
    else
        row_add_null(&sum);
    row_add_text(&sum, of->reward_id);
    row_add_blob(&sum, of->body, of->size);
    return row_checksum_end(&sum);
}

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
    return status_fail(error, EE_FILE_ERROR,
                       "store: event %" PRIu64 " of bandit %u is damaged: its checksum does not match; run 'eenet "
                       "check'",
                       out->number, (unsigned)(place >> STORE_NUMBER_BITS));
}

/* ---- ends ---- */

void store_bind_end(sqlite3_stmt *statement, uint32_t bandit, const stored_end *end)
{
    row_checksum sum = {0};
    const uint64_t columns[] = {bandit, end->first, end->last, end->sum, end->settled_to, end->kept};
    for (int i = 0; i < 6; i++) {
        sqlite3_bind_int64(statement, i + 1, (int64_t)columns[i]);
        row_add_integer(&sum, (int64_t)columns[i]);
    }
    sqlite3_bind_int64(statement, 7, row_checksum_end(&sum));
}

bool store_column_end(sqlite3_stmt *statement, stored_end *out)
{
    uint64_t columns[6];
    row_checksum sum = {0};
    row_add_columns(&sum, statement, 0, 6);
    for (int i = 0; i < 6; i++) columns[i] = (uint64_t)sqlite3_column_int64(statement, i);
    *out = (stored_end){columns[1], columns[2], columns[3], columns[4], columns[5]};
    return sqlite3_column_type(statement, 6) == SQLITE_INTEGER &&
           sqlite3_column_int64(statement, 6) == row_checksum_end(&sum);
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
    if (by->first) end.first = by->first;
    if (by->last) end.last = by->last;
    if (by->settles) end.settled_to = by->settled_to;
    end.sum += by->sum;
    end.kept += by->kept;
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
