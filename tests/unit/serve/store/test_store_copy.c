/* Copies of whole stores between folders and databases. Those with a database run if the variable
 * EENET_TEST_POSTGRES has a connection string. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "serve/random_log.h"
#include "serve/same_tables.h"
#include "serve/store/places/audit_log.h"
#include "serve/store/places/database_check.h"
#include "serve/store/places/store_copy.h"
#include "serve/store/postgres/pg_served.h"

enum { SECOND = 1000000, BIG = (9 << 20) + 5 };
static const int64_t START = 1700000000000000;

/* ---- a store that has everything ---- */

static void decide(store *kept, uint32_t bandit, const char *id, int64_t now, bool deferred, size_t slots)
{
    static const double probabilities[] = {0.25, 0.75};
    static const float values[] = {1, 2, 3, 4};
    decision_body bodies[3];
    for (size_t i = 0; i < (slots ? slots : 1); i++)
        bodies[i] = (decision_body){.request = {i + 1, 7},
                                    .count = 2,
                                    .probabilities = probabilities,
                                    .dim = 2,
                                    .values = values,
                                    .record = "record",
                                    .record_size = 6,
                                    .deferred = deferred,
                                    .slot = slots ? (json_text){&"xyz"[i], 1} : (json_text){"", 0},
                                    .slot_index = i,
                                    .slot_count = slots};
    write_decision(kept, bandit, id, bodies, now);
}

static void give(store *kept, uint32_t bandit, const char *id, int64_t now, event_kind kind, const char *reward_id)
{
    store_entry entry = {
        .bandit = bandit,
        .event = {
            .kind = kind, .id = words(id), .value = kind == EVENT_REWARD ? 0.1 : 0, .reward_id = words(reward_id)}};
    assert_int_equal(write_entry(kept, &entry, now), ENTRY_DONE);
}

static void change_clock(store *kept, int64_t now, int64_t ahead)
{
    stored_clock clock = {now, ahead, ahead != 0};
    store_group group = {.now = now, .clock = &clock};
    ok(store_write(kept, &group, NULL));
}

static void decide_many(store *kept, uint32_t bandit, int64_t now, int rounds)
{
    enum { GROUP = 500 };
    static store_entry entries[GROUP];
    static char ids[GROUP][32];
    static const double probabilities[] = {1};
    static const float values[] = {1, 2};
    for (int begin = 0; begin < rounds; begin += GROUP) {
        for (int i = 0; i < GROUP; i++) {
            uint8_t *bytes = NULL;
            size_t size = 0, capacity = 0;
            decision_body body = {.count = 1, .probabilities = probabilities, .dim = 2, .values = values};
            ok(decision_body_write(&body, NULL, &bytes, &size, &capacity, NULL));
            snprintf(ids[i], sizeof ids[i], "n\xc3\xa9%d", begin + i);
            entries[i] = (store_entry){
                .bandit = bandit,
                .event = {.kind = EVENT_DECISION, .id = {ids[i], strlen(ids[i])}, .body = bytes, .size = size},
                .next = i + 1 < GROUP ? &entries[i + 1] : NULL};
        }
        write_entries(kept, entries, now);
        for (int i = 0; i < GROUP; i++) memory_free((void *)(uintptr_t)entries[i].event.body);
    }
}

static void purge(store *kept, uint32_t bandit)
{
    bool more = true;
    uint64_t rewrites = store_rewrites();
    ok(store_purge(kept, bandit, NULL));
    assert_true(store_rewrites() > rewrites);
    while (more) ok(store_purge_some(kept, bandit, 100, &more, NULL));
    ok(store_purge_end(kept, bandit, NULL));
}

static void write_bandits(store *kept, bool large)
{
    uint32_t shop = write_bandit(kept, "shop", "{\"dim\":2,\"wait\":10}", START);
    uint32_t gone = write_bandit(kept, "gone", "{\"dim\":2}", START);
    uint32_t many = write_bandit(kept, "many \"\xc3\xa4\"", "{\"dim\":2,\"wait\":1000}", START);
    decide(kept, shop, "a", START + 1, false, 0);
    decide(kept, shop, "round", START + 2, false, 3);
    decide(kept, shop, "later", START + 3, true, 2);
    decide(kept, shop, "never", START + 3, true, 0);
    decide(kept, gone, "a", START + 3, false, 0);
    give(kept, shop, "a", START + 4, EVENT_REWARD, "r1");
    give(kept, shop, "round\x1fy", START + 4, EVENT_REWARD, "");
    give(kept, shop, "later", START + 5, EVENT_ACTIVATED, "");
    give(kept, shop, "unknown", START + 6, EVENT_REWARD, "r2");
    give(kept, shop, "unknown", START + 6, EVENT_ACTIVATED, "");
    write_checkpoint(kept, shop, START + 7, large ? BIG : 50);
    change_clock(kept, START + 8, 5 * (int64_t)SECOND);
    decide(kept, shop, "second", START + 9, false, 0);
    settle_some(kept, shop, START + 20 * (int64_t)SECOND, 3);
    change_clock(kept, START + 20 * (int64_t)SECOND + 1, 0);
    write_checkpoint(kept, shop, START + 21 * (int64_t)SECOND, 50);
    decide_many(kept, many, START + 21 * (int64_t)SECOND, large ? 4500 : 1000);
    write_checkpoint(kept, many, START + 21 * (int64_t)SECOND, 50);
    purge(kept, gone);
}

static void write_files(store *kept, const char *folder)
{
    audit_log *audit;
    uint8_t state[64];
    size_t size = sealed("a live state", state);
    blobs *into = store_blobs(kept);
    ok(blob_put(into, blob_named(1, BLOB_LIVE_STATE, ""), state, size, NULL));
    ok(blob_put(into, blob_named(1, BLOB_EVALUATION, "e-1"), "{\"id\": 1}\n", 10, NULL));
    ok(blob_put(into, blob_named(1, BLOB_EVALUATION_RESULTS, "e-1"), "{\"value\": 2}\n", 13, NULL));
    ok(blob_put(into, blob_named(0, BLOB_EVALUATION, "old"), "{}\n", 3, NULL));
    ok(blob_put(into, blob_named(3, BLOB_IMPORTANCE, "i_2"), "{\"a\": 1}\n", 9, NULL));
    ok(audit_log_open(folder, &audit, NULL));
    for (int i = 0; i < 3; i++) {
        char line[40];
        int length = snprintf(line, sizeof line, "{\"entry\": %d, \"name\": \"\xc3\xbc\"}", i);
        ok(audit_log_append(audit, (json_text){line, (size_t)length}, NULL));
    }
    audit_log_close(audit);
}

/* Erases the first decision that is settled, with its reward, and retention removes some events of `many`. */
static void remove_some(store *kept)
{
    store_reader *reader;
    event_batch rewards = {0};
    uint64_t numbers[2];
    bool more;
    ok(store_reader_create(kept, &reader, NULL));
    ok(store_read(reader, 1, 0, 1U << EVENT_REWARD, 1, &rewards, NULL));
    numbers[0] = rewards.events[0].number;
    ok(store_find_id(reader, 1, (json_text){"a", 1}, &numbers[1], NULL));
    assert_int_equal(rewards.events[0].decision, numbers[1]);
    event_batch_free(&rewards);
    store_reader_free(reader);
    ok(store_erase(kept, 1, numbers, 2, NULL));
    settle_some(kept, 3, START + 5000 * (int64_t)SECOND, 1000);
    ok(store_remove(kept, 3, START + 4000 * (int64_t)SECOND, UINT64_MAX, 100, &more, NULL));
}

static struct stage {
    test_folder folder;
    char from[64], to[64];
    fresh_database base;
    copy_result result;
} stage;

/* large: more rows than a portion has, of events and of ids, and a model of several parts. */
static void make_store(const char *where, bool large)
{
    store *kept;
    ok(store_open(where, &kept, NULL));
    write_bandits(kept, large);
    write_files(kept, where);
    remove_some(kept);
    store_close(kept);
}

/* A store that most tests only read. */
static test_folder made;

static int make_one(void **state)
{
    (void)state;
    made = folder_make();
    make_store(folder_path(&made, "from"), false);
    return 0;
}

static int remove_one(void **state)
{
    (void)state;
    folder_remove(&made);
    return 0;
}
TEST_GROUP(make_one, remove_one)

static int set_up(void **state)
{
    (void)state;
    stage = (struct stage){0};
    stage.folder = folder_make();
    snprintf(stage.from, sizeof stage.from, "%s", folder_path(&made, "from"));
    snprintf(stage.to, sizeof stage.to, "%s/to", stage.folder.path);
    if (test_postgres()) stage.base = database_make();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (test_postgres()) database_remove(&stage.base);
    folder_remove(&stage.folder);
    return 0;
}

/* For a test that changes its store. */
static void make_own(bool large)
{
    snprintf(stage.from, sizeof stage.from, "%s/from", stage.folder.path);
    make_store(stage.from, large);
}

static int64_t ask_sql(const char *sql)
{
    return database_ask(stage.base.inside, "%s", sql);
}

static ee_status try_copy(const copy_request *request)
{
    return store_copy(request, &stage.result, &last_error);
}

static void copy(const char *from, const char *to)
{
    ok(try_copy(&(copy_request){.from = from, .to = to}));
}

/* A copy can be served. */
static void assert_goes_on(const char *where)
{
    store *kept;
    ok(store_open(where, &kept, &last_error));
    decide(kept, 1, "after the copy", START + 20000 * (int64_t)SECOND, false, 0);
    store_close(kept);
}

/* ---- comparing ---- */

/* The same rows, and the same files with the same bytes, which only the owner may read: three models, five others and
 * the audit log. */
static void compare_folders(const char *one, const char *other)
{
    char command[600];
    assert_true(assert_same_tables(one, other) > 1000);
    snprintf(command, sizeof command,
             "diff -r -x 'eenet.db*' -x lock %s %s && test -z \"$(find %s -type f -perm /077)\" &&"
             " test $(find %s -type f ! -name 'eenet.db*' ! -name lock | wc -l) = 9",
             one, other, other, other);
    assert_int_equal(system(command), 0);
}

static size_t count_entries(const char *folder)
{
    size_t count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; (entry = readdir(entries));) count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

static char damages[2000];

static void add_sentence(void *context, const char *sentence)
{
    (void)context;
    size_t length = strlen(damages);
    snprintf(damages + length, sizeof damages - length, "%s\n", sentence);
}

static const char *damage_of(const char *where)
{
    check_request request = {.folder = where, .found = add_sentence};
    check_result result;
    damages[0] = '\0';
    if ((place_is_database(where) ? database_check : store_check_folder)(&request, &result, &last_error))
        fail_msg("%s", last_error.message);
    assert_int_equal(check_damages(&result) > 0, damages[0] != '\0');
    return damages;
}

/* ---- tests ---- */

TEST_WITH(a_folder_is_copied_to_a_folder, set_up, tear_down)
{
    copy(stage.from, stage.to);
    assert_int_equal(stage.result.bandits, 2);
    assert_int_equal(stage.result.blobs, 8);
    assert_int_equal(stage.result.audit_entries, 3);
    assert_int_equal(stage.result.damages, 0);
    compare_folders(stage.from, stage.to);
    assert_string_equal(damage_of(stage.to), "");
    assert_goes_on(stage.to);
}

TEST_WITH(a_store_goes_to_a_database_and_back, set_up, tear_down)
{
    only_in_a_database();
    make_own(true);
    copy(stage.from, stage.base.where);
    assert_int_equal(stage.result.bandits, 2);
    assert_int_equal(stage.result.damages, 0);
    assert_int_equal(ask_sql("SELECT count(*) FROM eenet.events"), stage.result.events);
    assert_int_equal(ask_sql("SELECT count(*) FROM eenet.log_ends WHERE owner <> 0 OR token <> 0"), 0);
    assert_int_equal(ask_sql("SELECT max(length(bytes)) FROM eenet.blobs"), 4 << 20);
    assert_string_equal(damage_of(stage.base.where), "");
    copy(stage.base.where, stage.to);
    compare_folders(stage.from, stage.to);
    assert_string_equal(damage_of(stage.to), "");
    fresh_database other = database_make();
    char again[64];
    snprintf(again, sizeof again, "%s/again", stage.folder.path);
    copy(stage.base.where, other.where);
    copy(other.where, again);
    compare_folders(stage.from, again);
    database_remove(&other);
}

/* A leader's lease that is there keeps a growing token; entries of the audit log stay before the copied ones. */
TEST_WITH(a_database_without_bandits_may_have_been_used, set_up, tear_down)
{
    only_in_a_database();
    store *kept;
    ok(store_open(stage.to, &kept, NULL));
    store_close(kept);
    copy(stage.to, stage.base.where);
    database_run(stage.base.inside, "INSERT INTO eenet.audit (entry) VALUES ('{\"before\": 1}');"
                                    "UPDATE eenet.log_ends SET owner = 4, token = 9 WHERE bandit = 0");
    copy(stage.from, stage.base.where);
    assert_int_equal(ask_sql("SELECT token FROM eenet.log_ends WHERE bandit = 0 AND owner = 0"), 10);
    assert_int_equal(ask_sql("SELECT count(*) FROM eenet.audit"), 4);
    assert_int_equal(ask_sql("SELECT count(*) FROM eenet.audit WHERE number = 1 AND entry LIKE '%before%'"), 1);
}

/* ---- writing meanwhile ---- */

typedef struct meanwhile {
    store *kept;
    int calls;
} meanwhile;

/* Twice, while the models of bandit 1 are read, a checkpoint of bandit 3 takes the place of the one before, whose model
 * is removed, as a server does it: the copy starts again. */
static bool write_to_folder(void *context, double share)
{
    meanwhile *self = context;
    char id[32];
    int64_t now = START + (10000 + self->calls) * (int64_t)SECOND;
    (void)share;
    snprintf(id, sizeof id, "meanwhile%d", self->calls++);
    decide(self->kept, 1, id, now, false, 0);
    if (self->calls == 6 || self->calls == 13) {
        blob_key *keys;
        size_t count;
        ok(blob_list(store_blobs(self->kept), 3, BLOB_MODEL, &keys, &count, NULL));
        for (size_t i = 0; i < count; i++)
            ok(blob_remove(store_blobs(self->kept), blob_named(3, BLOB_MODEL, keys[i]), NULL));
        memory_free(keys);
        write_checkpoint(self->kept, 3, now, 60);
    }
    return true;
}

/* Servers erase, write and remove between the portions: the copy has none of it. */
static bool write_to_database(void *context, double share)
{
    meanwhile *self = context;
    (void)share;
    if (self->calls++ == 0) database_run(stage.base.inside, "DELETE FROM eenet.blobs WHERE kind = 0");
    database_run(stage.base.inside,
                 "BEGIN; INSERT INTO eenet.events (place, kind, time) SELECT max(place) + 1, 4, 1 FROM eenet.events;"
                 "UPDATE eenet.log_ends SET last = last + 1 WHERE bandit = 3;"
                 "DELETE FROM eenet.ids WHERE (bandit, id) IN (SELECT bandit, id FROM eenet.ids ORDER BY id LIMIT"
                 " 5); COMMIT");
    return true;
}

TEST_WITH(a_database_that_is_written_to, set_up, tear_down)
{
    only_in_a_database();
    copy(stage.from, stage.base.where);
    meanwhile writer = {0};
    copy_request request = {
        .from = stage.base.where, .to = stage.to, .progress = write_to_database, .context = &writer};
    ok(try_copy(&request));
    assert_true(writer.calls > 10);
    compare_folders(stage.from, stage.to);
}

TEST_WITH(a_write_during_a_move_is_noticed, set_up, tear_down)
{
    only_in_a_database();
    copy(stage.from, stage.base.where);
    meanwhile writer = {0};
    copy_request request = {
        .from = stage.base.where, .to = stage.to, .alone = true, .progress = write_to_database, .context = &writer};
    assert_fails(try_copy(&request), EE_FILE_ERROR, last_error, " during the copy; stop all of them first");
    assert_int_equal(count_entries(stage.folder.path), 0);
}

/* A store writes while it is copied: decisions, checkpoints that replace others, removed models. */
TEST_WITH(a_store_that_goes_on, set_up, tear_down)
{
    meanwhile writer = {0};
    make_own(false);
    copy(stage.from, test_postgres() ? stage.base.where : folder_path(&stage.folder, "first"));
    uint64_t before = stage.result.events;
    const char *from = test_postgres() ? stage.base.where : stage.from;
    ok(store_open(from, &writer.kept, &last_error));
    skip_syncs(writer.kept);
    copy_request request = {.from = from, .to = stage.to, .progress = write_to_folder, .context = &writer};
    ok(try_copy(&request));
    assert_true(writer.calls > 10);
    assert_int_equal(stage.result.damages, 0);
    assert_string_equal(damage_of(stage.to), "");
    if (test_postgres()) { /* the copy is of the moment when it began */
        assert_int_equal(stage.result.events, before);
        compare_folders(stage.from, stage.to);
    }
    char after[64];
    snprintf(after, sizeof after, "%s/after", stage.folder.path);
    copy_request alone = {.from = from, .to = after, .alone = true};
    assert_fails(try_copy(&alone), EE_FILE_ERROR, last_error,
                 test_postgres() ? "store: another process is using postgresql://"
                                 : "store: another process is serving ");
    store_close(writer.kept);
    ok(try_copy(&alone));
    assert_true(stage.result.events >= before + 10);
    assert_string_equal(damage_of(after), "");
    assert_goes_on(after);
    assert_fails(try_copy(&alone), EE_FILE_ERROR, last_error, "already exists; give the name of a new folder");
}

/* ---- damage ---- */

TEST_WITH(damage_of_a_database_is_found, set_up, tear_down)
{
    only_in_a_database();
    copy(stage.from, stage.base.where);
    database_run(stage.base.inside, "UPDATE eenet.events SET time = time + 1 WHERE place = (1::bigint << 40) + 3");
    assert_message_has(damage_of(stage.base.where), "bandit 'shop': event 3 is damaged: its checksum does not match\n");
    copy_request request = {.from = stage.base.where, .to = stage.to, .intact = true};
    assert_fails(try_copy(&request), EE_FILE_ERROR, last_error,
                 "is damaged: event 3 of bandit 1 is damaged: its checksum does not match; run "
                 "'eenet check' on it");
    assert_int_equal(access(stage.to, F_OK), -1);
    database_run(stage.base.inside, "UPDATE eenet.events SET time = time - 1 WHERE place = (1::bigint << 40) + 3");
    assert_string_equal(damage_of(stage.base.where), "");
    database_run(stage.base.inside, "DELETE FROM eenet.events WHERE place = (3::bigint << 40) + 700");
    assert_fails(try_copy(&request), EE_FILE_ERROR, last_error, "the log of bandit 3 does not end as it should");
    assert_message_has(damage_of(stage.base.where), "event 700 is missing");
}

TEST_WITH(damage_of_tables_and_blobs_is_found, set_up, tear_down)
{
    only_in_a_database();
    copy(stage.from, stage.base.where);
    database_run(stage.base.inside,
                 "DELETE FROM eenet.ids WHERE id = 'second';"
                 "UPDATE eenet.decisions SET value = 'NaN' WHERE place = (SELECT max(place) FROM eenet.decisions);"
                 "UPDATE eenet.blobs SET bytes = set_byte(bytes, 5, 255 - get_byte(bytes, 5)) WHERE kind IN (0, 2)");
    damage_of(stage.base.where);
    assert_message_has(damages, "ids differs from the log of bandit 'shop'");
    assert_message_has(damages, "decisions differs from the log of bandit 'many");
    assert_message_has(damages, ".model is damaged: its checksum does not match");
    assert_message_has(damages, "evaluations/1/e-1.json is damaged: its checksum does not match");
    database_run(stage.base.inside, "ALTER TABLE eenet.unclaimed DROP CONSTRAINT unclaimed_pkey;"
                                    "ALTER TABLE eenet.clock ALTER in_doubt TYPE text; DROP TABLE eenet.reward_ids;"
                                    "ALTER TABLE eenet.servers DROP COLUMN beat");
    assert_string_equal(damage_of(stage.base.where),
                        "the column in_doubt of table eenet.clock has type text, expected bigint\n"
                        "the table eenet.reward_ids is missing\n"
                        "the primary key of table eenet.unclaimed is missing\n"
                        "the column beat of table eenet.servers is missing\n");
}

/* What SQLite allows and PostgreSQL does not. */
TEST_WITH(a_value_of_another_type_is_refused, set_up, tear_down)
{
    only_in_a_database();
    make_own(false);
    raw_log log = raw_begin(stage.from);
    raw_run(&log, "UPDATE events SET time = 'noon' WHERE place = 1 << 40 | 3; COMMIT");
    raw_close(&log);
    copy_request request = {.from = stage.from, .to = stage.base.where};
    fails_with(store_copy(&request, &stage.result, &last_error), EE_FILE_ERROR,
               "store: a value of another type is in column time of table events; run 'eenet check' on the folder");
}

TEST_WITH(lines_that_a_crash_cut_off_are_left_out, set_up, tear_down)
{
    make_own(false);
    FILE *audit = fopen(folder_path(&stage.folder, "from/audit.jsonl"), "a");
    fputs("{\"cut\": \"\xc3\n{\"whole\": 1}\n{\"half", audit);
    fclose(audit);
    copy(stage.from, stage.to);
    assert_int_equal(stage.result.audit_entries, 4);
    assert_int_equal(stage.result.skipped, 1);
}

/* ---- refusals ---- */

static bool stop_late(void *context, double share)
{
    int *left = context;
    (void)share;
    return (*left)-- > 0;
}

TEST_WITH(what_is_stopped_leaves_nothing, set_up, tear_down)
{
    const char *to = test_postgres() ? stage.base.where : stage.to;
    for (int calls = 0; calls < 15; calls += 7) {
        int left = calls;
        copy_request request = {.from = stage.from, .to = to, .progress = stop_late, .context = &left};
        fails_with(store_copy(&request, &stage.result, &last_error), EE_FILE_ERROR, "store: the copy was interrupted");
        assert_int_equal(count_entries(stage.folder.path), 0);
        if (test_postgres())
            assert_int_equal(ask_sql("SELECT (SELECT count(*) FROM eenet.events) + (SELECT count(*) FROM"
                                     " eenet.bandits) + (SELECT count(*) FROM eenet.blobs)"),
                             0);
    }
}

static ee_status refuse_copy(void *context, const char *folder, ee_error *error)
{
    (void)context;
    assert_int_equal(access(folder, F_OK), 0);
    return status_fail(error, EE_FILE_ERROR, "not this one");
}

TEST_WITH(a_copy_may_be_refused, set_up, tear_down)
{
    only_in_a_database();
    copy(stage.from, stage.base.where);
    copy_request again = {.from = stage.from, .to = stage.base.where};
    assert_fails(try_copy(&again), EE_FILE_ERROR, last_error, " is not empty: it has 3 bandits; give a new database");
    copy_request verified = {.from = stage.base.where, .to = stage.to, .verify = refuse_copy};
    fails_with(store_copy(&verified, &stage.result, &last_error), EE_FILE_ERROR, "not this one");
    assert_int_equal(count_entries(stage.folder.path), 0);
}

static bool beat(void *context, double share)
{
    (void)share;
    database_run(context, "UPDATE eenet.servers SET beat = beat + 1 WHERE number IN (2, 3)");
    return true;
}

TEST_WITH(a_database_that_is_served_is_refused, set_up, tear_down)
{
    only_in_a_database();
    copy(stage.from, stage.base.where);
    database_run(stage.base.inside,
                 "INSERT INTO eenet.servers (number, address, version, beat, state) VALUES (1, 'http://a:1', '', 5,"
                 " ''), (2, 'http://b:2', '', 5, ''), (3, 'http://c:3', '', 7, '')");
    copy_request request = {
        .from = stage.base.where, .to = stage.to, .alone = true, .progress = beat, .context = stage.base.inside};
    assert_fails(try_copy(&request), EE_FILE_ERROR, last_error, ": http://b:2, http://c:3; stop them first");
    request.progress = NULL; /* none of them lives any more */
    database_ask(stage.base.inside, "SELECT 1 FROM pg_advisory_lock(%d)", (int)PG_ALONE_LOCK);
    assert_fails(try_copy(&request), EE_FILE_ERROR, last_error, "store: another process is using postgresql://");
    database_run(stage.base.inside, "SELECT pg_advisory_unlock_all(); DELETE FROM eenet.servers WHERE number > 1");
    ok(try_copy(&request)); /* a server that died is in the way of nobody */
}

/* ---- backups of a folder. Those of one that is written to meanwhile are in tests/serve/store_crash.c ---- */

static bool see_share(void *context, double share)
{
    double *last = context;
    assert_true(share >= *last && share <= 1);
    *last = share;
    return true;
}

static ee_status back_up(bool (*progress)(void *context, double share), void *context)
{
    return store_backup(stage.from, stage.to, NULL, progress, context, &last_error);
}

TEST_WITH(a_backup_is_whole, set_up, tear_down)
{
    double share = 0;
    snprintf(stage.to, sizeof stage.to, "%s/new/to/", stage.folder.path);
    ok(back_up(see_share, &share));
    assert_true(share == 1);
    assert_true(assert_same_tables(stage.from, stage.to) > 1000);
    assert_string_equal(damage_of(stage.to), "");
    assert_goes_on(stage.to);
    assert_fails(back_up(NULL, NULL), EE_FILE_ERROR, last_error, "already exists; give the name of a new folder");
}

/* The store itself lacks a model: the copy has all else. Models of checkpoints that were never written stay behind. */
TEST_WITH(a_missing_model_hinders_no_backup, set_up, tear_down)
{
    store *kept;
    blob_key *keys;
    size_t count;
    make_own(false);
    ok(store_open(stage.from, &kept, NULL));
    ok(blob_list(store_blobs(kept), 1, BLOB_MODEL, &keys, &count, NULL));
    assert_true(count > 0);
    ok(blob_remove(store_blobs(kept), blob_named(1, BLOB_MODEL, keys[0]), NULL));
    ok(put_model(kept, 3, 999999, "of a checkpoint that was never written"));
    memory_free(keys);
    store_close(kept);
    ok(back_up(NULL, NULL));
    ok(store_open(stage.to, &kept, NULL));
    ok(blob_list(store_blobs(kept), 3, BLOB_MODEL, &keys, &count, NULL));
    assert_int_equal(count, 1);
    assert_false(has_model(kept, 3, 999999, "of a checkpoint that was never written"));
    memory_free(keys);
    store_close(kept);
}

TEST_WITH(what_fails_leaves_no_backup, set_up, tear_down)
{
    assert_fails(back_up(stop_late, &(int){0}), EE_FILE_ERROR, last_error, "store: the copy was interrupted");
    assert_int_equal(count_entries(stage.folder.path), 0);
    snprintf(stage.from, sizeof stage.from, "%s/nowhere", stage.folder.path);
    assert_fails(back_up(NULL, NULL), EE_FILE_ERROR, last_error, "is not a server's folder: it has no eenet.db");
}

TEST(passwords_are_not_shown)
{
    static const struct {
        const char *where, *shown;
    } cases[] = {
        {"folder/with:colon@sign", "folder/with:colon@sign"},
        {"postgresql://host/db", "postgresql://host/db"},
        {"postgresql:///db?host=/tmp&password=secret", "postgresql:///db"},
        {"postgresql://host/db?dbname=other&user=me", "postgresql://me@host/other"},
        {"postgresql://me:se%40cret@[::1]:5432/db", "postgresql://me@[::1]:5432/db"},
        {"postgres://me:secret@host:5432/db?sslmode=require", "postgresql://me@host:5432/db"},
        {"postgresql://me:secret@a:1,b:2/db", "postgresql://me@a:1,b:2/db"},
        {"postgresql://me:secret@a,b/db", "postgresql://me@a,b/db"},
        {"postgresql://me:secret@host/db?nonsense=secret", "postgresql://..."},
        {"postgresql://me@host", "postgresql://me@host"},
        {"postgresql://:secret@host/db", "postgresql://host/db"},
        {"postgresql://", "postgresql://"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char shown[PLACE_NAME_SIZE];
        place_name(cases[i].where, shown);
        assert_string_equal(shown, cases[i].shown);
    }
}
