#include "store_derive.h"

#include <math.h>

#include "serve/settings/bandit_settings.h"

enum { ADD_EARLY, REMOVE_EARLY, LIST_EARLY, EMPTY_EARLY, SCRATCH_STATEMENTS };

/* In a temporary database: rewards and activations whose decision has not come yet. */
static const char scratch_table[] =
    "CREATE TABLE early (id TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (id, number)) WITHOUT ROWID;"
    "PRAGMA journal_mode = OFF; BEGIN";
static const char *const scratch_sql[SCRATCH_STATEMENTS] = {
    [ADD_EARLY] = "INSERT INTO early VALUES (?1, ?2)",
    [REMOVE_EARLY] = "DELETE FROM early WHERE id = ?1",
    [LIST_EARLY] = "SELECT id, number FROM early",
    [EMPTY_EARLY] = "DELETE FROM early",
};

typedef struct pending_decision {
    stored_decision row;
    bool unsure; /* its value depends on settings that are no longer in the log */
    bool erased; /* rewards of it were, and it will be: its value is not in the log any more */
    bool settled;
} pending_decision;

struct derivation {
    memory memory;
    sqlite3 *database, *scratch;
    sqlite3_stmt *statements[SCRATCH_STATEMENTS];
    const derived_rows *rows;

    /* The bandit. */
    uint32_t bandit;
    uint64_t first;
    bool rules_known;
    joining_rules rules;
    char *settings; /* (settings_size) */
    size_t settings_size, settings_capacity;
    pending_decision *pending; /* (count) by number; settled ones are removed now and then */
    size_t count, capacity, settled;
    uint64_t early; /* rewards and activations whose decision has not come: rows of the temporary table */
    uint64_t first_pending;
    event_room bodies;
};

ee_status derivation_create(sqlite3 *database, const derived_rows *rows, derivation **out, ee_error *error)
{
    derivation *self;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->database = database;
    self->rows = rows;
    self->bodies.owner = &self->memory;
    if (sqlite3_open_v2("", &self->scratch, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) ||
        sqlite3_exec(self->scratch, scratch_table, NULL, NULL, NULL))
        status = store_fail(self->scratch, "make a temporary table", error);
    if (!status) status = store_prepare(self->scratch, scratch_sql, SCRATCH_STATEMENTS, self->statements, error);
    if (status)
        derivation_free(self);
    else
        *out = self;
    return status;
}

void derivation_free(derivation *self)
{
    if (!self) return;
    store_finalize(self->statements, SCRATCH_STATEMENTS);
    sqlite3_close(self->scratch);
    memory_release(&self->memory);
}

/* ---- settings ---- */

static ee_status take_settings(derivation *self, json_text settings, ee_error *error)
{
    bandit_settings read = bandit_settings_usual();
    ee_status status =
        memory_grow(&self->memory, &self->settings, &self->settings_capacity, settings.length + 1, 1, error);
    if (status) return status;
    if (settings.length) memcpy(self->settings, settings.bytes, settings.length);
    self->settings_size = settings.length;
    status = bandit_settings_read(&read, settings.bytes, settings.length, SETTINGS_STORED, error);
    self->rules_known = !status;
    if (!status) self->rules = read.joining;
    return status;
}

ee_status derivation_begin(derivation *self, uint32_t bandit, uint64_t first, json_text settings, ee_error *error)
{
    self->bandit = bandit;
    self->first = first;
    self->rules_known = false;
    self->settings_size = 0;
    self->count = self->settled = 0;
    self->early = 0;
    self->first_pending = UINT64_MAX;
    sqlite3_step(self->statements[EMPTY_EARLY]);
    sqlite3_reset(self->statements[EMPTY_EARLY]);
    if (!settings.length) return EE_OK;
    ee_status status = take_settings(self, settings, error);
    return status == EE_NO_MEMORY ? status : EE_OK;
}

/* ---- rewards and activations that come before their decision ---- */

static ee_status run(derivation *self, int which, const char *what, ee_error *error)
{
    int code = sqlite3_step(self->statements[which]);
    sqlite3_reset(self->statements[which]);
    return code == SQLITE_DONE ? EE_OK : store_fail(self->scratch, what, error);
}

static ee_status add_early(derivation *self, const event *next, ee_error *error)
{
    sqlite3_bind_text64(self->statements[ADD_EARLY], 1, next->id.bytes, next->id.length, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_int64(self->statements[ADD_EARLY], 2, (int64_t)next->number);
    self->early++;
    return run(self, ADD_EARLY, "write a temporary table", error);
}

static ee_status claim_early(derivation *self, json_text id, ee_error *error)
{
    if (!self->early) return EE_OK;
    sqlite3_bind_text64(self->statements[REMOVE_EARLY], 1, id.bytes, id.length, SQLITE_STATIC, SQLITE_UTF8);
    ee_status status = run(self, REMOVE_EARLY, "write a temporary table", error);
    if (!status) self->early -= (uint64_t)sqlite3_changes(self->scratch);
    return status;
}

static ee_status give_early(derivation *self, ee_error *error)
{
    sqlite3_stmt *statement = self->statements[LIST_EARLY];
    ee_status status = EE_OK;
    for (int code; !status && (code = sqlite3_step(statement)) != SQLITE_DONE;) {
        if (code != SQLITE_ROW)
            status = store_fail(self->scratch, "read a temporary table", error);
        else
            status = self->rows->unclaimed(self->rows->context, self->bandit, store_column_text(statement, 0),
                                           (uint64_t)sqlite3_column_int64(statement, 1), error);
    }
    sqlite3_reset(statement);
    return status;
}

/* ---- decisions ---- */

/* NULL: it is settled, or removed. */
static pending_decision *find_pending(derivation *self, uint64_t number)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->pending[middle].row.number < number)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < self->count && self->pending[low].row.number == number && !self->pending[low].settled;
    return found ? &self->pending[low] : NULL;
}

/* Drops settled decisions once they are more than half. */
static void compact(derivation *self)
{
    enum { FEW = 1024 };
    if (self->settled < FEW || self->settled < self->count / 2) return;
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i++)
        if (!self->pending[i].settled) self->pending[kept++] = self->pending[i];
    self->count = kept;
    self->settled = 0;
}

static ee_status add_decision(derivation *self, const event *next, ee_error *error)
{
    const derived_rows *rows = self->rows;
    decision_body body;
    if (event_is_erased(next)) return EE_OK;
    ee_status status = decision_body_read(next->body, next->size, &self->bodies, &body, error);
    if (!status)
        status =
            memory_grow(&self->memory, &self->pending, &self->capacity, self->count + 1, sizeof *self->pending, error);
    if (!status) status = rows->id(rows->context, self->bandit, next->id, next->number, error);
    if (!status) status = claim_early(self, next->id, error);
    if (status) return status;
    bool is_round = body.slot_count && !body.slot_index;
    self->pending[self->count++] = (pending_decision){
        .row = {.number = next->number,
                .time = next->time,
                .request = {body.request[0], body.request[1]},
                .inactive = body.deferred,
                .slots = is_round ? (uint32_t)body.slot_count : 0},
    };
    if (!is_round) return EE_OK;
    json_text round = slot_round_id(next->id, NULL);
    status = rows->id(rows->context, self->bandit, round, next->number, error);
    return status ? status : claim_early(self, round, error);
}

/* What a decision has whose rewards were joined by settings that are gone, or erased: what the table says, if anything.
 */
static ee_status find_value(derivation *self, stored_decision *row, ee_error *error)
{
    static const char sql[] = "SELECT value, rewards, metrics FROM decisions WHERE place = ?1";
    sqlite3_stmt *statement = NULL;
    ee_status status = EE_OK;
    if (sqlite3_prepare_v2(self->database, sql, -1, &statement, NULL)) return EE_OK;
    sqlite3_bind_int64(statement, 1, store_place(self->bandit, row->number));
    if (sqlite3_step(statement) == SQLITE_ROW) {
        const void *metrics = sqlite3_column_blob(statement, 2);
        row->value = sqlite3_column_double(statement, 0);
        row->rewards = (uint32_t)sqlite3_column_int64(statement, 1);
        if (metrics && !row->metrics)
            status = memory_create(&self->memory, &row->metrics, 1, sizeof *row->metrics, error);
        if (metrics && !status)
            metric_values_read(metrics, (size_t)sqlite3_column_bytes(statement, 2), row->metrics, NULL);
        if (!metrics) row->metrics = NULL;
    }
    sqlite3_finalize(statement);
    return status;
}

static ee_status give_decision(derivation *self, pending_decision *of, ee_error *error)
{
    ee_status status = of->unsure || of->erased ? find_value(self, &of->row, error) : EE_OK;
    return status ? status : self->rows->decision(self->rows->context, self->bandit, &of->row, error);
}

static ee_status settle(derivation *self, const event *next, ee_error *error)
{
    pending_decision *of = find_pending(self, next->decision);
    if (!of) return EE_OK;
    metric_values totals = {.reward = next->value};
    ee_status status = next->size ? metric_values_read(next->body, next->size, &totals, error) : EE_OK;
    if (status) return status;
    of->row.settled = next->number;
    memory_free(of->row.metrics);
    of->row.metrics = NULL;
    if (of->unsure && of->row.rewards && next->outcome == SETTLED_REWARDED) {
        of->row.value = totals.reward;
        of->unsure = false;
    }
    status = give_decision(self, of, error);
    of->settled = true;
    self->settled++;
    compact(self);
    return status;
}

/* ---- rewards and activations ---- */

/* Adds metrics to the totals of a decision, as joining does. */
static ee_status join_metrics_of(derivation *self, pending_decision *of, const metric_values *metrics, ee_error *error)
{
    metric_values none = {.reward = NAN};
    if (!self->rules_known) of->unsure = true;
    if (!of->row.metrics && !metric_values_join(&none, &self->rules, metrics)) return EE_OK;
    if (of->row.metrics) {
        metric_values_join(of->row.metrics, &self->rules, metrics);
        return EE_OK;
    }
    ee_status status = memory_create(&self->memory, &of->row.metrics, 1, sizeof *of->row.metrics, error);
    if (!status) *of->row.metrics = none;
    return status;
}

static ee_status join(derivation *self, const event *next, ee_error *error)
{
    pending_decision *of = find_pending(self, next->decision);
    metric_values metrics = {.reward = next->value};
    if (!of) return EE_OK;
    if (!next->id.length) of->erased = true;
    ee_status status = next->size ? metric_values_read(next->body, next->size, &metrics, error) : EE_OK;
    if (!status && metrics.count) status = join_metrics_of(self, of, &metrics, error);
    if (status || isnan(metrics.reward)) return status;
    /* With `first`, only the metrics of a second reward count. */
    if (next->size && of->row.rewards && self->rules.aggregation == LOG_REWARD_FIRST) return EE_OK;
    of->row.rewards++;
    if (of->row.rewards > 1 && !self->rules_known) of->unsure = true;
    of->row.value = joining_worth(self->rules.aggregation, of->row.value, next->value, of->row.rewards);
    return EE_OK;
}

static ee_status add_reward(derivation *self, const event *next, ee_error *error)
{
    bool kept = !next->decision || next->decision >= self->first;
    ee_status status = EE_OK;
    if (next->reward_id.length && kept) status = self->rows->reward_id(self->rows->context, self->bandit, next, error);
    if (!status && (next->outcome == REWARD_JOINED || next->outcome == REWARD_CLAIMED))
        status = join(self, next, error);
    if (!status && !next->decision && next->id.length) status = add_early(self, next, error);
    return status;
}

static ee_status add_activation(derivation *self, const event *next, ee_error *error)
{
    bool counts = next->outcome == REWARD_JOINED || next->outcome == REWARD_CLAIMED;
    pending_decision *of = counts ? find_pending(self, next->decision) : NULL;
    if (of) of->row.inactive = false;
    return next->decision || !next->id.length ? EE_OK : add_early(self, next, error);
}

ee_status derivation_add(derivation *self, const event *next, ee_error *error)
{
    switch (next->kind) {
    case EVENT_DECISION:
        return add_decision(self, next, error);
    case EVENT_REWARD:
        return add_reward(self, next, error);
    case EVENT_SETTLED:
        return settle(self, next, error);
    case EVENT_ACTIVATED:
        return add_activation(self, next, error);
    case EVENT_SETTINGS:
        return take_settings(self, (json_text){next->body, next->size}, error);
    default:
        return EE_OK;
    }
}

ee_status derivation_end(derivation *self, ee_error *error)
{
    ee_status status = give_early(self, error);
    for (size_t i = 0; i < self->count && !status; i++) {
        if (self->pending[i].settled) continue;
        if (self->first_pending == UINT64_MAX) self->first_pending = self->pending[i].row.number;
        status = give_decision(self, &self->pending[i], error);
    }
    return status;
}

json_text derivation_settings(const derivation *self)
{
    return (json_text){self->settings_size ? self->settings : "", self->settings_size};
}

uint64_t derivation_first_pending(const derivation *self)
{
    return self->first_pending;
}
