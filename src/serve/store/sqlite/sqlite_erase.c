/* Erasing events: they stay in the log without their content. */
#include "store_sqlite.h"

enum { READ_EVENT, BLANK_EVENT, SUM_EARLY, DELETE_ID, DELETE_REWARD_IDS, DELETE_REWARD_ID, ERASE_STATEMENTS };

static const char *const sql[ERASE_STATEMENTS] = {
    [READ_EVENT] = "SELECT kind, id, decision, reward_id, checksum FROM events WHERE place = ?1",
    [BLANK_EVENT] = "UPDATE events SET id = NULL, value = NULL, reward_id = NULL, body = NULL,"
                    " checksum = row_checksum(place, kind, time, NULL, decision, NULL, outcome, NULL, NULL)"
                    " WHERE place = ?1",
    /* Their events are gone: those that are in the log were erased before the decision. */
    [SUM_EARLY] = "SELECT row_checksum(bandit, id, reward_id, value, outcome) FROM reward_ids"
                  " WHERE bandit = ?1 AND id = ?2 AND outcome = 4",
    [DELETE_ID] = "DELETE FROM ids WHERE bandit = ?1 AND id = ?2",
    [DELETE_REWARD_IDS] = "DELETE FROM reward_ids WHERE bandit = ?1 AND id = ?2",
    [DELETE_REWARD_ID] = "DELETE FROM reward_ids WHERE bandit = ?1 AND id = ?2 AND reward_id = ?3",
};

typedef struct erasing {
    sqlite_store *store;
    sqlite3_stmt *statements[ERASE_STATEMENTS];
    uint32_t bandit;
    uint64_t unclaimed; /* removed */
    end_change end;
} erasing;

static ee_status fail(const erasing *self, ee_error *error)
{
    return store_fail(self->store->database, "erase events", error);
}

static ee_status run(erasing *self, int which, ee_error *error)
{
    int code = sqlite3_step(self->statements[which]);
    sqlite3_reset(self->statements[which]);
    return code == SQLITE_DONE ? EE_OK : fail(self, error);
}

static ee_status forget_id(erasing *self, json_text id, ee_error *error)
{
    sqlite3_stmt *sums = self->statements[SUM_EARLY];
    int code;
    ee_status status = EE_OK;
    sqlite3_bind_int64(sums, 1, self->bandit);
    store_bind_text(sums, 2, id);
    while ((code = sqlite3_step(sums)) == SQLITE_ROW) self->end.kept -= (uint64_t)sqlite3_column_int64(sums, 0);
    sqlite3_reset(sums);
    if (code != SQLITE_DONE) return fail(self, error);
    for (int which = DELETE_ID; which <= DELETE_REWARD_IDS && !status; which++) {
        sqlite3_bind_int64(self->statements[which], 1, self->bandit);
        store_bind_text(self->statements[which], 2, id);
        status = run(self, which, error);
    }
    return status;
}

/* With the first slot of a round goes the round's id. */
static ee_status forget_decision(erasing *self, int64_t place, json_text id, ee_error *error)
{
    stored_decision row = {0};
    bool found;
    ee_status status = sqlite_get_decision(self->store, place, &row, &found, error);
    if (status) return status;
    sqlite3_bind_int64(self->store->statements[REMOVE_DECISION], 1, place);
    status = sqlite_run(self->store, REMOVE_DECISION, "erase a decision", error);
    if (!status) status = forget_id(self, id, error);
    return status || !row.slots ? status : forget_id(self, slot_round_id(id, NULL), error);
}

static ee_status forget_reward(erasing *self, int64_t place, json_text id, json_text reward_id, bool is_early,
                               ee_error *error)
{
    bool removed = false;
    ee_status status = EE_OK;
    if (is_early)
        status = sqlite_remove_unclaimed(self->store, self->bandit, id, store_number_at(place), &removed, error);
    self->unclaimed += removed;
    if (status || !reward_id.length) return status;
    sqlite3_bind_int64(self->statements[DELETE_REWARD_ID], 1, self->bandit);
    store_bind_text(self->statements[DELETE_REWARD_ID], 2, id);
    store_bind_text(self->statements[DELETE_REWARD_ID], 3, reward_id);
    return run(self, DELETE_REWARD_ID, error);
}

static ee_status read_checksum(erasing *self, int64_t place, uint64_t *sum, ee_error *error)
{
    sqlite3_stmt *row = self->statements[READ_EVENT];
    sqlite3_bind_int64(row, 1, place);
    ee_status status = sqlite3_step(row) == SQLITE_ROW ? EE_OK : fail(self, error);
    *sum = status ? 0 : (uint64_t)sqlite3_column_int64(row, 4);
    sqlite3_reset(row);
    return status;
}

static ee_status blank(erasing *self, int64_t place, uint64_t before, ee_error *error)
{
    uint64_t after;
    sqlite3_bind_int64(self->statements[BLANK_EVENT], 1, place);
    ee_status status = run(self, BLANK_EVENT, error);
    if (!status) status = read_checksum(self, place, &after, error);
    if (!status) self->end.sum += after - before;
    return status;
}

/* One that retention has removed meanwhile needs nothing. */
static ee_status erase_event(erasing *self, int64_t place, ee_error *error)
{
    sqlite3_stmt *row = self->statements[READ_EVENT];
    sqlite3_bind_int64(row, 1, place);
    int code = sqlite3_step(row);
    ee_status status = code == SQLITE_ROW || code == SQLITE_DONE ? EE_OK : fail(self, error);
    uint64_t sum = 0;
    if (code == SQLITE_ROW) {
        int kind = sqlite3_column_int(row, 0);
        json_text id = store_column_text(row, 1), reward_id = store_column_text(row, 3);
        sum = (uint64_t)sqlite3_column_int64(row, 4);
        if (kind == EVENT_DECISION && id.length)
            status = forget_decision(self, place, id, error);
        else if ((kind == EVENT_REWARD || kind == EVENT_ACTIVATED) && id.length)
            status = forget_reward(self, place, id, reward_id, sqlite3_column_int64(row, 2) == 0, error);
    }
    sqlite3_reset(row);
    return status || code != SQLITE_ROW ? status : blank(self, place, sum, error);
}

ee_status sqlite_erase(store *base, uint32_t bandit, const uint64_t *numbers, size_t count, uint64_t *unclaimed,
                       ee_error *error)
{
    sqlite_store *into = (sqlite_store *)base;
    erasing self = {.store = into, .bandit = bandit};
    ee_status status = store_prepare(into->database, sql, ERASE_STATEMENTS, self.statements, error);
    for (size_t i = 0; i < count && !status; i++) status = erase_event(&self, store_place(bandit, numbers[i]), error);
    store_finalize(self.statements, ERASE_STATEMENTS);
    if (!status)
        status = store_change_end(into->database, into->statements[GET_END], into->statements[SET_END], bandit,
                                  &self.end, error);
    *unclaimed = self.unclaimed;
    return status;
}
