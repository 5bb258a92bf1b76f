/* Running the statements of the writer. */
#include "store_sqlite.h"

ee_status sqlite_step(sqlite_store *self, int which, const char *what, bool *row, ee_error *error)
{
    int code = sqlite3_step(self->statements[which]);
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return EE_OK;
    ee_status status = store_fail(self->database, what, error);
    sqlite3_reset(self->statements[which]);
    return status;
}

ee_status sqlite_run(sqlite_store *self, int which, const char *what, ee_error *error)
{
    bool row;
    ee_status status = sqlite_step(self, which, what, &row, error);
    sqlite3_reset(self->statements[which]);
    return status;
}

ee_status sqlite_get_decision(sqlite_store *self, int64_t place, stored_decision *out, bool *found, ee_error *error)
{
    sqlite3_stmt *statement = self->statements[GET_DECISION];
    sqlite3_bind_int64(statement, 1, place);
    ee_status status = sqlite_step(self, GET_DECISION, "find a decision", found, error);
    if (*found) *out = store_column_decision(statement);
    sqlite3_reset(statement);
    return status;
}

ee_status sqlite_remove_unclaimed(sqlite_store *self, uint32_t bandit, json_text id, uint64_t number, bool *removed,
                                  ee_error *error)
{
    sqlite3_stmt *statement = self->statements[REMOVE_UNCLAIMED];
    sqlite3_bind_int64(statement, 1, bandit);
    store_bind_text(statement, 2, id);
    sqlite3_bind_int64(statement, 3, (int64_t)number);
    ee_status status = sqlite_run(self, REMOVE_UNCLAIMED, "remove an unclaimed reward", error);
    *removed = !status && sqlite3_changes(self->database) > 0;
    return status;
}
