/* The tables of joining: decisions by id, pending decisions, reward ids and unclaimed rewards; and removing old ones.
 */
#include "store_sqlite.h"

ee_status store_find_decision(store *self, uint32_t bandit, json_text id, stored_decision *out, bool *found,
                              ee_error *error)
{
    sqlite3_stmt *statement = self->statements[FIND_DECISION];
    ee_status status = store_check(self, error);
    if (status) return status;
    sqlite3_bind_int64(statement, 1, bandit);
    store_bind_text(statement, 2, id);
    status = store_step(self, FIND_DECISION, "find a decision", found, error);
    if (*found) *out = store_column_decision(statement);
    sqlite3_reset(statement);
    return status;
}

ee_status store_get_decision(store *self, uint32_t bandit, uint64_t number, stored_decision *out, bool *found,
                             ee_error *error)
{
    sqlite3_stmt *statement = self->statements[GET_DECISION];
    ee_status status = store_check(self, error);
    if (status) return status;
    sqlite3_bind_int64(statement, 1, store_place(bandit, number));
    status = store_step(self, GET_DECISION, "find a decision", found, error);
    if (*found) *out = store_column_decision(statement);
    sqlite3_reset(statement);
    return status;
}

static ee_status add_id(store *self, uint32_t bandit, json_text id, uint64_t number, ee_error *error)
{
    sqlite3_stmt *statement = self->statements[WRITE_ID];
    sqlite3_bind_int64(statement, 1, bandit);
    store_bind_text(statement, 2, id);
    sqlite3_bind_int64(statement, 3, (int64_t)number);
    return store_run(self, WRITE_ID, "add the id of a decision", error);
}

ee_status store_add_round(store *self, uint32_t bandit, json_text id, uint64_t first, ee_error *error)
{
    ee_status status = store_check(self, error);
    return status ? status : add_id(self, bandit, id, first, error);
}

ee_status store_add_decision(store *self, uint32_t bandit, json_text id, const stored_decision *decision,
                             ee_error *error)
{
    sqlite3_stmt *statement = self->statements[WRITE_DECISION];
    ee_status status = store_check(self, error);
    if (status) return status;
    sqlite3_bind_int64(statement, 1, store_place(bandit, decision->number));
    sqlite3_bind_int64(statement, 2, decision->time);
    sqlite3_bind_int64(statement, 3, (int64_t)decision->request[0]);
    sqlite3_bind_int64(statement, 4, (int64_t)decision->request[1]);
    sqlite3_bind_int64(statement, 5, decision->rewards);
    sqlite3_bind_int64(statement, 6, (int64_t)decision->settled);
    sqlite3_bind_double(statement, 7, decision->value);
    sqlite3_bind_int(statement, 8, decision->inactive);
    sqlite3_bind_int64(statement, 9, decision->slots);
    status = store_run(self, WRITE_DECISION, "add a decision", error);
    return status ? status : add_id(self, bandit, id, decision->number, error);
}

ee_status store_put_decision(store *self, uint32_t bandit, const stored_decision *decision, ee_error *error)
{
    sqlite3_stmt *statement = self->statements[CHANGE_DECISION];
    ee_status status = store_check(self, error);
    if (status) return status;
    sqlite3_bind_int64(statement, 1, store_place(bandit, decision->number));
    sqlite3_bind_int64(statement, 2, decision->rewards);
    sqlite3_bind_int64(statement, 3, (int64_t)decision->settled);
    sqlite3_bind_double(statement, 4, decision->value);
    sqlite3_bind_int(statement, 5, decision->inactive);
    return store_run(self, CHANGE_DECISION, "change a decision", error);
}

ee_status store_waiting(store *self, uint32_t bandit, uint64_t after, int64_t before, stored_decision *out, size_t most,
                        size_t *count, uint64_t *upto, int64_t *next, ee_error *error)
{
    enum { MOST_LOOKED_AT = 4096 };
    sqlite3_stmt *statement = self->statements[FIND_WAITING];
    *count = 0;
    *upto = after;
    *next = INT64_MAX;
    ee_status status = store_check(self, error);
    if (status) return status;
    sqlite3_bind_int64(statement, 1, store_place(bandit, after));
    sqlite3_bind_int64(statement, 2, store_place(bandit + 1, 0));
    /* It stops here and not by a condition in the statement: times never go back, so nothing follows. */
    for (size_t looked_at = 0;; looked_at++) {
        bool row;
        stored_decision decision;
        status = store_step(self, FIND_WAITING, "find the pending decisions", &row, error);
        if (status || !row) break;
        decision = store_column_decision(statement);
        if (decision.time >= before || *count == most || looked_at == MOST_LOOKED_AT) {
            *next = decision.time;
            break;
        }
        *upto = decision.number;
        if (!decision.settled) out[(*count)++] = decision;
    }
    sqlite3_reset(statement);
    return status;
}

ee_status store_add_reward_id(store *self, uint32_t bandit, json_text id, json_text reward_id, double value,
                              event_outcome outcome, bool *there, double *value_before, event_outcome *outcome_before,
                              ee_error *error)
{
    sqlite3_stmt *known = self->statements[FIND_REWARD_ID], *added = self->statements[WRITE_REWARD_ID];
    ee_status status = store_check(self, error);
    if (status) return status;
    sqlite3_bind_int64(known, 1, bandit);
    store_bind_text(known, 2, id);
    store_bind_text(known, 3, reward_id);
    status = store_step(self, FIND_REWARD_ID, "find a reward id", there, error);
    if (*there) *value_before = sqlite3_column_double(known, 0);
    if (*there) *outcome_before = (event_outcome)sqlite3_column_int(known, 1);
    sqlite3_reset(known);
    if (status || *there) return status;
    sqlite3_bind_int64(added, 1, bandit);
    store_bind_text(added, 2, id);
    store_bind_text(added, 3, reward_id);
    sqlite3_bind_double(added, 4, value);
    sqlite3_bind_int(added, 5, (int)outcome);
    return store_run(self, WRITE_REWARD_ID, "add a reward id", error);
}

/* ---- rewards and activations whose decision is not known ---- */

static void bind_unclaimed(sqlite3_stmt *statement, uint32_t bandit, json_text id, uint64_t number)
{
    sqlite3_bind_int64(statement, 1, bandit);
    store_bind_text(statement, 2, id);
    sqlite3_bind_int64(statement, 3, (int64_t)number);
}

ee_status store_add_unclaimed(store *self, uint32_t bandit, json_text id, uint64_t number, ee_error *error)
{
    bandit_entry *entry = NULL;
    ee_status status = store_change(self, bandit, &entry, error);
    if (status) return status;
    bind_unclaimed(self->statements[WRITE_UNCLAIMED], bandit, id, number);
    status = store_run(self, WRITE_UNCLAIMED, "keep an unclaimed reward", error);
    if (!status) entry->now.unclaimed++;
    return status;
}

/* *removed: whether it was there. */
static ee_status remove_unclaimed(store *self, uint32_t bandit, json_text id, uint64_t number, bool *removed,
                                  ee_error *error)
{
    bandit_entry *entry = NULL;
    *removed = false;
    ee_status status = store_change(self, bandit, &entry, error);
    if (status) return status;
    bind_unclaimed(self->statements[REMOVE_UNCLAIMED], bandit, id, number);
    status = store_run(self, REMOVE_UNCLAIMED, "remove an unclaimed reward", error);
    *removed = !status && sqlite3_changes(self->database) > 0;
    if (*removed) entry->now.unclaimed--;
    return status;
}

ee_status store_take_unclaimed(store *self, uint32_t bandit, json_text id, uint64_t *number, event_kind *kind,
                               double *value, ee_error *error)
{
    sqlite3_stmt *statement = self->statements[FIND_UNCLAIMED];
    bool row, removed;
    *number = 0;
    ee_status status = store_check(self, error);
    if (status) return status;
    sqlite3_bind_int64(statement, 1, bandit);
    store_bind_text(statement, 2, id);
    status = store_step(self, FIND_UNCLAIMED, "find an unclaimed reward", &row, error);
    if (row) {
        *number = (uint64_t)sqlite3_column_int64(statement, 0);
        *kind = (event_kind)sqlite3_column_int(statement, 1);
        *value = sqlite3_column_double(statement, 2);
    }
    sqlite3_reset(statement);
    return *number ? remove_unclaimed(self, bandit, id, *number, &removed, error) : status;
}

bool store_has_unclaimed(const store *self, uint32_t bandit)
{
    return bandit && bandit <= self->bandit_count && self->bandits[bandit - 1].now.unclaimed > 0;
}

/* ---- forgetting ---- */

/* Whether all decisions among this many events from a place on are settled. */
static ee_status are_settled(store *self, int64_t place, uint32_t count, bool *settled, ee_error *error)
{
    bool row;
    sqlite3_bind_int64(self->statements[COUNT_OPEN], 1, place);
    sqlite3_bind_int64(self->statements[COUNT_OPEN], 2, place + count);
    ee_status status = store_step(self, COUNT_OPEN, "find a decision", &row, error);
    *settled = row && sqlite3_column_int64(self->statements[COUNT_OPEN], 0) == 0;
    sqlite3_reset(self->statements[COUNT_OPEN]);
    return status;
}

static ee_status forget_id(store *self, uint32_t bandit, json_text id, ee_error *error)
{
    const int by_id[] = {REMOVE_ID, REMOVE_REWARD_IDS};
    ee_status status = EE_OK;
    for (size_t i = 0; !status && i < 2; i++) {
        sqlite3_bind_int64(self->statements[by_id[i]], 1, bandit);
        store_bind_text(self->statements[by_id[i]], 2, id);
        status = store_run(self, by_id[i], "remove the ids of a decision", error);
    }
    return status;
}

/* With the first slot of a round goes the round's id. */
static ee_status forget_decision(store *self, uint32_t bandit, int64_t place, json_text id, bool first_slot,
                                 ee_error *error)
{
    sqlite3_bind_int64(self->statements[REMOVE_DECISION], 1, place);
    ee_status status = store_run(self, REMOVE_DECISION, "remove a decision", error);
    if (!status) status = forget_id(self, bandit, id, error);
    if (!status && first_slot) status = forget_id(self, bandit, slot_round_id(id, NULL), error);
    return status;
}

/* A reward or an activation that was never claimed goes with its id. Of all others the decision has it. */
static ee_status forget_unclaimed(store *self, uint32_t bandit, uint64_t number, json_text id, json_text reward_id,
                                  ee_error *error)
{
    sqlite3_stmt *statement = self->statements[REMOVE_REWARD_ID];
    bool removed;
    ee_status status = remove_unclaimed(self, bandit, id, number, &removed, error);
    if (status || !removed || !reward_id.length) return status;
    sqlite3_bind_int64(statement, 1, bandit);
    store_bind_text(statement, 2, id);
    store_bind_text(statement, 3, reward_id);
    return store_run(self, REMOVE_REWARD_ID, "remove a reward id", error);
}

/* What a removal may touch. */
typedef struct removing {
    uint32_t bandit;
    int64_t before, keep_from; /* a time, a place */
    int64_t round_end;         /* the place of the last slot of the round that is being removed */
} removing;

static ee_status forget_decision_row(store *self, removing *by, int64_t place, json_text id, bool *stays,
                                     ee_error *error)
{
    stored_decision decision = {0};
    bool found = false, settled = true;
    ee_status status = store_get_decision(self, by->bandit, store_number_at(place), &decision, &found, error);
    uint32_t count = decision.slots ? decision.slots : 1;
    if (!status && found) status = are_settled(self, place, count, &settled, error);
    *stays = !settled || place + count > by->keep_from;
    if (status || *stays) return status;
    if (decision.slots) by->round_end = place + count - 1;
    return forget_decision(self, by->bandit, place, id, decision.slots > 0, error);
}

/* The row of FIND_OLDEST: whether it stays, else forgets what hangs on it. */
static ee_status forget_row(store *self, removing *by, bool *stays, ee_error *error)
{
    sqlite3_stmt *row = self->statements[FIND_OLDEST];
    int64_t place = sqlite3_column_int64(row, 0);
    int kind = sqlite3_column_int(row, 1);
    *stays = sqlite3_column_int64(row, 2) >= by->before;
    if (*stays) return EE_OK;
    json_text id = store_column_text(row, 3);
    if (kind == EVENT_DECISION) return forget_decision_row(self, by, place, id, stays, error);
    if ((kind == EVENT_REWARD || kind == EVENT_ACTIVATED) && sqlite3_column_int64(row, 4) == 0)
        return forget_unclaimed(self, by->bandit, store_number_at(place), id, store_column_text(row, 5), error);
    return EE_OK;
}

ee_status store_remove(store *self, uint32_t bandit, int64_t before, uint64_t keep_from, size_t most, bool *more,
                       ee_error *error)
{
    sqlite3_stmt *statement = self->statements[FIND_OLDEST];
    *more = false;
    bandit_entry *entry = NULL;
    ee_status status = store_change(self, bandit, &entry, error);
    if (status) return status;
    int64_t start = store_place(bandit, 0), end = start;
    if (keep_from > entry->now.events) keep_from = entry->now.events;
    removing by = {bandit, before, store_place(bandit, keep_from), 0};
    sqlite3_bind_int64(statement, 1, start);
    sqlite3_bind_int64(statement, 2, by.keep_from);
    for (size_t removed = 0;; removed++) {
        bool row, stays = false;
        status = store_step(self, FIND_OLDEST, "find the oldest events", &row, error);
        if (status || !row) break;
        *more = removed >= most && sqlite3_column_int64(statement, 0) > by.round_end; /* perhaps: the next call sees */
        if (*more) break;
        status = forget_row(self, &by, &stays, error);
        if (status || stays) break;
        end = sqlite3_column_int64(statement, 0);
    }
    sqlite3_reset(statement);
    if (status || end == start) return status;
    sqlite3_bind_int64(self->statements[REMOVE_EVENTS], 1, start);
    sqlite3_bind_int64(self->statements[REMOVE_EVENTS], 2, end);
    return store_run(self, REMOVE_EVENTS, "remove events", error);
}
