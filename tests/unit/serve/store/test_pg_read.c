/* Readers of a database and of a folder with the same rows return the same; damage and lost connections. Runs if the
 * variable EENET_TEST_POSTGRES has a connection string. */
#include "serve/fresh_database.h"
#include "serve/store/postgres/pg_writer.h"
#include "serve/store/postgres/store_pg.h"
#include "serve/store_writer.h"

enum { FIRST = 101, LAST = 3000, LARGE_BODY = 300 << 10 };

typedef struct two_stores {
    test_folder folder;
    fresh_database database;
    store_reader *in_folder, *in_database;
    uint64_t random;
} two_stores;

static uint64_t draw(two_stores *self, uint64_t below)
{
    self->random = self->random * 6364136223846793005u + 1442695040888963407u;
    return (self->random >> 33) % below;
}

/* ---- the same rows in both ---- */

static void add_decision(raw_log *log, uint32_t bandit, const event *of, uint64_t settled)
{
    char sql[400];
    snprintf(sql, sizeof sql,
             "INSERT INTO decisions (place, time, request_a, request_b, rewards, settled, value, inactive, slots) "
             "VALUES (%lld, %lld, -7, %llu, %llu, %llu, %g, %d, %d)",
             (long long)store_place(bandit, of->number), (long long)of->time, (unsigned long long)of->number,
             (unsigned long long)(of->number % 3), (unsigned long long)settled, (double)of->number / 4,
             of->number % 5 == 0, of->number % 7 == 0 ? 3 : 0);
    raw_run(log, sql);
    snprintf(sql, sizeof sql, "INSERT INTO ids (bandit, id, number) VALUES (%u, '%.*s', %llu)", (unsigned)bandit,
             (int)of->id.length, of->id.bytes, (unsigned long long)of->number);
    raw_run(log, sql);
}

/* Mostly small bodies; some fill a batch in a few events. */
static size_t draw_size(two_stores *self)
{
    uint64_t which = draw(self, 40);
    return which == 0 ? LARGE_BODY - draw(self, 1000) : which < 10 ? 0 : draw(self, 400);
}

static void fill_log(two_stores *self, raw_log *log, uint32_t bandit, uint64_t first, uint64_t last)
{
    static uint8_t body[LARGE_BODY];
    int64_t time = 1000;
    for (size_t i = 0; i < sizeof body; i++) body[i] = (uint8_t)(i * i >> 5);
    for (uint64_t number = first; number <= last; number++) {
        char id[32], reward_id[] = "r\xc3\xa4";
        bool common = draw(self, 10) > 0;
        event_kind kind = (event_kind)(common ? 1 + draw(self, 3) : 4 + draw(self, 7));
        time += (int64_t)draw(self, 4);
        snprintf(id, sizeof id, "id-%llu", (unsigned long long)number);
        event what = {.number = number, .kind = kind, .time = time, .size = draw_size(self)};
        if (what.size) what.body = body;
        if (kind == EVENT_DECISION || kind == EVENT_REWARD) what.id = (json_text){id, strlen(id)};
        if (kind == EVENT_REWARD) what.reward_id = (json_text){reward_id, strlen(reward_id)};
        if (kind == EVENT_REWARD || kind == EVENT_SETTLED)
            what.decision = number / 2, what.value = 0.1 + (double)number;
        raw_append(log, bandit, &what);
        if (kind == EVENT_DECISION) add_decision(log, bandit, &what, draw(self, 2) ? number + 1 : 0);
    }
}

static void fill_folder(two_stores *self)
{
    store *kept;
    ok(store_open(self->folder.path, &kept, NULL));
    store_close(kept);
    raw_log log = raw_begin(self->folder.path);
    raw_add_bandit(&log, 1, "shop");
    raw_add_bandit(&log, 2, "news");
    raw_add_bandit(&log, 3, "empty");
    raw_add_bandit(&log, 4, "gone");
    raw_run(&log, "UPDATE bandits SET purged = 1 WHERE number = 4; UPDATE bandits SET archived = 1, settings = '{}',"
                  " settled_to = 17 WHERE number = 2");
    fill_log(self, &log, 1, FIRST, LAST);
    fill_log(self, &log, 2, 1, 20);
    raw_run(&log, "INSERT INTO clock (time, ahead, in_doubt) VALUES (2000, 700, 1), (3500, -300, 0), (4500, 0, 1)");
    /* As an erased event is. */
    raw_run(&log, "UPDATE events SET id = NULL, value = NULL, reward_id = NULL, body = NULL WHERE place & 1023 = 500");
    raw_run(&log, "UPDATE events SET checksum = row_checksum(place, kind, time, id, decision, value, outcome, "
                  "reward_id, body)");
    raw_commit(&log);
}

/* Copies the columns that both have. */
static void copy_table(const char *from, PGconn *to, const char *table, const char *columns, int count)
{
    char sql[300], values[100] = "$1";
    sqlite3 *database;
    sqlite3_stmt *rows;
    for (int i = 1; i < count; i++) snprintf(values + strlen(values), sizeof values - strlen(values), ",$%d", i + 1);
    assert_int_equal(sqlite3_open(from, &database), SQLITE_OK);
    snprintf(sql, sizeof sql, "SELECT %s FROM %s", columns, table);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &rows, NULL), SQLITE_OK);
    snprintf(sql, sizeof sql, "DELETE FROM eenet.%s", table); /* log_ends has the leader's */
    PQclear(PQexec(to, sql));
    snprintf(sql, sizeof sql, "INSERT INTO eenet.%s (%s) VALUES (%s)", table, columns, values);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        const char *bytes[16];
        int sizes[16], formats[16];
        for (int i = 0; i < count; i++) {
            int type = sqlite3_column_type(rows, i);
            formats[i] = type == SQLITE_TEXT || type == SQLITE_BLOB;
            bytes[i] =
                (const char *)(type == SQLITE_BLOB ? sqlite3_column_blob(rows, i) : sqlite3_column_text(rows, i));
            sizes[i] = sqlite3_column_bytes(rows, i);
        }
        PGresult *result = PQexecParams(to, sql, count, NULL, bytes, sizes, formats, 1);
        if (PQresultStatus(result) != PGRES_COMMAND_OK) fail_msg("%s: %s", sql, PQerrorMessage(to));
        PQclear(result);
    }
    sqlite3_finalize(rows);
    sqlite3_close(database);
}

static void copy_all(two_stores *self)
{
    char path[100];
    PGconn *to = PQconnectdb(self->database.where);
    snprintf(path, sizeof path, "%s", folder_path(&self->folder, "eenet.db"));
    PQclear(PQexec(to, "BEGIN"));
    copy_table(path, to, "bandits", "number, name, archived, settled_to, settings, first_settings, checksum, purged",
               8);
    copy_table(path, to, "events", "place, kind, time, id, decision, value, outcome, reward_id, body, checksum", 10);
    copy_table(path, to, "decisions", "place, time, request_a, request_b, rewards, settled, value, inactive, slots", 9);
    copy_table(path, to, "ids", "bandit, id, number", 3);
    copy_table(path, to, "clock", "time, ahead, in_doubt, checksum", 4);
    copy_table(path, to, "log_ends", "bandit, first, last, sum, settled_to, kept, checksum", 7);
    PQclear(PQexec(to, "COMMIT"));
    PQfinish(to);
}

static int set_up(void **state)
{
    static two_stores self;
    *state = NULL;
    if (!test_postgres()) return 0;
    self = (two_stores){.folder = folder_make(), .database = database_make(), .random = 7};
    fill_folder(&self);
    copy_all(&self);
    ok(store_open_reader(self.folder.path, &self.in_folder, NULL));
    ok(store_open_reader(self.database.where, &self.in_database, NULL));
    *state = &self;
    return 0;
}

static int tear_down(void **state)
{
    two_stores *self = *state;
    if (!self) return 0;
    store_reader_free(self->in_folder);
    store_reader_free(self->in_database);
    database_remove(&self->database);
    folder_remove(&self->folder);
    return 0;
}

TEST_GROUP(set_up, tear_down)

static two_stores *need_both(void **state)
{
    if (!*state) skip();
    return *state;
}

/* ---- comparisons ---- */

static void assert_same_text(json_text got, json_text expected)
{
    assert_int_equal(got.length, expected.length);
    assert_memory_equal(got.bytes, expected.bytes, expected.length);
}

static void assert_same_event(const event *got, const event *expected)
{
    assert_int_equal(got->number, expected->number);
    assert_int_equal(got->kind, expected->kind);
    assert_int_equal(got->time, expected->time);
    assert_same_text(got->id, expected->id);
    assert_int_equal(got->decision, expected->decision);
    assert_true(got->value == expected->value);
    assert_int_equal(got->outcome, expected->outcome);
    assert_same_text(got->reward_id, expected->reward_id);
    assert_int_equal(got->size, expected->size);
    if (got->size) assert_memory_equal(got->body, expected->body, got->size);
}

/* Reads the whole log in batches from both. */
static size_t compare_logs(two_stores *self, uint32_t bandit, unsigned kinds, size_t limit)
{
    event_batch got = {0}, expected = {0};
    uint64_t after = 0;
    size_t count = 0;
    ee_error error = {0};
    for (bool more = true; more; count += got.count) {
        ok(store_read(self->in_folder, bandit, after, kinds, limit, &expected, NULL));
        if (store_read(self->in_database, bandit, after, kinds, limit, &got, &error)) fail_msg("%s", error.message);
        assert_int_equal(got.count, expected.count);
        assert_int_equal(got.last, expected.last);
        for (size_t i = 0; i < got.count; i++) assert_same_event(&got.events[i], &expected.events[i]);
        more = got.last > after;
        after = got.last;
    }
    event_batch_free(&got);
    event_batch_free(&expected);
    return count;
}

static void compare_one(two_stores *self, uint32_t bandit, uint64_t number)
{
    const event *got, *expected;
    ee_status status = store_read_one(self->in_folder, bandit, number, &expected, NULL);
    assert_int_equal(store_read_one(self->in_database, bandit, number, &got, NULL), status);
    if (!status) assert_same_event(got, expected);
}

TEST(events_are_the_same)
{
    two_stores *self = need_both(state);
    const size_t limits[] = {1, 3, 600, 100000, SIZE_MAX};
    const unsigned rare = 1u << EVENT_STEP | 1u << EVENT_SETTINGS | 1u << EVENT_ERASED;
    assert_int_equal(compare_logs(self, 1, ~0u, SIZE_MAX), LAST - FIRST + 1);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        compare_logs(self, 2, ~0u, limits[i]);
        compare_logs(self, 3, ~0u, limits[i]);
        compare_logs(self, 1, rare, limits[i]);
        compare_logs(self, 2, rare, limits[i]);
        compare_logs(self, 1, 1u << EVENT_STEP, limits[i]);
        compare_logs(self, 1, 1u << EVENT_ACTIVATED | 1u << EVENT_STEP, limits[i]);
        if (limits[i] > 3) compare_logs(self, 1, 1u << EVENT_SETTLED, limits[i]);
        if (limits[i] > 3) compare_logs(self, 1, 1u << EVENT_DECISION | 1u << EVENT_SETTLED, limits[i]);
    }
    for (uint64_t number = FIRST - 1; number < LAST + 3; number += number < LAST - 10 ? 13 : 1)
        compare_one(self, 1, number);
}

/* Some that are missing, of other sizes, and so many that they do not fit into a batch. */
TEST(listed_events_are_the_same)
{
    two_stores *self = need_both(state);
    enum { MOST = 700 };
    event_batch got = {0}, expected = {0};
    size_t partial = 0;
    for (size_t turn = 0; turn < 20; turn++) {
        uint64_t numbers[MOST];
        size_t count = turn ? 1 + draw(self, MOST - 1) : 1, got_looked, looked, step = 1 + draw(self, 4);
        for (size_t i = 0; i < count; i++) numbers[i] = FIRST - 5 + (i * 1009 * step) % (LAST - FIRST + 9);
        for (size_t from = 0; from < count; from += looked) {
            ok(store_read_these(self->in_folder, 1, numbers + from, count - from, &expected, &looked, NULL));
            ok(store_read_these(self->in_database, 1, numbers + from, count - from, &got, &got_looked, NULL));
            assert_in_range(looked, 1, count - from);
            partial += looked < count - from;
            assert_int_equal(got_looked, looked);
            assert_int_equal(got.count, expected.count);
            size_t next = 0;
            for (size_t i = from; i < from + looked; i++) {
                if (numbers[i] < FIRST || numbers[i] > LAST) continue;
                assert_int_equal(expected.events[next].number, numbers[i]);
                assert_same_event(&got.events[next], &expected.events[next]);
                next++;
            }
            assert_int_equal(next, got.count);
        }
    }
    assert_true(partial > 5);
    event_batch_free(&got);
    event_batch_free(&expected);
}

TEST(bandits_are_the_same)
{
    two_stores *self = need_both(state);
    stored_bandits got, expected;
    ok(store_list_bandits(self->in_folder, &expected, NULL));
    ok(store_list_bandits(self->in_database, &got, NULL));
    assert_int_equal(got.count, 3);
    assert_int_equal(got.count, expected.count);
    for (size_t i = 0; i < got.count; i++) {
        const stored_bandit *a = &got.bandits[i], *b = &expected.bandits[i];
        assert_same_text(a->name, b->name);
        assert_same_text(a->settings, b->settings);
        assert_int_equal(a->number, b->number);
        assert_int_equal(a->archived, b->archived);
        assert_int_equal(a->events, b->events);
        assert_int_equal(a->time, b->time);
        assert_int_equal(a->settled_to, b->settled_to);
        assert_int_equal(a->first_event, b->first_event);
    }
    assert_int_equal(got.bandits[0].first_event, FIRST);
    stored_bandits_free(&got);
    stored_bandits_free(&expected);
}

TEST(decisions_are_the_same)
{
    two_stores *self = need_both(state);
    enum { MOST = 70 };
    stored_decision got[MOST], expected[MOST];
    size_t count, also;
    for (uint32_t bandit = 1; bandit <= 3; bandit++) {
        uint64_t after = 0, a, b;
        do {
            size_t limit = 1 + draw(self, MOST);
            ok(store_next_decisions(self->in_folder, bandit, after, expected, limit, &count, NULL));
            ok(store_next_decisions(self->in_database, bandit, after, got, limit, &also, NULL));
            assert_int_equal(also, count);
            assert_true(count <= limit);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(got[i].number, expected[i].number);
                assert_int_equal(got[i].time, expected[i].time);
                assert_int_equal(got[i].request[0], expected[i].request[0]);
                assert_int_equal(got[i].request[1], expected[i].request[1]);
                assert_int_equal(got[i].rewards, expected[i].rewards);
                assert_int_equal(got[i].settled, expected[i].settled);
                assert_true(got[i].value == expected[i].value);
                assert_int_equal(got[i].inactive, expected[i].inactive);
                assert_int_equal(got[i].slots, expected[i].slots);
                compare_one(self, bandit, got[i].number);
                compare_one(self, bandit, got[i].settled);
                after = got[i].number;
            }
        } while (count);
        for (after = 0; after < 3000; after += 577) {
            ok(store_count_waiting(self->in_folder, bandit, after, &a, NULL));
            ok(store_count_waiting(self->in_database, bandit, after, &b, NULL));
            assert_int_equal(a, b);
        }
        for (int i = 0; i < 300; i++) {
            char id[32];
            snprintf(id, sizeof id, "id-%d", i);
            ok(store_find_id(self->in_folder, bandit, (json_text){id, strlen(id)}, &a, NULL));
            ok(store_find_id(self->in_database, bandit, (json_text){id, strlen(id)}, &b, NULL));
            assert_int_equal(a, b);
        }
    }
    ok(store_next_decisions(self->in_database, 1, UINT64_MAX, got, 1, &count, NULL));
    assert_int_equal(count, 0);
}

TEST(last_events_are_the_same)
{
    two_stores *self = need_both(state);
    const unsigned kinds[] = {1u << EVENT_STEP,      1u << EVENT_SETTINGS | 1u << EVENT_STEP,   1u << EVENT_DECISION,
                              1u << EVENT_ACTIVATED, 1u << EVENT_ACTIVATED | 1u << EVENT_MODEL, ~1u};
    const uint64_t upto[] = {0, 1, FIRST, 500, 501, 1777, LAST, LAST + 1, UINT64_MAX};
    for (uint32_t bandit = 1; bandit <= 3; bandit++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            for (size_t k = 0; k < sizeof upto / sizeof *upto; k++) {
                uint64_t got, expected;
                ok(store_last_of(self->in_folder, bandit, kinds[i], upto[k], &expected, NULL));
                ok(store_last_of(self->in_database, bandit, kinds[i], upto[k], &got, NULL));
                assert_int_equal(got, expected);
            }
}

TEST(times_are_the_same)
{
    two_stores *self = need_both(state);
    stored_clock got_clock, clock;
    ok(store_read_clock(self->in_folder, &clock, NULL));
    ok(store_read_clock(self->in_database, &got_clock, NULL));
    assert_int_equal(got_clock.time, clock.time);
    assert_int_equal(got_clock.ahead, clock.ahead);
    assert_int_equal(got_clock.in_doubt, clock.in_doubt);
    for (uint32_t bandit = 1; bandit <= 3; bandit++)
        for (int64_t i = 0; i < 75; i++) {
            int64_t time = i == 0 ? INT64_MIN : i == 74 ? INT64_MAX : i * 83;
            uint64_t got, expected;
            ok(store_find_time(self->in_folder, bandit, time, &expected, NULL));
            ok(store_find_time(self->in_database, bandit, time, &got, NULL));
            assert_int_equal(got, expected);
            ok(store_find_end(self->in_folder, bandit, time, &expected, NULL));
            ok(store_find_end(self->in_database, bandit, time, &got, NULL));
            assert_int_equal(got, expected);
            ok(store_count_before(self->in_folder, bandit, time, &expected, NULL));
            ok(store_count_before(self->in_database, bandit, time, &got, NULL));
            assert_int_equal(got, expected);
        }
}

/* ---- plans ---- */

/* No row is looked at that the call does not need: the tables are read by an index, in its order, and sorted are only
 * rows that a list or a LIMIT has brought. Two tables have a row or a few. */
static void check_plan(const PGresult *plan, const char *sql)
{
    bool sorts = false;
    for (int i = 0; i < PQntuples(plan); i++) {
        const char *line = PQgetvalue(plan, i, 0), *scan = strstr(line, "Seq Scan on ");
        if (strstr(line, "Sort") && !strstr(line, "Sort Key")) sorts = true;
        if (strstr(line, "Function Scan") || strstr(line, "CTE Scan") || strstr(line, "Limit")) sorts = false;
        bool is_small = scan && (strstr(scan, " on fleet") || strstr(scan, " on clock"));
        if ((scan && !is_small) || strstr(line, "Bitmap") || (sorts && strstr(line, "Index")))
            fail_msg("%s\nhas the plan line: %s", sql, line);
    }
}

static void explain(pg_connection *on, const char *sql)
{
    char prepare[4000], execute[200] = "EXPLAIN (COSTS OFF) EXECUTE tried";
    PGresult *plan;
    int values = 0;
    ee_error error = {0};
    if (strncmp(sql, "BEGIN", 5) == 0 || strcmp(sql, "COMMIT") == 0 || strcmp(sql, "ROLLBACK") == 0) return;
    for (const char *at = sql; (at = strchr(at, '$')); at++)
        if (atoi(at + 1) > values) values = atoi(at + 1);
    for (int i = 0; i < values; i++) strcat(execute, i ? ", NULL" : " (NULL");
    if (values) strcat(execute, ")");
    assert_true((size_t)snprintf(prepare, sizeof prepare, "PREPARE tried AS %s", sql) < sizeof prepare);
    database_run(on, prepare);
    if (pg_query(on, execute, "explain", &plan, &error)) fail_msg("%s: %s", sql, error.message);
    assert_true(PQntuples(plan) > 0);
    check_plan(plan, sql);
    PQclear(plan);
    database_run(on, "DEALLOCATE tried");
}

/* A backlog in tables that were never analysed. */
TEST(plans_need_no_statistics)
{
    two_stores *self = need_both(state);
    pg_connection *on;
    PGresult *rows;
    database_run(self->database.inside,
                 "INSERT INTO eenet.events (place, kind, time) SELECT 9::bigint << 40 | n, 1 + n % 3, n"
                 " FROM generate_series(1, 60000) AS n;"
                 "INSERT INTO eenet.decisions SELECT 9::bigint << 40 | n, n, 0, 0, 0, 0, 0, 0, 0"
                 " FROM generate_series(1, 20000) AS n;"
                 "INSERT INTO eenet.ids SELECT 9, int4send(n), n FROM generate_series(1, 20000) AS n");
    ok(pg_query(self->database.inside,
                "SELECT count(*) FROM pg_class WHERE oid IN ('eenet.events'::regclass, 'eenet.decisions'::regclass,"
                " 'eenet.ids'::regclass) AND reltuples <= 0",
                "read", &rows, NULL));
    assert_int_equal(pg_int8(rows, 0, 0), 3);
    PQclear(rows);
    ok(pg_create(&(pg_options){.where = self->database.where, .role = "plans"}, &on, NULL));
    for (size_t i = 0; i < PG_READER_STATEMENTS; i++) explain(on, pg_reader_sql[i]);
    for (size_t i = 0; i < PG_STATEMENTS; i++) explain(on, pg_writer_sql[i]);
    pg_free(on);
    database_run(self->database.inside, "DELETE FROM eenet.events WHERE place > 9::bigint << 40;"
                                        "DELETE FROM eenet.decisions WHERE place > 9::bigint << 40;"
                                        "DELETE FROM eenet.ids WHERE bandit = 9");
}

/* ---- what the database does to a reader ---- */

TEST(a_lost_connection_is_made_again)
{
    two_stores *self = need_both(state);
    const event *found;
    uint64_t number;
    event_batch batch = {0};
    for (int i = 0; i < 3; i++) {
        ok(store_read_one(self->in_database, 1, FIRST, &found, NULL));
        assert_int_equal(database_cut(&self->database, "pool"), 1);
        ok(i == 0   ? store_read_one(self->in_database, 1, FIRST, &found, NULL)
           : i == 1 ? store_find_time(self->in_database, 1, 2000, &number, NULL)
                    : store_read(self->in_database, 1, 0, ~0u, 10, &batch, NULL));
    }
    assert_int_equal(batch.count, 10);
    event_batch_free(&batch);
}

TEST(damage_is_detected)
{
    two_stores *self = need_both(state);
    pg_connection *on = self->database.inside;
    const char *const damages[] = {"kind = kind + 1",       "time = time + 1",
                                   "id = id || 'x'::bytea", "decision = coalesce(decision, 0) + 1",
                                   "value = value + 1",     "outcome = outcome + 1",
                                   "reward_id = 'z'",       "body = coalesce(body, '') || 'x'::bytea",
                                   "checksum = NULL",       "checksum = checksum + 1"};
    const event *found;
    ee_error error = {0};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char sql[300];
        snprintf(sql, sizeof sql,
                 "CREATE TABLE saved AS SELECT * FROM eenet.events WHERE place = (SELECT min(place) FROM eenet.events"
                 " WHERE kind = 2 AND id IS NOT NULL);"
                 "UPDATE eenet.events SET %s WHERE place = (SELECT place FROM saved)",
                 damages[i]);
        database_run(on, sql);
        PGresult *rows;
        ok(pg_query(on, "SELECT place FROM saved", "read", &rows, NULL));
        uint64_t number = store_number_at(pg_int8(rows, 0, 0));
        PQclear(rows);
        assert_int_equal(store_read_one(self->in_database, 1, number, &found, &error), EE_FILE_ERROR);
        assert_message_has(error.message, "is damaged: its checksum does not match; run 'eenet check'");
        database_run(on, "DELETE FROM eenet.events WHERE place = (SELECT place FROM saved);"
                         "INSERT INTO eenet.events SELECT * FROM saved; DROP TABLE saved");
        ok(store_read_one(self->in_database, 1, number, &found, &error));
    }
}

TEST(a_missing_event_is_detected)
{
    two_stores *self = need_both(state);
    pg_connection *on = self->database.inside;
    event_batch batch = {0};
    uint64_t number;
    ee_error error = {0};
    database_run(on, "CREATE TABLE saved AS SELECT * FROM eenet.events WHERE place = 1::bigint << 40 | 1551;"
                     "DELETE FROM eenet.events WHERE place = 1::bigint << 40 | 1551");
    ee_status status = store_read(self->in_database, 1, 1540, ~0u, 100, &batch, &error);
    assert_int_equal(status, EE_FILE_ERROR);
    assert_message_has(error.message, "the log of bandit 1 is damaged: event 1551 is missing");
    /* The middle of the log: the first event that the search looks at. */
    assert_int_equal(store_count_before(self->in_database, 1, 3000, &number, &error), EE_FILE_ERROR);
    assert_message_has(error.message, "event 1551 is missing");
    ok(store_read(self->in_database, 1, 1551, ~0u, 100, &batch, &error)); /* the connection is of use */
    database_run(on, "INSERT INTO eenet.events SELECT * FROM saved; DROP TABLE saved");
    event_batch_free(&batch);
}

TEST(a_database_without_tables_is_refused)
{
    need_both(state);
    store_reader *reader;
    stored_bandits bandits;
    ee_error error = {0};
    ok(store_open_reader(test_postgres(), &reader, NULL));
    assert_int_equal(store_list_bandits(reader, &bandits, &error), EE_FILE_ERROR);
    assert_message_has(error.message, "the database has no tables of eenet");
    store_reader_free(reader);
}
