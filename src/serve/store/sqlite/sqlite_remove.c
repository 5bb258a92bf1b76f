/* Removing old events with what hangs on them: decisions, ids, reward ids and unclaimed rewards. */
#include "store_sqlite.h"

/* What a removal may touch, and what it did. */
typedef struct removing {
    uint32_t bandit;
    int64_t before, keep_from; /* a time, a place */
    int64_t round_end;         /* the place of the last slot of the round that is being removed */
    int64_t settings;          /* the place of the last SETTINGS event that is being removed; 0: none */
    uint64_t unclaimed;        /* removed */
    end_change end;            /* what it changes of the end of the log */
} removing;

/* Whether all decisions among this many events from a place on are settled. */
static ee_status are_settled(sqlite_store *self, int64_t place, uint32_t count, bool *settled, ee_error *error)
{
    bool row;
    sqlite3_bind_int64(self->statements[COUNT_OPEN], 1, place);
    sqlite3_bind_int64(self->statements[COUNT_OPEN], 2, place + count);
    ee_status status = sqlite_step(self, COUNT_OPEN, "find a decision", &row, error);
    *settled = row && sqlite3_column_int64(self->statements[COUNT_OPEN], 0) == 0;
    sqlite3_reset(self->statements[COUNT_OPEN]);
    return status;
}

/* Adds the checksums of reward ids to *sum. which: SUM_REWARD_ID, of one, or SUM_KEPT_REWARD_IDS, of all that came
 * before their decision. */
static ee_status sum_reward_ids(sqlite_store *self, int which, uint32_t bandit, json_text id, json_text reward_id,
                                uint64_t *sum, ee_error *error)
{
    sqlite3_stmt *statement = self->statements[which];
    ee_status status = EE_OK;
    sqlite3_bind_int64(statement, 1, bandit);
    store_bind_text(statement, 2, id);
    if (which == SUM_REWARD_ID) store_bind_text(statement, 3, reward_id);
    for (bool row = true; row && !status;) {
        status = sqlite_step(self, which, "read the reward ids", &row, error);
        if (!status && row) *sum += (uint64_t)sqlite3_column_int64(statement, 0);
    }
    sqlite3_reset(statement);
    return status;
}

/* All events before the decision are gone, so reward ids that came before it are among those that are kept. */
static ee_status forget_id(sqlite_store *self, removing *by, json_text id, ee_error *error)
{
    const int by_id[] = {REMOVE_ID, REMOVE_REWARD_IDS};
    uint64_t kept = 0;
    ee_status status = sum_reward_ids(self, SUM_KEPT_REWARD_IDS, by->bandit, id, (json_text){0}, &kept, error);
    by->end.kept -= kept;
    for (size_t i = 0; !status && i < 2; i++) {
        sqlite3_bind_int64(self->statements[by_id[i]], 1, by->bandit);
        store_bind_text(self->statements[by_id[i]], 2, id);
        status = sqlite_run(self, by_id[i], "remove the ids of a decision", error);
    }
    return status;
}

/* With the first slot of a round goes the round's id. */
static ee_status forget_decision(sqlite_store *self, removing *by, int64_t place, json_text id, bool first_slot,
                                 ee_error *error)
{
    sqlite3_bind_int64(self->statements[REMOVE_DECISION], 1, place);
    ee_status status = sqlite_run(self, REMOVE_DECISION, "remove a decision", error);
    if (!status) status = forget_id(self, by, id, error);
    if (!status && first_slot) status = forget_id(self, by, slot_round_id(id, NULL), error);
    return status;
}

/* A reward or an activation that was never claimed goes with its id. The id of any other is kept until its decision
 * goes. */
static ee_status forget_unclaimed(sqlite_store *self, removing *by, uint64_t number, json_text id, json_text reward_id,
                                  ee_error *error)
{
    sqlite3_stmt *statement = self->statements[REMOVE_REWARD_ID];
    bool removed;
    ee_status status = sqlite_remove_unclaimed(self, by->bandit, id, number, &removed, error);
    by->unclaimed += removed;
    if (status || !reward_id.length) return status;
    if (!removed) return sum_reward_ids(self, SUM_REWARD_ID, by->bandit, id, reward_id, &by->end.kept, error);
    sqlite3_bind_int64(statement, 1, by->bandit);
    store_bind_text(statement, 2, id);
    store_bind_text(statement, 3, reward_id);
    return sqlite_run(self, REMOVE_REWARD_ID, "remove a reward id", error);
}

static ee_status forget_decision_row(sqlite_store *self, removing *by, int64_t place, json_text id, bool *stays,
                                     ee_error *error)
{
    stored_decision decision = {0};
    bool found = false, settled = true;
    ee_status status = sqlite_get_decision(self, place, &decision, &found, error);
    uint32_t count = decision.slots ? decision.slots : 1;
    if (!status && found) status = are_settled(self, place, count, &settled, error);
    *stays = !settled || place + count > by->keep_from;
    if (status || *stays) return status;
    if (decision.slots) by->round_end = place + count - 1;
    return forget_decision(self, by, place, id, decision.slots > 0, error);
}

/* The row of FIND_OLDEST: whether it stays, else forgets what hangs on it. */
static ee_status forget_row(sqlite_store *self, removing *by, bool *stays, ee_error *error)
{
    sqlite3_stmt *row = self->statements[FIND_OLDEST];
    int64_t place = sqlite3_column_int64(row, 0);
    int kind = sqlite3_column_int(row, 1);
    *stays = sqlite3_column_int64(row, 2) >= by->before;
    if (*stays) return EE_OK;
    if (kind == EVENT_SETTINGS) by->settings = place;
    json_text id = store_column_text(row, 3);
    if (kind == EVENT_DECISION) return forget_decision_row(self, by, place, id, stays, error);
    if ((kind == EVENT_REWARD || kind == EVENT_ACTIVATED) && sqlite3_column_int64(row, 4) == 0)
        return forget_unclaimed(self, by, store_number_at(place), id, store_column_text(row, 5), error);
    return EE_OK;
}

/* Stores the settings in force at the new start of the log. */
static ee_status keep_settings(sqlite_store *self, uint32_t bandit, int64_t place, ee_error *error)
{
    sqlite3_bind_int64(self->statements[KEEP_SETTINGS], 1, bandit);
    sqlite3_bind_int64(self->statements[KEEP_SETTINGS], 2, place);
    return sqlite_run(self, KEEP_SETTINGS, "keep the settings of removed events", error);
}

ee_status sqlite_remove(store *base, uint32_t bandit, int64_t before, uint64_t keep_from, size_t limit, bool *more,
                        uint64_t *unclaimed, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    sqlite3_stmt *statement = self->statements[FIND_OLDEST];
    int64_t start = store_place(bandit, 0), end = start;
    removing by = {.bandit = bandit, .before = before, .keep_from = store_place(bandit, keep_from)};
    ee_status status = EE_OK;
    sqlite3_bind_int64(statement, 1, start);
    sqlite3_bind_int64(statement, 2, by.keep_from);
    for (size_t removed = 0;; removed++) {
        bool row, stays = false;
        status = sqlite_step(self, FIND_OLDEST, "find the oldest events", &row, error);
        if (status || !row) break;
        *more = removed >= limit && sqlite3_column_int64(statement, 0) > by.round_end; /* perhaps: the next call sees */
        if (*more) break;
        status = forget_row(self, &by, &stays, error);
        if (status || stays) break;
        end = sqlite3_column_int64(statement, 0);
        by.end.sum -= (uint64_t)sqlite3_column_int64(statement, 6);
    }
    sqlite3_reset(statement);
    *unclaimed = by.unclaimed;
    if (status || end == start) return status;
    by.end.first = store_number_at(end) + 1;
    if (by.settings) status = keep_settings(self, bandit, by.settings, error);
    if (!status)
        status = store_change_end(self->database, self->statements[GET_END], self->statements[SET_END], bandit, &by.end,
                                  error);
    if (status) return status;
    sqlite3_bind_int64(self->statements[REMOVE_EVENTS], 1, start);
    sqlite3_bind_int64(self->statements[REMOVE_EVENTS], 2, end);
    return sqlite_run(self, REMOVE_EVENTS, "remove events", error);
}
