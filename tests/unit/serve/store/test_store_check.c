/* The check of a folder: whatever was decided, rewarded, activated, settled and removed, the tables are what the check
 * computes from the log. Then each kind of damage, and its repair. Zeroed sectors and flipped bytes are in
 * tests/serve/damage.py. */
#include "base/file.h"
#include "serve/random_log.h"
#include "serve/store/places/store_repair.h"
#include "serve/store/text_seal.h"

enum { SECOND = 1000000 };

static struct stage {
    test_folder folder;
    char path[64];
    store *store;
    random_log log;
    uint64_t checkpoint; /* number of the last model */
    ee_error error;
} stage;

static void open_stage(void)
{
    if (store_open(stage.path, &stage.store, &stage.error)) fail_msg("%s", stage.error.message);
}

static void start(uint64_t seed)
{
    stage =
        (struct stage){.folder = folder_make(), .log = {random_named(seed, "check"), 1000 * (int64_t)SECOND, 1, 400}};
    snprintf(stage.path, sizeof stage.path, "%s/store", stage.folder.path);
}

/* With a bandit. */
static void start_shop(uint64_t seed)
{
    start(seed);
    open_stage();
    assert_int_equal(write_bandit(stage.store, "shop", "{\"dim\":2,\"wait\":20}", stage.log.now), 1);
}

static void play(size_t groups)
{
    static drawn into;
    uint32_t bandit = 1;
    for (size_t i = 0; i < groups; i++) {
        draw_group(&stage.log, &into, TOGETHER);
        drawn_chain(&into);
        store_group group = {.first = into.entries,
                             .now = stage.log.now,
                             .due = &bandit,
                             .due_count = draw(&stage.log, 2),
                             .settle_each = 100,
                             .settle_total = 100};
        ok(store_write(stage.store, &group, &stage.error));
        drawn_release(&into);
    }
    stage.checkpoint = write_checkpoint(stage.store, 1, stage.log.now, 40);
}

static void forget(void)
{
    bool more = true;
    while (more) ok(store_remove(stage.store, 1, stage.log.now - 100 * (int64_t)SECOND, UINT64_MAX, 100, &more, NULL));
}

/* ---- looking ---- */

static char said[4000];

static void add_sentence(void *context, const char *sentence)
{
    (void)context;
    size_t length = strlen(said);
    snprintf(said + length, sizeof said - length, "%s\n", sentence);
}

static check_result look(void)
{
    check_request request = {.folder = stage.path, .found = add_sentence};
    check_result found;
    ee_error error;
    said[0] = '\0';
    if (store_check_folder(&request, &found, &error)) fail_msg("%s", error.message);
    return found;
}

static void assert_whole(void)
{
    check_result found = look();
    if (check_damages(&found)) fail_msg("%s", said);
    assert_true(found.events > 0);
}

static sqlite3 *open_database(void)
{
    char path[80];
    sqlite3 *database;
    snprintf(path, sizeof path, "%s/eenet.db", stage.path);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    return database;
}

static void run_sql(const char *sql)
{
    sqlite3 *database = open_database();
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message)) fail_msg("%s: %s", sql, message);
    assert_true(sqlite3_total_changes(database) > 0);
    sqlite3_close(database);
}

static int add_row(void *context, int count, char **values, char **names)
{
    text *into = context;
    (void)names;
    for (int i = 0; i < count; i++) text_add(into, "%s|", values[i] ? values[i] : "");
    text_add(into, "\n");
    return 0;
}

/* All that the tables say. */
static text content(void)
{
    static const char *const questions[] = {
        "SELECT number, name, archived, settings, first_settings, checksum FROM bandits ORDER BY 1",
        "SELECT place, kind, time, id, decision, value, outcome, reward_id, hex(body), checksum FROM events ORDER BY 1",
        "SELECT * FROM decisions ORDER BY 1",
        "SELECT * FROM ids ORDER BY 1, 2",
        "SELECT * FROM reward_ids ORDER BY 1, 2, 3",
        "SELECT * FROM unclaimed ORDER BY 1, 2, 3",
        "SELECT bandit, first, last, sum, kept FROM log_ends ORDER BY 1"};
    text all = text_start(NULL);
    sqlite3 *database = open_database();
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        assert_int_equal(sqlite3_exec(database, questions[i], add_row, &all, NULL), SQLITE_OK);
    sqlite3_close(database);
    return all;
}

static int64_t count_kept(void)
{
    sqlite3 *database = open_database();
    sqlite3_stmt *statement;
    assert_int_equal(
        sqlite3_prepare_v2(database, "SELECT count(*) FROM log_ends WHERE kept <> 0", -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return count;
}

/* ---- what is written ---- */

/* Also while it is written to, with removals, and across restarts. */
TEST(logs_are_whole_whatever_happens)
{
    int64_t kept = 0;
    for (uint64_t seed = 1; seed <= test_long(1, 20); seed++) {
        start_shop(seed);
        for (int part = 0; part < 4; part++) {
            play(40);
            assert_whole();
            forget();
            if (part != 2) continue;
            store_close(stage.store);
            assert_whole();
            open_stage();
        }
        store_close(stage.store);
        assert_whole();
        kept += count_kept();
        folder_remove(&stage.folder);
    }
    assert_true(kept > 0); /* reward ids that outlive their event were among them */
}

/* ---- damage ---- */

/* A folder that is whole: one is made, the others are its copies. */
static test_folder made;

static int remove_made(void **state)
{
    (void)state;
    if (made.path[0]) folder_remove(&made);
    return 0;
}

static void make_whole(void)
{
    static uint64_t checkpoint;
    if (!made.path[0]) {
        start_shop(20);
        play(45);
        forget();
        play(5);
        store_close(stage.store);
        assert_whole();
        made = stage.folder;
        checkpoint = stage.checkpoint;
    }
    start(20);
    stage.checkpoint = checkpoint;
    stage.log.now += 1000000 * (int64_t)SECOND;
    ok(store_backup(folder_path(&made, "store"), stage.path, NULL, NULL, NULL, &stage.error));
}

static void make_damaged(const char *sql)
{
    make_whole();
    run_sql(sql);
}

TEST(missing_and_changed_events_are_found)
{
    static const char *const cases[][2] = {
        {"DELETE FROM events WHERE place = (SELECT max(place) FROM events)", "is missing"},
        {"DELETE FROM events WHERE place >= (SELECT max(place) FROM events) - 30", "are missing"},
        {"DELETE FROM events WHERE place = (SELECT min(place) FROM events)", "is missing"},
        {"DELETE FROM events WHERE place = (SELECT (min(place) + max(place)) / 2 FROM events)", "is missing"},
        {"DELETE FROM events", "are missing"},
        {"UPDATE events SET time = time + 1 WHERE place = (SELECT min(place) FROM events WHERE kind = 1)", "checksum"},
        {"UPDATE events SET id = id || 'x' WHERE place = (SELECT min(place) FROM events WHERE kind = 1)", "checksum"},
        {"UPDATE events SET value = -value WHERE place = (SELECT min(place) FROM events WHERE kind = 2 AND value <> 0)",
         "checksum"},
        {"UPDATE events SET reward_id = '' WHERE place = (SELECT min(place) FROM events WHERE reward_id IS NULL)",
         "checksum"},
        {"UPDATE events SET checksum = checksum + 1 WHERE place = (SELECT min(place) FROM events)", "checksum"},
        {"UPDATE events SET checksum = NULL WHERE place = (SELECT min(place) FROM events)", "checksum"},
        {"UPDATE events SET place = place + (1 << 41) WHERE place = (SELECT max(place) FROM events)", "does not exist"},
        {"UPDATE bandits SET name = 'ship'", "the name of bandit 1"},
        {"UPDATE bandits SET archived = 1", "the name of bandit 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_damaged(cases[i][0]);
        check_result found = look();
        if (!found.log) fail_msg("not found: %s", cases[i][0]);
        assert_message_has(said, cases[i][1]);
        repair_result done;
        check_request request = {.folder = stage.path};
        assert_fails(store_repair(&request, &done, &stage.error), EE_FILE_ERROR, stage.error,
                     "the log itself is damaged");
        folder_remove(&stage.folder);
    }
}

TEST(damaged_tables_are_rebuilt)
{
    static const char *const cases[] = {
        "DELETE FROM decisions",
        "DELETE FROM decisions WHERE place = (SELECT max(place) FROM decisions)",
        "UPDATE decisions SET rewards = rewards + 1 WHERE place = (SELECT min(place) FROM decisions)",
        "UPDATE decisions SET settled = 0 WHERE settled > 0",
        "UPDATE decisions SET value = value + 1 WHERE place = (SELECT max(place) FROM decisions)",
        "UPDATE decisions SET request_b = 1",
        "UPDATE decisions SET inactive = 1 - inactive",
        "INSERT INTO decisions VALUES ((1 << 40) + 99999, 1, 1, 1, 0, 0, 0, 0, 0, NULL)",
        "DELETE FROM ids",
        "UPDATE ids SET number = number + 1",
        "INSERT INTO ids VALUES (1, 'new', 3)",
        "INSERT INTO ids VALUES (7, 'new', 3)",
        "DELETE FROM reward_ids WHERE outcome <> 4",
        "UPDATE reward_ids SET value = value + 1 WHERE outcome <> 4",
        "INSERT INTO unclaimed VALUES (1, 'nobody', 5)",
        "DELETE FROM unclaimed",
        "UPDATE bandits SET settings = '{}'",
        "UPDATE bandits SET settled_to = settled_to + 1000",
        "UPDATE bandits SET settled_to = settled_to - 1",
        "UPDATE log_ends SET last = last + 1",
        "DELETE FROM log_ends",
        "INSERT INTO clock VALUES (5, 7, 0, 0)",
        "DROP INDEX rare_events; CREATE INDEX rare_events ON events (kind, place) WHERE kind >= 5 AND kind <> 8;"
        "UPDATE bandits SET settled_to = settled_to",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_whole();
        text before = content();
        run_sql(cases[i]);
        check_result found = look();
        if (!found.tables && !found.structure) fail_msg("not found: %s", cases[i]);
        assert_int_equal(found.log, 0);
        repair_result done;
        check_request request = {.folder = stage.path};
        if (store_repair(&request, &done, &stage.error)) fail_msg("%s", stage.error.message);
        assert_true(done.rebuilt && !done.ids_lost);
        assert_string_equal(done.kept, "eenet.db.damaged-1");
        assert_whole();
        text after = content();
        if (strcmp(before.bytes, after.bytes) != 0) fail_msg("repaired, and different: %s", cases[i]);
        memory_free(before.bytes);
        memory_free(after.bytes);
        if (i % test_long(8, 1) == 0) { /* it goes on from there */
            open_stage();
            play(2);
            store_close(stage.store);
            assert_whole();
        }
        folder_remove(&stage.folder);
    }
}

/* ---- files ---- */

TEST(damaged_models_are_found)
{
    make_whole();
    char path[128];
    uint8_t *bytes;
    size_t size;
    snprintf(path, sizeof path, "%s/models/1/%llu.model", stage.path, (unsigned long long)stage.checkpoint);
    ok(file_read(path, &bytes, &size, NULL));
    for (size_t i = 0; i < size; i += test_long(9, 1)) {
        bytes[i] ^= 1;
        ok(file_write(path, bytes, size, NULL));
        assert_int_equal(look().blobs, 1);
        bytes[i] ^= 1;
    }
    ok(file_write(path, bytes, size - 1, NULL));
    assert_int_equal(look().blobs, 1);
    assert_int_equal(remove(path), 0);
    assert_int_equal(look().blobs, 1);
    assert_message_has(said, "is missing");
    ok(file_write(path, bytes, size, NULL));
    assert_whole();
    memory_free(bytes);
    folder_remove(&stage.folder);
}

/* A file of text that ends with its checksum, one of an older version, and the state of a live evaluation. */
TEST(damaged_files_are_found)
{
    make_whole();
    char folder[100], path[128];
    snprintf(folder, sizeof folder, "%s/evaluations", stage.path);
    snprintf(path, sizeof path, "%s/0123456789abcdef.json", folder);
    text words = text_start(NULL);
    text_add(&words, "{\"id\":\"0123456789abcdef\"}");
    ok(file_make_folder(folder, NULL));
    ok(file_write(path, words.bytes, words.length, NULL));
    assert_whole();
    text_seal(&words);
    ok(file_write(path, words.bytes, words.length, NULL));
    assert_whole();
    for (size_t i = 0; i < words.length; i += test_long(9, 1)) {
        words.bytes[i] ^= 1;
        ok(file_write(path, words.bytes, words.length, NULL));
        assert_int_equal(look().blobs, 1);
        words.bytes[i] ^= 1;
    }
    size_t size = words.length;
    assert_true(text_unseal(words.bytes, &size));
    assert_int_equal(words.bytes[size - 1], '}');
    ok(file_write(path, words.bytes, words.length, NULL));
    uint8_t live[64];
    snprintf(folder, sizeof folder, "%s/live", stage.path);
    snprintf(path, sizeof path, "%s/1.state", folder);
    ok(file_make_folder(folder, NULL));
    size = sealed("a live state", live);
    ok(file_write(path, live, size, NULL));
    assert_whole();
    live[7] ^= 8;
    ok(file_write(path, live, size, NULL));
    assert_int_equal(look().blobs, 1);
    assert_message_has(said, "live/1.state is damaged: its checksum does not match");
    memory_free(words.bytes);
    folder_remove(&stage.folder);
}

/* ---- who reads ---- */

TEST(damaged_events_are_not_read)
{
    make_damaged("UPDATE events SET body = zeroblob(length(body)) WHERE place ="
                 " (SELECT min(place) FROM events WHERE kind = 1)");
    store_reader *reader;
    event_batch batch = {0};
    ok(store_open_reader(stage.path, &reader, &stage.error));
    assert_fails(store_read(reader, 1, 0, 1U << EVENT_DECISION, 10, &batch, &stage.error), EE_FILE_ERROR, stage.error,
                 "of bandit 1 is damaged: its checksum does not match");
    event_batch_free(&batch);
    store_reader_free(reader);
    folder_remove(&stage.folder);
    make_damaged("DELETE FROM events WHERE place = (SELECT max(place) - 10 FROM events)");
    ok(store_open_reader(stage.path, &reader, &stage.error));
    batch = (event_batch){0};
    ee_status status = EE_OK;
    for (uint64_t after = 0, before = 1; !status && after != before; after = batch.last) {
        before = after;
        status = store_read(reader, 1, after, 0xff, 1000, &batch, &stage.error);
        if (batch.last == before) break;
    }
    assert_fails(status, EE_FILE_ERROR, stage.error, "is missing");
    event_batch_free(&batch);
    store_reader_free(reader);
    folder_remove(&stage.folder);
    make_damaged("DELETE FROM events WHERE place = (SELECT max(place) FROM events)");
    assert_fails(store_open(stage.path, &stage.store, &stage.error), EE_FILE_ERROR, stage.error,
                 "the log of bandit 1 does not end where it was last written");
    folder_remove(&stage.folder);
}

TEST_GROUP(NULL, remove_made)
