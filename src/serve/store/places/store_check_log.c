/* The log and the tables that follow from it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "serve/store/row_checksum.h"
#include "store_check_parts.h"

const char *const derived_table_names[DERIVED_TABLES] = {
    [DECISIONS] = "decisions", [IDS] = "ids", [REWARD_IDS] = "reward_ids", [UNCLAIMED] = "unclaimed"};

/* The bandit, then the columns that count. */
static const char *const table_sql[DERIVED_TABLES] = {
    [DECISIONS] = "SELECT place >> 40, place, time, request_a, request_b, rewards, settled, value, inactive, slots,"
                  " metrics FROM decisions",
    [IDS] = "SELECT bandit, bandit, id, number FROM ids",
    [REWARD_IDS] = "SELECT bandit, bandit, id, reward_id, value, outcome FROM reward_ids",
    [UNCLAIMED] = "SELECT bandit, bandit, id, number FROM unclaimed",
};

/* ---- bandits ---- */

checked_bandit *check_bandit(check *self, uint32_t number)
{
    size_t low = 0, high = self->bandit_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->bandits[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < self->bandit_count && self->bandits[low].number == number ? &self->bandits[low] : NULL;
}

static ee_status copy_text(check *self, json_text from, json_text *to, ee_error *error)
{
    char *bytes;
    *to = (json_text){"", 0};
    if (!from.length) return EE_OK;
    ee_status status = memory_create(&self->memory, &bytes, from.length, 1, error);
    if (status) return status;
    memcpy(bytes, from.bytes, from.length);
    *to = (json_text){bytes, from.length};
    return EE_OK;
}

/* The row: number, name, archived, first_settings, checksum, settled_to, settings, purged. */
static ee_status add_bandit(check *self, sqlite3_stmt *row, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &self->bandits, &self->bandit_capacity, self->bandit_count + 1,
                                   sizeof *self->bandits, error);
    if (status) return status;
    checked_bandit *added = &self->bandits[self->bandit_count++];
    json_text name = store_column_text(row, 1);
    *added = (checked_bandit){.number = (uint32_t)sqlite3_column_int64(row, 0),
                              .settled_to = (uint64_t)sqlite3_column_int64(row, 5),
                              .is_going = sqlite3_column_int(row, 7) != 0,
                              .found.first = 1};
    snprintf(added->name, sizeof added->name, "%.*s", (int)name.length, name.bytes);
    status = copy_text(self, store_column_text(row, 3), &added->first_settings, error);
    if (!status) status = copy_text(self, store_column_text(row, 6), &added->settings, error);
    row_checksum sum = {0};
    row_add_columns(&sum, row, 0, 4);
    if (row_checksum_end(&sum) != sqlite3_column_int64(row, 4))
        check_found(self, &self->result->log, "the name of bandit %u, or whether it is archived, is damaged",
                    added->number);
    return status;
}

static ee_status read_failed(check *self, uint64_t *part, const char *what, ee_error *error)
{
    if (sqlite3_errcode(self->database) == SQLITE_NOMEM) return store_fail(self->database, "read", error);
    check_found(self, part, "%s cannot be read: %s", what, sqlite3_errmsg(self->database));
    return EE_OK;
}

static ee_status read_bandits(check *self, ee_error *error)
{
    static const char sql[] = "SELECT number, name, archived, first_settings, checksum, settled_to, settings,"
                              " purged FROM bandits ORDER BY number";
    sqlite3_stmt *statement = NULL;
    ee_status status = EE_OK;
    int code = sqlite3_prepare_v2(self->database, sql, -1, &statement, NULL);
    while (!code && !status && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        status = add_bandit(self, statement, error);
        code = SQLITE_OK;
    }
    if (!status && code != SQLITE_DONE) status = read_failed(self, &self->result->log, "bandits", error);
    sqlite3_finalize(statement);
    self->result->bandits = self->bandit_count;
    return status;
}

static ee_status read_ends(check *self, ee_error *error)
{
    sqlite3_stmt *statement = NULL;
    ee_status status = EE_OK;
    int code = sqlite3_prepare_v2(self->database, STORE_READ_ENDS_SQL, -1, &statement, NULL);
    while (!code && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t number = sqlite3_column_int64(statement, 0);
        checked_bandit *of = number > 0 && number <= UINT32_MAX ? check_bandit(self, (uint32_t)number) : NULL;
        stored_end end;
        bool whole = store_column_end(statement, &end);
        if (of && whole) of->end = end;
        if (of) of->has_end = whole;
        if (!of)
            check_found(self, &self->result->tables, "log_ends has a row of bandit %" PRId64 ", which does not exist",
                        number);
        code = SQLITE_OK;
    }
    if (code != SQLITE_DONE) status = read_failed(self, &self->result->tables, "log_ends", error);
    sqlite3_finalize(statement);
    for (size_t i = 0; i < self->bandit_count && !status; i++)
        if (!self->bandits[i].has_end)
            check_found(self, &self->result->tables, "log_ends: the row of bandit '%s' is damaged",
                        self->bandits[i].name);
    return status;
}

/* The rows of the clock. *whole: all checksums are right. Returns what SQLite said last. */
static int sum_clock(check *self, stored_end *found, bool *whole)
{
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(self->database, "SELECT time, ahead, in_doubt, checksum FROM clock", -1, &rows, NULL);
    *whole = true;
    while (!code && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        row_checksum row = {0};
        row_add_columns(&row, rows, 0, 3);
        *whole &= row_checksum_end(&row) == sqlite3_column_int64(rows, 3);
        found->sum += (uint64_t)sqlite3_column_int64(rows, 3);
        found->last++;
        code = SQLITE_OK;
    }
    sqlite3_finalize(rows);
    return code;
}

/* The clock says when the events happened, and nothing else knows it. Mostly it has no rows: then it can be made again.
 */
static ee_status check_clock(check *self, ee_error *error)
{
    sqlite3_stmt *ends = NULL;
    stored_end found = {.first = 1}, end = {0};
    bool whole, known = false;
    int code = sum_clock(self, &found, &whole);
    if (code == SQLITE_NOMEM) return store_fail(self->database, "read", error);
    if (!sqlite3_prepare_v2(self->database, STORE_READ_END_SQL, -1, &ends, NULL)) {
        sqlite3_bind_int64(ends, 1, CLOCK_END);
        known = sqlite3_step(ends) == SQLITE_ROW && store_column_end(ends, &end);
    }
    sqlite3_finalize(ends);
    if (!known) check_found(self, &self->result->tables, "log_ends: the row of the clock is damaged");
    if (code != SQLITE_DONE || !whole || (known && (end.last != found.last || end.sum != found.sum)))
        check_found(self, known && !end.last ? &self->result->tables : &self->result->log,
                    "clock, which has the changes of the server's clock, is damaged");
    return EE_OK;
}

/* ---- expected rows ---- */

static void expect(check *self, uint32_t bandit, derived_table table, const row_checksum *row)
{
    checked_bandit *of = check_bandit(self, bandit);
    of->expected[table].count++;
    of->expected[table].sum += (uint64_t)row_checksum_end(row);
}

static ee_status expect_decision(void *context, uint32_t bandit, const stored_decision *of, ee_error *error)
{
    row_checksum row = {0};
    (void)error;
    row_add_integer(&row, store_place(bandit, of->number));
    row_add_integer(&row, of->time);
    row_add_integer(&row, (int64_t)of->request[0]);
    row_add_integer(&row, (int64_t)of->request[1]);
    row_add_integer(&row, of->rewards);
    row_add_integer(&row, (int64_t)of->settled);
    row_add_real(&row, of->value);
    row_add_integer(&row, of->inactive);
    row_add_integer(&row, of->slots);
    uint8_t metrics[METRIC_VALUES_SIZE];
    row_add_blob(&row, metrics, of->metrics ? metric_values_write(of->metrics, metrics) : 0);
    expect(context, bandit, DECISIONS, &row);
    return EE_OK;
}

static void expect_id(check *self, derived_table table, uint32_t bandit, json_text id, uint64_t number)
{
    row_checksum row = {0};
    row_add_integer(&row, bandit);
    row_add_text(&row, id);
    row_add_integer(&row, (int64_t)number);
    expect(self, bandit, table, &row);
}

static ee_status expect_decision_id(void *context, uint32_t bandit, json_text id, uint64_t number, ee_error *error)
{
    (void)error;
    expect_id(context, IDS, bandit, id, number);
    return EE_OK;
}

static ee_status expect_unclaimed(void *context, uint32_t bandit, json_text id, uint64_t number, ee_error *error)
{
    (void)error;
    expect_id(context, UNCLAIMED, bandit, id, number);
    return EE_OK;
}

static ee_status expect_reward_id(void *context, uint32_t bandit, const event *reward, ee_error *error)
{
    row_checksum row = {0};
    (void)error;
    row_add_integer(&row, bandit);
    row_add_text(&row, reward->id);
    row_add_text(&row, reward->reward_id);
    row_add_real(&row, reward_id_value(reward));
    row_add_integer(&row, reward->outcome);
    expect(context, bandit, REWARD_IDS, &row);
    return EE_OK;
}

/* ---- the log ---- */

typedef struct log_pass {
    check *check;
    derivation *rows;
    checked_bandit *bandit; /* whose events are read; NULL: none yet */
    uint64_t next;          /* number of the next event */
    int64_t time;           /* of the last */
    uint64_t strange;       /* number of the last bandit that does not exist, plus 1 */
    uint64_t done, all;     /* events */
} log_pass;

__attribute__((format(printf, 2, 3))) static void log_found(log_pass *self, const char *format, ...)
{
    char what[200];
    va_list values;
    va_start(values, format);
    vsnprintf(what, sizeof what, format, values);
    va_end(values);
    self->bandit->damaged = true;
    check_found(self->check, &self->check->result->log, "bandit '%s': %s", self->bandit->name, what);
}

static void report_gap(log_pass *self, uint64_t from, uint64_t to)
{
    if (from == to)
        log_found(self, "event %" PRIu64 " is missing", from);
    else
        log_found(self, "events %" PRIu64 " to %" PRIu64 " are missing", from, to);
}

static ee_status begin_bandit(log_pass *self, checked_bandit *bandit, uint64_t first, ee_error *error)
{
    self->bandit = bandit;
    self->next = bandit->has_end ? bandit->end.first : first;
    self->time = INT64_MIN;
    bandit->found = (stored_end){.first = self->next, .last = self->next - 1};
    return derivation_begin(self->rows, bandit->number, self->next, bandit->first_settings, error);
}

/* What bandits and log_ends say of the log. */
static void compare_ends(log_pass *self)
{
    checked_bandit *of = self->bandit;
    uint64_t *tables = &self->check->result->tables;
    if (of->has_end && of->found.last < of->end.last) report_gap(self, of->found.last + 1, of->end.last);
    if (of->has_end && of->found.last > of->end.last)
        check_found(self->check, tables, "log_ends: bandit '%s': the log goes on after event %" PRIu64, of->name,
                    of->end.last);
    else if (of->has_end && !of->damaged && of->found.sum != of->end.sum)
        log_found(self, "the events are not those that were written: the sum of their checksums differs");
    if (of->damaged) return;
    json_text settings = derivation_settings(self->rows);
    if (settings.length != of->settings.length || memcmp(settings.bytes, of->settings.bytes, settings.length) != 0)
        check_found(self->check, tables, "bandits: the settings of '%s' differ from the log", of->name);
    if ((of->has_end && of->settled_to != of->end.settled_to) || of->settled_to > of->found.last ||
        of->settled_to >= derivation_first_pending(self->rows))
        check_found(self->check, tables, "bandits: settled_to of '%s' differs from the log", of->name);
}

static ee_status end_bandit(log_pass *self, ee_error *error)
{
    if (!self->bandit) return EE_OK;
    ee_status status = derivation_end(self->rows, error);
    if (!status) compare_ends(self);
    self->bandit = NULL;
    return status;
}

static ee_status name_model(log_pass *self, const event *next, ee_error *error)
{
    check *into = self->check;
    checkpoint_body body;
    if (next->kind == EVENT_MODEL && !next->size) return EE_OK; /* a reset */
    ee_status status = checkpoint_body_read(next->body, next->size, &body, error);
    if (!status)
        status = memory_grow(&into->memory, &into->models, &into->model_capacity, into->model_count + 1,
                             sizeof *into->models, error);
    if (status) return status;
    if (next->kind == EVENT_CHECKPOINT) self->bandit->checkpoint = next->number;
    into->models[into->model_count++] = (named_model){.bandit = self->bandit->number,
                                                      .event = next->number,
                                                      .version = body.version,
                                                      .size = body.size,
                                                      .checksum = body.checksum,
                                                      .upload = next->kind == EVENT_MODEL};
    return EE_OK;
}

/* An event whose checksum is right. */
static ee_status take_event(log_pass *self, const event *next, ee_error *error)
{
    ee_error why = {0};
    if (next->time < self->time) log_found(self, "the time of event %" PRIu64 " is before the last", next->number);
    self->time = next->time;
    ee_status status = derivation_add(self->rows, next, &why);
    if (!status && (next->kind == EVENT_CHECKPOINT || next->kind == EVENT_MODEL)) status = name_model(self, next, &why);
    if (status != EE_BAD_INPUT) return status ? status_fail(error, status, "%s", why.message) : EE_OK;
    log_found(self, "event %" PRIu64 ": %s", next->number, why.message);
    return EE_OK;
}

static ee_status take_row(log_pass *self, sqlite3_stmt *row, ee_error *error)
{
    int64_t place = sqlite3_column_int64(row, 0);
    uint64_t number = store_number_at(place), bandit = (uint64_t)place >> STORE_NUMBER_BITS;
    event next;
    ee_status status = EE_OK;
    if (!self->bandit || self->bandit->number != bandit) {
        status = end_bandit(self, error);
        checked_bandit *of = bandit <= UINT32_MAX ? check_bandit(self->check, (uint32_t)bandit) : NULL;
        if (!status && !of && self->strange != bandit + 1)
            check_found(self->check, &self->check->result->log,
                        "the log has events of bandit %" PRIu64 ", which does not exist", bandit);
        if (!of) self->strange = bandit + 1;
        if (status || !of || of->is_going) return status;
        status = begin_bandit(self, of, number, error);
        if (status) return status;
    }
    if (number > self->next) report_gap(self, self->next, number - 1);
    if (number < self->next) log_found(self, "event %" PRIu64 " was removed, and is there", number);
    self->next = number + 1;
    self->bandit->found.last = number;
    self->check->result->events++;
    if (store_column_event(row, &next, NULL)) {
        log_found(self, "event %" PRIu64 " is damaged: its checksum does not match", number);
        return EE_OK;
    }
    self->bandit->found.sum += (uint64_t)sqlite3_column_int64(row, 9);
    return take_event(self, &next, error);
}

static bool log_goes_on(log_pass *self)
{
    enum { EVENTS = 1024 };
    if (self->done++ % EVENTS) return true;
    return check_goes_on(self->check, "log", self->all ? (double)self->done / (double)self->all : 0);
}

static ee_status read_events(log_pass *self, ee_error *error)
{
    sqlite3_stmt *statement = NULL;
    ee_status status = EE_OK;
    int code = sqlite3_prepare_v2(self->check->database, STORE_EVENT_COLUMNS " NOT INDEXED ORDER BY place", -1,
                                  &statement, NULL);
    while (!code && !status && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        status = log_goes_on(self) ? take_row(self, statement, error) : check_stopped(error);
        code = SQLITE_OK;
    }
    if (!status && code != SQLITE_DONE) {
        status = read_failed(self->check, &self->check->result->log, "the log", error);
        for (size_t i = 0; i < self->check->bandit_count; i++)
            if (!self->bandit || self->check->bandits[i].number >= self->bandit->number)
                self->check->bandits[i].damaged = true;
    }
    sqlite3_finalize(statement);
    return status ? status : end_bandit(self, error);
}

/* Bandits without an event were not seen. */
static void check_unseen(log_pass *self)
{
    for (size_t i = 0; i < self->check->bandit_count; i++) {
        checked_bandit *of = &self->check->bandits[i];
        self->bandit = of;
        if (of->found.last || !of->has_end || !of->end.last || of->damaged) continue;
        report_gap(self, of->end.first, of->end.last);
    }
    self->bandit = NULL;
}

/* ---- the tables ---- */

static ee_status sum_table(check *self, derived_table table, ee_error *error)
{
    enum { ROWS = 4096 };
    sqlite3_stmt *statement = NULL;
    uint64_t strange = 0, done = 0;
    int code = sqlite3_prepare_v2(self->database, table_sql[table], -1, &statement, NULL);
    int columns = code ? 0 : sqlite3_column_count(statement) - 1;
    checked_bandit *of = NULL;
    while (!code && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t bandit = sqlite3_column_int64(statement, 0);
        if (!of || of->number != bandit)
            of = bandit > 0 && bandit <= UINT32_MAX ? check_bandit(self, (uint32_t)bandit) : NULL;
        row_checksum row = {0};
        row_add_columns(&row, statement, 1, columns);
        if (of) of->there[table].count++;
        if (of) of->there[table].sum += (uint64_t)row_checksum_end(&row);
        strange += !of;
        code = SQLITE_OK;
        if (++done % ROWS == 0 && !check_goes_on(self, derived_table_names[table], -1)) break;
    }
    ee_status status = EE_OK;
    if (self->stopped)
        status = check_stopped(error);
    else if (code != SQLITE_DONE)
        status = read_failed(self, &self->result->tables, derived_table_names[table], error);
    else if (strange)
        check_found(self, &self->result->tables, "%s has rows of bandits that do not exist",
                    derived_table_names[table]);
    sqlite3_finalize(statement);
    return status;
}

static void compare_table(check *self, const checked_bandit *of, derived_table table)
{
    table_sum expected = of->expected[table], there = of->there[table];
    if (table == REWARD_IDS && of->has_end && there.count >= expected.count) {
        expected.sum += of->end.kept; /* nobody knows how many they are */
        expected.count = there.count;
    }
    if (expected.count == there.count && expected.sum == there.sum) return;
    check_found(self, &self->result->tables,
                "%s differs from the log of bandit '%s': %" PRIu64 " rows, expected %" PRIu64 "%s",
                derived_table_names[table], of->name, there.count, expected.count,
                there.count == expected.count ? " with other content" : "");
}

static ee_status compare_tables(check *self, ee_error *error)
{
    for (derived_table table = 0; table < DERIVED_TABLES; table++) {
        uint64_t before = self->result->tables;
        ee_status status = sum_table(self, table, error);
        if (status) return status;
        if (self->result->tables != before) continue; /* it cannot be read: said already */
        for (size_t i = 0; i < self->bandit_count; i++)
            if (!self->bandits[i].damaged && !self->bandits[i].is_going) compare_table(self, &self->bandits[i], table);
    }
    return EE_OK;
}

ee_status check_log(check *self, ee_error *error)
{
    log_pass pass = {.check = self};
    derived_rows rows = {expect_decision, expect_decision_id, expect_reward_id, expect_unclaimed, self};
    ee_status status = read_bandits(self, error);
    if (!status) status = read_ends(self, error);
    if (!status) status = check_clock(self, error);
    if (status) return status;
    for (size_t i = 0; i < self->bandit_count; i++)
        pass.all += self->bandits[i].end.last + 1 - self->bandits[i].end.first;
    status = derivation_create(self->database, &rows, &pass.rows, error);
    if (status) return status;
    status = read_events(&pass, error);
    if (!status) check_unseen(&pass);
    derivation_free(pass.rows);
    return status ? status : compare_tables(self, error);
}
