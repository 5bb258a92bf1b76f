/* A group of entries in SQLite: finds what it refers to and writes what it changes, each with one statement for all
 * rows. The working set (joining.h) is the source of the tables that these statements read. */
#include "store_sqlite.h"

/* ---- the group as tables ---- */

static void result_text(sqlite3_context *out, json_text value)
{
    if (value.length)
        sqlite3_result_text64(out, value.bytes, value.length, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_result_null(out);
}

static void result_number(sqlite3_context *out, uint64_t value)
{
    sqlite3_result_int64(out, (int64_t)value);
}

static size_t count_ids(const void *source)
{
    return ((const joining *)source)->id_count;
}

static bool is_wanted_id(const void *source, size_t row)
{
    return ((const joining *)source)->ids[row].fetch;
}

static bool wants_unclaimed(const void *source, size_t row)
{
    return ((const joining *)source)->ids[row].fetch_unclaimed;
}

static bool is_new_id(const void *source, size_t row)
{
    return ((const joining *)source)->ids[row].is_new;
}

static void id_column(const void *source, size_t row, int column, sqlite3_context *out)
{
    const joining *set = source;
    const join_id *id = &set->ids[row];
    if (column == 0)
        sqlite3_result_int64(out, id->bandit);
    else if (column == 1)
        result_text(out, id->id);
    else
        result_number(out, id->decision ? set->decisions[id->decision - 1].row.number : 0);
}

static size_t count_reward_ids(const void *source)
{
    return ((const joining *)source)->reward_id_count;
}

static bool is_new_reward_id(const void *source, size_t row)
{
    return ((const joining *)source)->reward_ids[row].is_new;
}

static void reward_id_column(const void *source, size_t row, int column, sqlite3_context *out)
{
    const join_reward_id *id = &((const joining *)source)->reward_ids[row];
    switch (column) {
    case 0:
        sqlite3_result_int64(out, id->bandit);
        break;
    case 1:
        result_text(out, id->id);
        break;
    case 2:
        result_text(out, id->reward_id);
        break;
    case 3:
        sqlite3_result_double(out, id->value);
        break;
    default:
        sqlite3_result_int(out, (int)id->outcome);
    }
}

static size_t count_events(const void *source)
{
    return ((const joining *)source)->event_count;
}

/* Columns that do not belong to the kind are NULL. */
static void event_column(const void *source, size_t row, int column, sqlite3_context *out)
{
    const join_event *of = &((const joining *)source)->events[row];
    const event *what = &of->event;
    switch (column) {
    case 0:
        sqlite3_result_int64(out, store_place(of->bandit, what->number));
        break;
    case 1:
        sqlite3_result_int(out, (int)what->kind);
        break;
    case 2:
        sqlite3_result_int64(out, what->time);
        break;
    case 3:
        result_text(out, what->id);
        break;
    case 4:
        if (what->decision) result_number(out, what->decision);
        break;
    case 5:
        if (event_has_value(what)) sqlite3_result_double(out, what->value);
        break;
    case 6:
        if (event_has_outcome(what)) sqlite3_result_int(out, (int)what->outcome);
        break;
    case 7:
        result_text(out, what->reward_id);
        break;
    case 8:
        if (what->size) sqlite3_result_blob64(out, what->body, what->size, SQLITE_STATIC);
        break;
    default:
        sqlite3_result_int64(out, of->checksum);
    }
}

static size_t count_decisions(const void *source)
{
    return ((const joining *)source)->decision_count;
}

static bool is_new_decision(const void *source, size_t row)
{
    return ((const joining *)source)->decisions[row].is_new;
}

static void decision_column(const void *source, size_t row, int column, sqlite3_context *out)
{
    const join_decision *of = &((const joining *)source)->decisions[row];
    const stored_decision *decision = &of->row;
    if (column == 6) {
        sqlite3_result_double(out, decision->value);
        return;
    }
    if (column == STORE_DECISION_METRICS) {
        uint8_t bytes[METRIC_VALUES_SIZE];
        if (decision->metrics)
            sqlite3_result_blob64(out, bytes, metric_values_write(decision->metrics, bytes), SQLITE_TRANSIENT);
        return;
    }
    const int64_t numbers[] = {store_place(of->bandit, decision->number),
                               decision->time,
                               (int64_t)decision->request[0],
                               (int64_t)decision->request[1],
                               decision->rewards,
                               (int64_t)decision->settled,
                               0,
                               decision->inactive,
                               decision->slots};
    sqlite3_result_int64(out, numbers[column]);
}

static size_t count_unclaimed(const void *source)
{
    return ((const joining *)source)->unclaimed_count;
}

static bool is_new_unclaimed(const void *source, size_t row)
{
    const join_unclaimed *one = &((const joining *)source)->unclaimed[row];
    return one->is_new && !one->taken;
}

static void unclaimed_column(const void *source, size_t row, int column, sqlite3_context *out)
{
    const join_unclaimed *one = &((const joining *)source)->unclaimed[row];
    if (column == 1)
        result_text(out, one->id);
    else
        result_number(out, column ? one->number : one->bandit);
}

enum {
    WANTED_IDS,
    WANTED_UNCLAIMED,
    WANTED_REWARD_IDS,
    NEW_EVENTS,
    NEW_DECISIONS,
    NEW_IDS,
    NEW_REWARD_IDS,
    NEW_UNCLAIMED
};

static const sqlite_rows group_tables[GROUP_TABLES] = {
    [WANTED_IDS] = {"wanted_ids", "bandit, id", count_ids, is_wanted_id, id_column, NULL},
    [WANTED_UNCLAIMED] = {"wanted_unclaimed", "bandit, id", count_ids, wants_unclaimed, id_column, NULL},
    [WANTED_REWARD_IDS] = {"wanted_reward_ids", "bandit, id, reward_id", count_reward_ids, NULL, reward_id_column,
                           NULL},
    [NEW_EVENTS] = {"new_events", "place, kind, time, id, decision, value, outcome, reward_id, body, checksum",
                    count_events, NULL, event_column, NULL},
    [NEW_DECISIONS] = {"new_decisions",
                       "place, time, request_a, request_b, rewards, settled, value, inactive, slots, metrics",
                       count_decisions, is_new_decision, decision_column, NULL},
    [NEW_IDS] = {"new_ids", "bandit, id, number", count_ids, is_new_id, id_column, NULL},
    [NEW_REWARD_IDS] = {"new_reward_ids", "bandit, id, reward_id, value, outcome", count_reward_ids, is_new_reward_id,
                        reward_id_column, NULL},
    [NEW_UNCLAIMED] = {"new_unclaimed", "bandit, id, number", count_unclaimed, is_new_unclaimed, unclaimed_column,
                       NULL},
};

ee_status sqlite_add_group_tables(sqlite_store *self, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < GROUP_TABLES && !status; i++) {
        self->tables[i] = group_tables[i];
        self->tables[i].source = self->base.joining;
        status = sqlite_rows_add(self->database, &self->tables[i], error);
    }
    return status;
}

static bool has_rows(const sqlite_store *self, int which)
{
    const sqlite_rows *table = &self->tables[which];
    size_t count = table->count(table->source);
    if (!table->has) return count > 0;
    for (size_t i = 0; i < count; i++)
        if (table->has(table->source, i)) return true;
    return false;
}

/* ---- what the group refers to ---- */

/* Takes a row of a statement. */
typedef ee_status take_row(joining *set, sqlite3_stmt *row, ee_error *error);

/* A decision with its metrics. */
static ee_status read_decision(joining *set, sqlite3_stmt *row, stored_decision *out, ee_error *error)
{
    *out = store_column_decision(row);
    return joining_keep_metrics(set, sqlite3_column_blob(row, STORE_DECISION_METRICS),
                                (size_t)sqlite3_column_bytes(row, STORE_DECISION_METRICS), &out->metrics, error);
}

static ee_status take_decision(joining *set, sqlite3_stmt *row, ee_error *error)
{
    stored_decision decision;
    ee_status status = read_decision(set, row, &decision, error);
    if (status) return status;
    return joining_found_decision(set, (size_t)sqlite3_column_int64(row, STORE_DECISION_WIDTH), &decision, error);
}

/* One whose event is damaged is not claimed. */
static ee_status take_unclaimed(joining *set, sqlite3_stmt *row, ee_error *error)
{
    if (!sqlite3_column_int(row, 4)) return EE_OK;
    event found = {.number = (uint64_t)sqlite3_column_int64(row, 1),
                   .kind = (event_kind)sqlite3_column_int(row, 2),
                   .value = sqlite3_column_double(row, 3),
                   .body = sqlite3_column_blob(row, 5),
                   .size = (size_t)sqlite3_column_bytes(row, 5)};
    return joining_found_unclaimed(set, (size_t)sqlite3_column_int64(row, 0), &found, error);
}

static ee_status take_reward_id(joining *set, sqlite3_stmt *row, ee_error *error)
{
    (void)error;
    join_reward_id *known = &set->reward_ids[sqlite3_column_int64(row, 0)];
    known->known = true;
    known->value = sqlite3_column_double(row, 1);
    known->outcome = (event_outcome)sqlite3_column_int(row, 2);
    return EE_OK;
}

static ee_status fetch_rows(sqlite_store *self, int table, int which, const char *what, take_row *take, ee_error *error)
{
    ee_status status = EE_OK;
    if (!has_rows(self, table)) return EE_OK;
    for (bool row = true; row && !status;) {
        status = sqlite_step(self, which, what, &row, error);
        if (!status && row) status = take(self->base.joining, self->statements[which], error);
    }
    sqlite3_reset(self->statements[which]);
    return status;
}

static ee_status fetch_names(sqlite_store *self, ee_error *error)
{
    joining *set = self->base.joining;
    ee_status status = EE_OK;
    for (size_t i = 0; i < set->name_count && !status; i++) {
        store_bind_text(self->statements[FIND_NAME], 1, set->names[i].name);
        status = sqlite_step(self, FIND_NAME, "find a bandit", &set->names[i].exists, error);
        sqlite3_reset(self->statements[FIND_NAME]);
    }
    return status;
}

ee_status sqlite_fetch(store *base, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    ee_status status = fetch_rows(self, WANTED_IDS, FETCH_DECISIONS, "find decisions", take_decision, error);
    if (!status)
        status = fetch_rows(self, WANTED_UNCLAIMED, FETCH_UNCLAIMED, "find unclaimed rewards", take_unclaimed, error);
    if (!status)
        status = fetch_rows(self, WANTED_REWARD_IDS, FETCH_REWARD_IDS, "find reward ids", take_reward_id, error);
    return status ? status : fetch_names(self, error);
}

ee_status sqlite_fetch_slots(store *base, ee_error *error)
{
    sqlite_store *self = (sqlite_store *)base;
    joining *set = base->joining;
    ee_status status = EE_OK;
    for (size_t i = 0; i < set->slot_count && !status; i++) {
        const join_slot *slot = &set->slots[i];
        stored_decision row;
        bool found = false;
        sqlite3_stmt *statement = self->statements[GET_DECISION];
        sqlite3_bind_int64(statement, 1, store_place(slot->bandit, slot->number));
        status = sqlite_step(self, GET_DECISION, "find a decision", &found, error);
        if (!status && found) status = read_decision(set, statement, &row, error);
        sqlite3_reset(statement);
        if (!status && found) status = joining_found_slot(set, slot->bandit, &row, error);
    }
    return status;
}

ee_status sqlite_fetch_waiting(store *base, join_due *due, stored_decision *out, size_t limit, size_t *count,
                               ee_error *error)
{
    enum { MOST_LOOKED_AT = 4096 };
    sqlite_store *self = (sqlite_store *)base;
    sqlite3_stmt *statement = self->statements[FIND_WAITING];
    ee_status status;
    *count = 0;
    due->upto = due->after;
    due->next = INT64_MAX;
    sqlite3_bind_int64(statement, 1, store_place(due->bandit, due->after));
    sqlite3_bind_int64(statement, 2, store_place(due->bandit + 1, 0));
    /* It stops here and not by a condition in the statement: times never go back, so nothing follows. */
    for (size_t looked_at = 0;; looked_at++) {
        bool row;
        status = sqlite_step(self, FIND_WAITING, "find the pending decisions", &row, error);
        if (status || !row) break;
        stored_decision decision = store_column_decision(statement);
        if (decision.time >= due->before || *count == limit || looked_at == MOST_LOOKED_AT) {
            due->next = decision.time;
            break;
        }
        due->upto = decision.number;
        if (decision.settled) continue;
        status = read_decision(base->joining, statement, &out[(*count)++], error);
        if (status) break;
    }
    sqlite3_reset(statement);
    return status;
}

/* ---- what the group changes ---- */

static ee_status add_bandit(sqlite_store *self, const join_bandit *bandit, ee_error *error)
{
    sqlite3_bind_int64(self->statements[WRITE_BANDIT], 1, bandit->now.number);
    store_bind_text(self->statements[WRITE_BANDIT], 2, bandit->name);
    ee_status status = sqlite_run(self, WRITE_BANDIT, "add a bandit", error);
    if (status) return status;
    store_bind_end(self->statements[ADD_END], bandit->now.number, &(stored_end){.first = 1});
    return sqlite_run(self, ADD_END, "add a bandit", error);
}

static ee_status change_bandit(sqlite_store *self, const join_bandit *bandit, ee_error *error)
{
    sqlite3_stmt *statement = self->statements[WRITE_CHANGE];
    sqlite3_bind_int64(statement, 1, bandit->now.number);
    sqlite3_bind_int(statement, 2, bandit->now.archived);
    sqlite3_bind_int64(statement, 3, (int64_t)bandit->now.settled_to);
    store_bind_text(statement, 4, bandit->settings);
    return sqlite_run(self, WRITE_CHANGE, "change a bandit", error);
}

static ee_status write_bandits(sqlite_store *self, ee_error *error)
{
    const joining *set = self->base.joining;
    ee_status status = EE_OK;
    for (size_t i = 0; i < set->touched_count && !status; i++) {
        const join_bandit *bandit = joining_bandit(set, set->touched[i]);
        if (bandit->is_new) status = add_bandit(self, bandit, error);
        if (!status && bandit->changed) status = change_bandit(self, bandit, error);
    }
    return status;
}

static ee_status write_ends(sqlite_store *self, ee_error *error)
{
    const joining *set = self->base.joining;
    ee_status status = EE_OK;
    for (size_t i = 0; i < set->touched_count && !status; i++) {
        const join_bandit *bandit = joining_bandit(set, set->touched[i]);
        end_change change;
        if (store_end_change_of(bandit, &change))
            status = store_change_end(self->database, self->statements[GET_END], self->statements[SET_END],
                                      bandit->now.number, &change, error);
    }
    return status;
}

static void bind_metrics(sqlite3_stmt *statement, int at, const metric_values *metrics)
{
    uint8_t bytes[METRIC_VALUES_SIZE];
    if (metrics)
        sqlite3_bind_blob64(statement, at, bytes, metric_values_write(metrics, bytes), SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(statement, at);
}

/* Row by row: for a statement that changes many rows SQLite would first copy their pages to a temporary file. */
static ee_status change_decisions(sqlite_store *self, ee_error *error)
{
    const joining *set = self->base.joining;
    sqlite3_stmt *statement = self->statements[CHANGE_DECISION];
    ee_status status = EE_OK;
    for (size_t i = 0; i < set->decision_count && !status; i++) {
        const join_decision *decision = &set->decisions[i];
        if (!decision->changed || decision->is_new) continue;
        sqlite3_bind_int64(statement, 1, store_place(decision->bandit, decision->row.number));
        sqlite3_bind_int64(statement, 2, decision->row.rewards);
        sqlite3_bind_int64(statement, 3, (int64_t)decision->row.settled);
        sqlite3_bind_double(statement, 4, decision->row.value);
        sqlite3_bind_int(statement, 5, decision->row.inactive);
        bind_metrics(statement, 6, decision->row.metrics);
        status = sqlite_run(self, CHANGE_DECISION, "change a decision", error);
    }
    return status;
}

static ee_status remove_claimed(sqlite_store *self, ee_error *error)
{
    const joining *set = self->base.joining;
    ee_status status = EE_OK;
    bool removed;
    for (size_t i = 0; i < set->unclaimed_count && !status; i++) {
        const join_unclaimed *one = &set->unclaimed[i];
        if (one->taken && !one->is_new)
            status = sqlite_remove_unclaimed(self, one->bandit, one->id, one->number, &removed, error);
    }
    return status;
}

ee_status sqlite_apply(store *base, ee_error *error)
{
    static const struct {
        int table, statement;
        const char *what;
    } writes[] = {
        {NEW_EVENTS, WRITE_EVENTS, "append events"},
        {NEW_DECISIONS, WRITE_DECISIONS, "write decisions"},
        {NEW_IDS, WRITE_IDS, "add the ids of decisions"},
        {NEW_REWARD_IDS, WRITE_REWARD_IDS, "add reward ids"},
        {NEW_UNCLAIMED, WRITE_UNCLAIMED, "keep unclaimed rewards"},
    };
    sqlite_store *self = (sqlite_store *)base;
    store_sum_events(base->joining);
    ee_status status = write_bandits(self, error);
    if (!status) status = write_ends(self, error);
    for (size_t i = 0; i < sizeof writes / sizeof *writes && !status; i++)
        if (has_rows(self, writes[i].table)) status = sqlite_run(self, writes[i].statement, writes[i].what, error);
    if (!status) status = change_decisions(self, error);
    return status ? status : remove_claimed(self, error);
}
