/* What the tests of the store share to write: entries one by one, bandits without a SETTINGS event, and events as they
 * are, past the rules of joining. */
#ifndef EENET_STORE_WRITER_H
#define EENET_STORE_WRITER_H

#include <stdio.h>

#include "base/archive.h"
#include "serve/store/place_name.h"
#include "serve/store/row_checksum.h"
#include "serve/store/sqlite/store_sqlite.h"
#include "serve/test_place.h"

/* ---- by the rules ---- */

/* Writes a chain of entries in one transaction. */
static inline void write_entries(store *kept, store_entry *first, int64_t now)
{
    store_group group = {.first = first, .now = now};
    ok(store_write(kept, &group, &last_error));
}

static inline entry_verdict write_entry(store *kept, store_entry *entry, int64_t now)
{
    write_entries(kept, entry, now);
    return entry->verdict;
}

/* The entries of a decision, or of the slots of a round, whose ids are made of the round's. */
typedef struct decision_entries {
    store_entry all[8]; /* (count) */
    char ids[8][64];
    size_t count;
} decision_entries;

static inline void fill_decision(decision_entries *into, uint32_t bandit, const char *id, const decision_body *bodies)
{
    size_t in_round = bodies[0].slot_count;
    into->count = in_round ? in_round : 1;
    for (size_t i = 0; i < into->count; i++) {
        uint8_t *bytes = NULL;
        size_t size = 0, capacity = 0;
        ok(decision_body_write(&bodies[i], NULL, &bytes, &size, &capacity, NULL));
        into->all[i] = (store_entry){
            .bandit = bandit,
            .event = {.kind = EVENT_DECISION,
                      .id = in_round ? slot_decision_id(words(id), bodies[i].slot, into->ids[i]) : words(id),
                      .body = bytes,
                      .size = size},
            .request = {bodies[i].request[0], bodies[i].request[1]},
            .deferred = bodies[i].deferred,
            .slot_index = i,
            .slot_count = in_round,
            .with_next = i + 1 < in_round,
            .next = i + 1 < in_round ? &into->all[i + 1] : NULL,
        };
    }
}

static inline void free_decision(decision_entries *self)
{
    for (size_t i = 0; i < self->count; i++) memory_free((void *)(uintptr_t)self->all[i].event.body);
}

static inline void write_decision(store *kept, uint32_t bandit, const char *id, const decision_body *bodies,
                                  int64_t now)
{
    decision_entries entries;
    fill_decision(&entries, bandit, id, bodies);
    write_entries(kept, entries.all, now);
    for (size_t i = 0; i < entries.count; i++) assert_int_equal(entries.all[i].verdict, ENTRY_DONE);
    free_decision(&entries);
}

/* Settles at most `limit` decisions whose wait is over. Returns how many. */
static inline size_t settle_some(store *kept, uint32_t bandit, int64_t now, size_t limit)
{
    uint64_t before = store_bandit_state(kept, bandit)->events;
    store_group group = {.now = now, .due = &bandit, .due_count = 1, .settle_each = limit, .settle_total = limit};
    ok(store_write(kept, &group, &last_error));
    assert_int_equal(group.due_done, 1);
    return (size_t)(store_bandit_state(kept, bandit)->events - before);
}

/* What the writer knows of a bandit, to be changed by a test. */
static inline bandit_state *state_of(store *kept, uint32_t bandit)
{
    return &joining_bandit(kept->joining, bandit)->now;
}

/* Creates a bandit by its SETTINGS event. */
static inline uint32_t write_bandit(store *kept, const char *name, const char *json, int64_t now)
{
    bandit_settings settings = bandit_settings_usual();
    ok(bandit_settings_read(&settings, json, strlen(json), SETTINGS_STORED, NULL));
    store_entry entry = {.event = {.kind = EVENT_SETTINGS, .body = json, .size = strlen(json)},
                         .settings = &settings,
                         .name = words(name)};
    assert_int_equal(write_entry(kept, &entry, now), ENTRY_DONE);
    return entry.bandit;
}

/* ---- models ---- */

/* Bytes as those of a model: they end with the checksum of the others. out has room for 64. Returns the size. */
static inline size_t sealed(const char *content, uint8_t *out)
{
    size_t length = strlen(content);
    memcpy(out, content, length);
    uint64_t checksum = archive_checksum(out, length);
    for (int i = 0; i < 8; i++) out[length + (size_t)i] = (uint8_t)(checksum >> 8 * i);
    return length + 8;
}

static inline ee_status put_model(store *kept, uint32_t bandit, uint64_t version, const char *content)
{
    uint8_t bytes[64];
    size_t size = sealed(content, bytes);
    return blob_put(store_blobs(kept), blob_model(bandit, version), bytes, size, NULL);
}

static inline bool has_model(store *kept, uint32_t bandit, uint64_t version, const char *content)
{
    uint8_t expected[64], *bytes = NULL;
    size_t length = sealed(content, expected), size = 0;
    bool same = !blob_get(store_blobs(kept), blob_model(bandit, version), &bytes, &size, NULL) && size == length &&
                memcmp(bytes, expected, size) == 0;
    memory_free(bytes);
    return same;
}

/* ---- past the rules: another connection, which the writer must not know of. Reopen the store before it writes ---- */

typedef struct raw_log {
    sqlite3 *database; /* NULL: PostgreSQL */
    sqlite3_stmt *event;
    pg_connection *connection;
} raw_log;

static inline void raw_run(raw_log *self, const char *sql)
{
    char *message = NULL;
    ee_error error = {0};
    if (self->connection && pg_execute(self->connection, sql, "run", &error)) fail_msg("%s: %s", sql, error.message);
    if (self->database && sqlite3_exec(self->database, sql, NULL, NULL, &message)) fail_msg("%s: %s", sql, message);
}

static inline PGresult *raw_ask(raw_log *self, const char *sql)
{
    PGresult *rows;
    if (pg_query(self->connection, sql, "ask", &rows, &last_error)) fail_msg("%s: %s", sql, last_error.message);
    return rows;
}

static inline raw_log raw_begin_database(const char *where)
{
    static const char *const sql[] = {
        "INSERT INTO events (place, kind, time, id, decision, value, outcome, reward_id, body, checksum)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"};
    raw_log self = {NULL, NULL, NULL};
    ok(pg_create(&(pg_options){.where = where, .sql = sql, .count = 1, .role = "test", .seconds = 600},
                 &self.connection, NULL));
    raw_run(&self, "SET idle_in_transaction_session_timeout = 0");
    raw_run(&self, "BEGIN; SET LOCAL search_path = eenet");
    return self;
}

/* Begins a transaction in the store of a place, which must exist. */
static inline raw_log raw_begin(const char *where)
{
    raw_log self = {NULL, NULL, NULL};
    char path[4200];
    if (place_is_database(where)) return raw_begin_database(where);
    snprintf(path, sizeof path, "%s/eenet.db", where);
    assert_int_equal(sqlite3_open_v2(path, &self.database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(self.database, 10000);
    assert_int_equal(row_checksum_register(self.database), SQLITE_OK);
    raw_run(&self, "BEGIN IMMEDIATE");
    assert_int_equal(sqlite3_prepare_v2(self.database,
                                        "INSERT INTO events (place, kind, time, id, decision, value, outcome, "
                                        "reward_id, body, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
                                        "row_checksum(?1, ?2, ?3, ?4, ?5, CAST(?6 AS REAL), ?7, ?8, ?9))",
                                        -1, &self.event, NULL),
                     SQLITE_OK);
    return self;
}

static inline void raw_close(raw_log *self)
{
    sqlite3_finalize(self->event);
    sqlite3_close(self->database);
    pg_free(self->connection);
    *self = (raw_log){NULL, NULL, NULL};
}

static inline void raw_text(sqlite3_stmt *statement, int at, json_text value)
{
    if (value.length)
        sqlite3_bind_text(statement, at, value.bytes, (int)value.length, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, at);
}

static inline void raw_append_row(raw_log *self, uint32_t bandit, const event *what)
{
    pg_values values = {0};
    row_checksum sum = {0};
    const int64_t numbers[] = {store_place(bandit, what->number), what->kind, what->time};
    pg_values_start(&values);
    for (int i = 0; i < 3; i++) {
        pg_add_int8(&values, numbers[i]);
        row_add_integer(&sum, numbers[i]);
    }
    pg_add_text(&values, what->id);
    row_add_text(&sum, what->id);
    pg_add_int8(&values, (int64_t)what->decision);
    row_add_integer(&sum, (int64_t)what->decision);
    pg_add_float8(&values, what->value);
    row_add_real(&sum, what->value);
    pg_add_int8(&values, what->outcome);
    row_add_integer(&sum, what->outcome);
    pg_add_text(&values, what->reward_id);
    row_add_text(&sum, what->reward_id);
    pg_add_bytes(&values, what->body, what->size);
    row_add_blob(&sum, what->body, what->size);
    pg_add_int8(&values, row_checksum_end(&sum));
    ok(pg_run(self->connection, 0, &values, "append", NULL, &last_error));
    pg_values_free(&values);
}

static inline void raw_append(raw_log *self, uint32_t bandit, const event *what)
{
    if (self->connection) {
        raw_append_row(self, bandit, what);
        return;
    }
    sqlite3_bind_int64(self->event, 1, (int64_t)bandit << 40 | (int64_t)what->number);
    sqlite3_bind_int(self->event, 2, (int)what->kind);
    sqlite3_bind_int64(self->event, 3, what->time);
    raw_text(self->event, 4, what->id);
    sqlite3_bind_int64(self->event, 5, (int64_t)what->decision);
    sqlite3_bind_double(self->event, 6, what->value);
    sqlite3_bind_int(self->event, 7, (int)what->outcome);
    raw_text(self->event, 8, what->reward_id);
    sqlite3_bind_blob(self->event, 9, what->body, (int)what->size, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(self->event), SQLITE_DONE);
    sqlite3_reset(self->event);
}

static inline void raw_add_bandit(raw_log *self, uint32_t number, const char *name)
{
    char sql[200];
    snprintf(sql, sizeof sql, "INSERT INTO bandits (number, name) VALUES (%u, '%s')", (unsigned)number, name);
    raw_run(self, sql);
}

/* The row of a bandit, and the end of its log as it is now. */
static inline void raw_seal_bandit(raw_log *self, const PGresult *bandits, int row)
{
    char sql[500];
    uint32_t number = (uint32_t)pg_int8(bandits, row, 0);
    int64_t row_of_end[END_COLUMNS];
    snprintf(sql, sizeof sql,
             "SELECT place & 1099511627775, checksum FROM events WHERE place >> 40 = %u ORDER BY place",
             (unsigned)number);
    PGresult *events = raw_ask(self, sql);
    stored_end end = {.first = 1, .settled_to = (uint64_t)pg_int8(bandits, row, 4)};
    for (int i = 0; i < PQntuples(events); i++) {
        end.last = (uint64_t)pg_int8(events, i, 0);
        if (!i) end.first = end.last;
        end.sum += (uint64_t)pg_int8(events, i, 1);
    }
    PQclear(events);
    store_end_columns(number, &end, row_of_end);
    long long all[END_COLUMNS];
    for (int i = 0; i < END_COLUMNS; i++) all[i] = row_of_end[i];
    snprintf(sql, sizeof sql,
             "INSERT INTO log_ends VALUES (%lld, %lld, %lld, %lld, %lld, %lld, %lld) ON CONFLICT (bandit) DO UPDATE"
             " SET first = excluded.first, last = excluded.last, sum = excluded.sum, settled_to ="
             " excluded.settled_to, kept = excluded.kept, checksum = excluded.checksum",
             all[0], all[1], all[2], all[3], all[4], all[5], all[6]);
    raw_run(self, sql);
    snprintf(sql, sizeof sql, "UPDATE bandits SET checksum = %lld WHERE number = %u",
             (long long)store_bandit_checksum(number, pg_text(bandits, row, 1), pg_int8(bandits, row, 2) != 0,
                                              pg_text(bandits, row, 3)),
             (unsigned)number);
    raw_run(self, sql);
}

static inline void raw_seal_database(raw_log *self)
{
    PGresult *bandits = raw_ask(self, "SELECT number, name, archived, first_settings, settled_to FROM bandits");
    for (int i = 0; i < PQntuples(bandits); i++) raw_seal_bandit(self, bandits, i);
    PQclear(bandits);
}

/* With the ends of the logs as they are now. */
static inline void raw_commit(raw_log *self)
{
    if (self->connection) raw_seal_database(self);
    if (self->database)
        raw_run(
            self,
            "INSERT OR REPLACE INTO log_ends SELECT number, coalesce(first, 1), coalesce(last, 0), coalesce(sum, 0),"
            " settled_to, 0, 0 FROM bandits LEFT JOIN (SELECT place >> 40 AS bandit, min(place) & 0xffffffffff AS"
            " first, max(place) & 0xffffffffff AS last, ((sum(checksum >> 32 & 0xffffffff) + (sum(checksum &"
            " 0xffffffff) >> 32)) & 0xffffffff) << 32 | (sum(checksum & 0xffffffff) & 0xffffffff) AS sum"
            " FROM events GROUP BY place >> 40) ON bandit = number;"
            "UPDATE bandits SET checksum = row_checksum(number, name, archived, first_settings);"
            "UPDATE log_ends SET checksum = row_checksum(bandit, first, last, sum, settled_to, kept)");
    raw_run(self, "COMMIT");
    raw_close(self);
}

/* Calls back with each row of a query: its columns as text, with | after each. */
static inline void raw_show(raw_log *self, const char *sql, void (*show)(void *context, const char *row), void *context)
{
    char line[8192];
    if (self->connection) {
        snprintf(line, sizeof line, "SELECT shown::text FROM (%s) AS shown", sql);
        PGresult *rows = raw_ask(self, line);
        for (int i = 0; i < PQntuples(rows); i++) show(context, PQgetvalue(rows, i, 0));
        PQclear(rows);
        return;
    }
    sqlite3_stmt *rows;
    assert_int_equal(sqlite3_prepare_v2(self->database, sql, -1, &rows, NULL), SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        size_t length = 0;
        line[0] = 0;
        for (int k = 0; k < sqlite3_column_count(rows) && length < sizeof line; k++) {
            const char *value = (const char *)sqlite3_column_text(rows, k);
            length += (size_t)snprintf(line + length, sizeof line - length, "%s|", value ? value : "");
        }
        show(context, line);
    }
    sqlite3_finalize(rows);
}

/* Commits without waiting for the disk: for tests that commit often and do not crash. */
static inline void skip_syncs(store *kept)
{
    if (!test_postgres()) sqlite3_exec(((sqlite_store *)kept)->database, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
}

/* A store with a bandit that has no events, not even SETTINGS, as if they had been removed: the test's own get the
 * numbers from 1 on. Decisions wait ten seconds. */
static inline store *open_bare(const char *where, const joining_rules *rules)
{
    store *kept;
    ok(store_open(where, &kept, &last_error));
    store_close(kept);
    raw_log log = raw_begin(where);
    raw_add_bandit(&log, 1, "shop");
    raw_commit(&log);
    ok(store_open(where, &kept, &last_error));
    skip_syncs(kept);
    state_of(kept, 1)->rules = *rules;
    state_of(kept, 1)->deadline = INT64_MAX;
    return kept;
}

#endif
