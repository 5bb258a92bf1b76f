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
} stage;

static void open_stage(void)
{
    ok(store_open(stage.path, &stage.store, &last_error));
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
        ok(store_write(stage.store, &group, &last_error));
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
    said[0] = '\0';
    ok(store_check_folder(&request, &found, &last_error));
    return found;
}

static void assert_whole(void)
{
    check_result found = look();
    if (check_damages(&found)) fail_msg("%s", said);
    assert_true(found.events > 0);
}

static void add_line(void *context, const char *row)
{
    text_add(context, "%s\n", row);
}

/* Asks or changes the database itself. */
static void run_sql(const char *sql, text *answer)
{
    raw_log raw = raw_begin(stage.path);
    if (answer)
        raw_show(&raw, sql, add_line, answer);
    else
        raw_run(&raw, sql);
    assert_true(answer || sqlite3_total_changes(raw.database) > 0);
    raw_run(&raw, "COMMIT");
    raw_close(&raw);
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
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) run_sql(questions[i], &all);
    return all;
}

/* ---- what is written ---- */

/* Also while it is written to, with removals, and across restarts. */
TEST(logs_are_whole_whatever_happens)
{
    text kept = text_start(NULL);
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
        run_sql("SELECT bandit FROM log_ends WHERE kept <> 0", &kept);
        folder_remove(&stage.folder);
    }
    assert_true(kept.length > 0); /* reward ids that outlive their event were among them */
    memory_free(kept.bytes);
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
    ok(store_backup(folder_path(&made, "store"), stage.path, NULL, NULL, NULL, &last_error));
}

static void make_damaged(const char *sql)
{
    make_whole();
    run_sql(sql, NULL);
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
        assert_fails(store_repair(&(check_request){.folder = stage.path}, &done, &last_error), EE_FILE_ERROR,
                     last_error, "the log itself is damaged");
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
        run_sql(cases[i], NULL);
        check_result found = look();
        if (!found.tables && !found.structure) fail_msg("not found: %s", cases[i]);
        assert_int_equal(found.log, 0);
        repair_result done;
        ok(store_repair(&(check_request){.folder = stage.path}, &done, &last_error));
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

/* Writes a file of the folder, whole or with a byte changed here and there. */
static void assert_changes_are_found(const char *name, uint8_t *bytes, size_t size, size_t first, size_t step)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", stage.path, name);
    for (size_t i = first; i < size; i += step) {
        bytes[i] ^= 1;
        ok(file_write(path, bytes, size, NULL));
        assert_int_equal(look().blobs, 1);
        assert_message_has(said, name);
        bytes[i] ^= 1;
    }
    ok(file_write(path, bytes, size, NULL));
    assert_whole();
}

/* A model, a file of text that ends with its checksum, one of an older version, and the state of a live evaluation. */
TEST(damaged_files_are_found)
{
    make_whole();
    char name[64], path[128], folder[100];
    uint8_t *bytes, live[64];
    size_t size;
    snprintf(name, sizeof name, "models/1/%llu.model", (unsigned long long)stage.checkpoint);
    snprintf(path, sizeof path, "%s/%s", stage.path, name);
    ok(file_read(path, &bytes, &size, NULL));
    ok(file_write(path, bytes, size - 1, NULL));
    assert_int_equal(look().blobs, 1);
    assert_int_equal(remove(path), 0);
    assert_int_equal(look().blobs, 1);
    assert_message_has(said, "is missing");
    assert_changes_are_found(name, bytes, size, 0, test_long(9, 1));
    memory_free(bytes);
    for (size_t i = 0; i < 2; i++) {
        snprintf(folder, sizeof folder, "%s/%s", stage.path, i ? "evaluations" : "live");
        ok(file_make_folder(folder, NULL));
    }
    text words = text_start(NULL);
    text_add(&words, "{\"id\":\"0123456789abcdef\"}");
    const char *json = "evaluations/0123456789abcdef.json";
    assert_changes_are_found(json, (uint8_t *)words.bytes, words.length, words.length, 1);
    text_seal(&words);
    assert_changes_are_found(json, (uint8_t *)words.bytes, words.length, 0, test_long(9, 1));
    size = words.length;
    assert_true(text_unseal(words.bytes, &size));
    assert_int_equal(words.bytes[size - 1], '}');
    memory_free(words.bytes);
    assert_changes_are_found("live/1.state", live, sealed("a live state", live), 7, 64);
    folder_remove(&stage.folder);
}

/* ---- who reads ---- */

TEST(damaged_events_are_not_read)
{
    static const char *const cases[][2] = {
        {"UPDATE events SET body = zeroblob(length(body)) WHERE place = (SELECT min(place) FROM events WHERE kind = 1)",
         "of bandit 1 is damaged: its checksum does not match"},
        {"DELETE FROM events WHERE place = (SELECT max(place) - 10 FROM events)", "is missing"}};
    for (size_t i = 0; i < 2; i++) {
        store_reader *reader;
        event_batch batch = {0};
        ee_status status;
        make_damaged(cases[i][0]);
        ok(store_open_reader(stage.path, &reader, &last_error));
        do status = store_read(reader, 1, batch.last, i ? 0xff : 1U << EVENT_DECISION, 1000, &batch, &last_error);
        while (!status && batch.count);
        assert_fails(status, EE_FILE_ERROR, last_error, cases[i][1]);
        event_batch_free(&batch);
        store_reader_free(reader);
        folder_remove(&stage.folder);
    }
    make_damaged("DELETE FROM events WHERE place = (SELECT max(place) FROM events)");
    assert_fails(store_open(stage.path, &stage.store, &last_error), EE_FILE_ERROR, last_error,
                 "the log of bandit 1 does not end where it was last written");
    folder_remove(&stage.folder);
}

TEST_GROUP(NULL, remove_made)
