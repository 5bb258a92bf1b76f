/* What a damaged, strange, old or locked store is answered, and a disk that is full. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "serve/store/store_sqlite.h"
#include "serve/store_bench.h"

/* ---- what is refused ---- */

static void assert_refused(const bench *b, const char *part)
{
    store *kept;
    ee_error error;
    assert_int_equal(store_open(b->folder.path, &kept, &error), EE_FILE_ERROR);
    assert_null(kept);
    assert_message_has(error.message, part);
}

static void a_folder_is_served_once(void **state)
{
    bench *b = *state;
    assert_refused(b, "store: another process is serving ");
    store_reader *other;
    assert_int_equal(store_open_reader(b->folder.path, &other, &b->error), EE_OK);
    store_reader_free(other);
}

static void run_sql(const bench *b, const char *text)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(folder_path(&b->folder, "eenet.db"), &database), SQLITE_OK);
    char *message = NULL;
    if (sqlite3_exec(database, text, NULL, NULL, &message)) fail_msg("%s", message);
    sqlite3_close(database);
}

static void other_versions_and_programs_are_refused(void **state)
{
    bench *b = *state;
    store_reader *reader;
    close_store(b);
    run_sql(b, "PRAGMA user_version = 1000");
    assert_refused(b, "eenet.db has version 1000, written by a newer eenet");
    assert_int_equal(store_open_reader(b->folder.path, &reader, &b->error), EE_FILE_ERROR);
    assert_null(reader);
    run_sql(b, "PRAGMA user_version = 0");
    assert_int_equal(store_open_reader(b->folder.path, &reader, &b->error), EE_FILE_ERROR);
    assert_message_has(b->error.message, "start the server on it once");
    run_sql(b, "PRAGMA application_id = 77");
    assert_refused(b, "eenet.db belongs to another program");
    folder_remove(&b->folder);
    b->folder = folder_make();
    assert_int_equal(store_open_reader(b->folder.path, &reader, &b->error), EE_FILE_ERROR);
    assert_message_has(b->error.message, "is not a server's folder: it has no eenet.db");
    open_store(b);
}

static void steps_of_an_upgrade_are_whole(void **state)
{
    (void)state;
    const char *const steps[] = {"CREATE TABLE a (x); INSERT INTO a VALUES (1)", "UPDATE a SET x = x + 1",
                                 "UPDATE a SET x = 100; UPDATE missing SET x = 1"};
    sqlite3 *database;
    sqlite3_stmt *statement;
    ee_error error;
    sqlite3_open(":memory:", &database);
    assert_int_equal(store_migrate(database, steps, 1, &error), EE_OK);
    assert_int_equal(store_migrate(database, steps, 2, &error), EE_OK);
    assert_int_equal(store_migrate(database, steps, 2, &error), EE_OK);
    assert_int_equal(store_migrate(database, steps, 3, &error), EE_FILE_ERROR);
    assert_message_has(error.message, "store: could not upgrade eenet.db: no such table: missing");
    sqlite3_prepare_v2(database, "SELECT x, (SELECT user_version FROM pragma_user_version) FROM a", -1, &statement,
                       NULL);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(statement, 0), 2);
    assert_int_equal(sqlite3_column_int(statement, 1), 2);
    sqlite3_finalize(statement);
    assert_int_equal(store_migrate(database, steps, 1, &error), EE_FILE_ERROR);
    sqlite3_close(database);
}

/* A store as version 1 wrote it. Whatever versions come, this opens, and says the same. */
static void a_store_of_version_1_opens(void **state)
{
    bench *b = *state;
    seen got;
    stored_decision decision;
    double value;
    close_store(b);
    folder_remove(&b->folder);
    b->folder = folder_make();
    FILE *file = fopen(EENET_GOLDEN_DIR "/store_1.sql", "rb");
    static char text[1 << 14];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    run_sql(b, text);
    open_store(b);
    assert_string_equal(events_of(b->reader, 1, &got), "1:6@0  2:1@1 first 3:2@2 first 4:3@2  5:1@3 second "
                                                       "6:2@4 unknown 7:4@5  ");
    assert_string_equal(bandits_of(b->reader, &got), "1 shop 1-7@5 settled 4 {\"dim\":2}; "
                                                     "2 news archived 1-1@0 settled 0 {\"dim\":2}; ");
    event reward = {.number = 3,
                    .kind = EVENT_REWARD,
                    .time = 2,
                    .id = words("first"),
                    .decision = 2,
                    .value = 0.5,
                    .outcome = REWARD_JOINED,
                    .reward_id = words("click-1")};
    compare_event(b->reader, 1, &reward);
    assert_true(store_has_unclaimed(b->kept, 1));
    begin(b);
    assert_true(find(b, 1, "first", &decision));
    assert_true(decision.number == 2 && decision.settled == 4 && !decision.inactive && decision.rewards == 1 &&
                decision.value == 0.5);
    assert_true(decision.request[0] == 0x0123456789abcdef && decision.request[1] == 0xfedcba9876543210);
    assert_true(find(b, 1, "second", &decision) && !decision.settled);
    bool there;
    event_outcome outcome;
    assert_int_equal(store_add_reward_id(b->kept, 1, words("first"), words("click-1"), 1, REWARD_LATE, &there, &value,
                                         &outcome, &b->error),
                     EE_OK);
    assert_true(there && value == 0.5 && outcome == REWARD_JOINED);
    assert_int_equal(take(b, "unknown", &value), 6);
    assert_true(value == -1);
    append(b, 1, EVENT_STEP, 8, 6, "");
    commit(b);
}

/* Bytes anywhere in the file may be anything: a sentence, or what was there, but no crash. */
static void a_damaged_file_is_told_of(void **state)
{
    bench *b = *state;
    write_log(b);
    close_store(b);
    const char *path = folder_path(&b->folder, "eenet.db");
    FILE *file = fopen(path, "rb");
    static uint8_t good[1 << 20], bad[1 << 20];
    size_t size = fread(good, 1, sizeof good, file);
    fclose(file);
    uint64_t noise = 1;
    size_t told = 0;
    for (int round = 0; round < 40; round++) {
        memcpy(bad, good, size);
        for (int i = 0; i < 200; i++) {
            noise = noise * 6364136223846793005u + 1442695040888963407u;
            size_t at = (noise >> 33) % size;
            bad[round % 2 ? at : at % 200] = (uint8_t)(noise >> 25);
        }
        folder_write(&b->folder, "eenet.db", bad, round % 3 ? size : size / 2);
        store *kept;
        store_reader *reader;
        seen got = {0};
        uint64_t last;
        ee_error error = {0};
        ee_status status = store_open(b->folder.path, &kept, &error);
        if (!status) store_close(kept);
        if (!status) status = store_open_reader(b->folder.path, &reader, &error);
        if (!status) {
            status = see_events(reader, 1, 0, ALL, 100, &got, &last, &error);
            store_reader_free(reader);
        }
        if (status) assert_message_has(error.message, "store: ");
        told += status != EE_OK;
    }
    assert_true(told > 20);
    folder_write(&b->folder, "eenet.db", good, size);
    open_store(b);
}

/* ---- a disk that is full ---- */

static void write_much(bench *b, uint64_t from, ee_status *status)
{
    static const uint8_t body[5000];
    for (uint64_t number = from; number < from + 100 && !*status; number++) {
        event new = {.number = number, .kind = EVENT_STEP, .time = 1, .body = body, .size = sizeof body};
        *status = store_append(b->kept, 1, &new, &b->error);
    }
}

static void a_full_disk_heals(void **state)
{
    bench *b = *state;
    seen all;
    begin(b);
    add_bandit(b, "a");
    append(b, 1, EVENT_SETTINGS, 1, 1, "");
    commit(b);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){100000, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    for (int again = 0; again < 2; again++) {
        ee_status status = EE_OK;
        begin(b);
        assert_int_equal(store_add_unclaimed(b->kept, 1, words("x"), 1, &b->error), EE_OK);
        write_much(b, 2, &status);
        if (!status) status = store_commit(b->kept, &b->error);
        store_rollback(b->kept);
        assert_int_equal(status, EE_FILE_ERROR);
        assert_message_has(b->error.message, "store: could not commit a transaction: ");
        assert_false(store_has_unclaimed(b->kept, 1));
        assert_string_equal(events_of(b->reader, 1, &all), "1:6@1  ");
    }
    setrlimit(RLIMIT_FSIZE, &before);
    ee_status status = EE_OK;
    begin(b);
    write_much(b, 2, &status);
    assert_int_equal(status, EE_OK);
    commit(b);
    close_store(b);
    open_store(b);
    assert_string_equal(bandits_of(b->reader, &all), "1 a 1-101@1 settled 0 ; ");
}

/* How often the log of transactions has started anew: in its head. */
static uint32_t log_turns(const bench *b)
{
    uint8_t head[16] = {0};
    FILE *file = fopen(folder_path(&b->folder, "eenet.db-wal"), "rb");
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    return (uint32_t)head[12] << 24 | (uint32_t)head[13] << 16 | (uint32_t)head[14] << 8 | head[15];
}

/* It must, while the writer never rests, or it would fill the disk. */
static void the_log_of_transactions_starts_anew(void **state)
{
    bench *b = *state;
    begin(b);
    add_bandit(b, "a");
    commit(b);
    uint32_t before = log_turns(b);
    uint64_t number = 1;
    for (; log_turns(b) == before; number += 100) {
        ee_status status = EE_OK;
        assert_true(number < 40000); /* 200 MB */
        begin(b);
        write_much(b, number, &status);
        assert_int_equal(status, EE_OK);
        commit(b);
    }
}

/* SQLite may have rolled back by itself when a statement failed: nothing may be written after it as if it had not. */
static void after_a_failure_only_a_rollback_helps(void **state)
{
    bench *b = *state;
    stored_decision twice = {.number = 1};
    seen all;
    begin(b);
    add_bandit(b, "a");
    decide(b, 1, 1, 1, "x", false);
    assert_int_equal(store_add_decision(b->kept, 1, words("y"), &twice, &b->error), EE_FILE_ERROR);
    event new = {.number = 2, .kind = EVENT_STEP, .time = 1};
    assert_int_equal(store_append(b->kept, 1, &new, &b->error), EE_FILE_ERROR);
    assert_message_has(b->error.message, "store: could not add a decision");
    assert_int_equal(store_commit(b->kept, &b->error), EE_FILE_ERROR);
    assert_string_equal(bandits_of(b->reader, &all), "");
    begin(b);
    assert_int_equal(add_bandit(b, "a"), 1);
    commit(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_folder_is_served_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_versions_and_programs_are_refused, set_up, tear_down),
        cmocka_unit_test(steps_of_an_upgrade_are_whole),
        cmocka_unit_test_setup_teardown(a_store_of_version_1_opens, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_told_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_heals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_log_of_transactions_starts_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(after_a_failure_only_a_rollback_helps, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
