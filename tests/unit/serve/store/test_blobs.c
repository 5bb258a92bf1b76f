/* Blobs: put, get, list and remove; modes of files; and what is damaged. In a database if EENET_TEST_POSTGRES is set,
 * else in a folder. */
#define _DEFAULT_SOURCE
#include "serve/store/blobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/journal/upload_sweep.h"
#include "serve/store_writer.h"

static const char *const keys[BLOB_KINDS] = {"7", "", "0aF-_", "0aF-_", "0aF-_"};
static const char *const files[BLOB_KINDS] = {"models/3/7.model", "live/3.state", "evaluations/3/0aF-_.json",
                                              "evaluations/3/0aF-_.results.json", "importances/3-0aF-_.json"};

/* Where the blobs of a test are: those of a store; in a database not fenced. */
static struct {
    test_place at;
    store *kept;
    blobs *blobs;
} place;

static int set_up(void **state)
{
    (void)state;
    place.at = test_place_make();
    ok(store_open(place.at.where, &place.kept, NULL));
    place.blobs = store_blobs(place.kept);
    if (test_postgres()) ok(pg_blobs_open(place.at.where, &place.blobs, NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (test_postgres()) blobs_close(place.blobs);
    store_close(place.kept);
    test_place_remove(&place.at);
    return 0;
}

enum { MOST_STORED = 128 };

/* The bytes of a small blob as they are stored. */
static size_t read_stored(blob_kind kind, uint8_t out[MOST_STORED])
{
    if (!test_postgres()) {
        FILE *file = fopen(folder_path(&place.at.folder, files[kind]), "rb");
        size_t size = fread(out, 1, MOST_STORED, file);
        fclose(file);
        return size;
    }
    char sql[200];
    PGresult *rows;
    snprintf(sql, sizeof sql, "SELECT bytes FROM eenet.blobs WHERE bandit = 3 AND kind = %d", (int)kind);
    ok(pg_query(place.at.database.inside, sql, "read", &rows, NULL));
    json_text bytes = pg_text(rows, 0, 0);
    assert_in_range(bytes.length, 1, MOST_STORED);
    memcpy(out, bytes.bytes, bytes.length);
    PQclear(rows);
    return bytes.length;
}

static void write_stored(blob_kind kind, const uint8_t *bytes, size_t size)
{
    if (!test_postgres()) {
        folder_write(&place.at.folder, files[kind], bytes, size);
        return;
    }
    char hex[2 * MOST_STORED + 1];
    for (size_t i = 0; i < size; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    database_ask(place.at.database.inside, "UPDATE eenet.blobs SET bytes = '\\x%s' WHERE bandit = 3 AND kind = %d", hex,
                 (int)kind);
}

static void assert_holds(blob_name name, const void *expected, size_t length)
{
    uint8_t *bytes;
    size_t size;
    ok(blob_get(place.blobs, name, &bytes, &size, NULL));
    assert_int_equal(size, length);
    assert_memory_equal(bytes, expected, length);
    assert_int_equal(bytes[size], 0);
    memory_free(bytes);
}

TEST_WITH(every_kind_is_kept, set_up, tear_down)
{
    uint8_t value[64], other[64], *bytes;
    size_t length = sealed("a value", value), longer = sealed("another value", other), size;
    for (int kind = 0; kind < BLOB_KINDS; kind++) {
        blob_name name = blob_named(3, (blob_kind)kind, keys[kind]);
        assert_false(blob_exists(place.blobs, name));
        assert_int_equal(blob_get(place.blobs, name, &bytes, &size, &last_error), EE_NO_FILE);
        assert_null(bytes);
        assert_message_has(last_error.message, files[kind]);
        ok(blob_put(place.blobs, name, value, length, &last_error));
        assert_holds(name, value, length);
        ok(blob_put(place.blobs, name, other, longer, &last_error));
        assert_holds(name, other, longer);
        assert_true(blob_exists(place.blobs, name));
        if (!test_postgres()) assert_int_equal(access(folder_path(&place.at.folder, files[kind]), F_OK), 0);
        assert_false(blob_exists(place.blobs, blob_named(33, (blob_kind)kind, keys[kind])));
    }
    assert_true(blobs_bytes(place.blobs) >= BLOB_KINDS * longer);
    for (int kind = 0; kind < BLOB_KINDS; kind++) {
        blob_name name = blob_named(3, (blob_kind)kind, keys[kind]);
        ok(blob_remove(place.blobs, name, &last_error));
        ok(blob_remove(place.blobs, name, &last_error)); /* gone is gone */
        assert_false(blob_exists(place.blobs, name));
    }
    assert_int_equal(blobs_bytes(place.blobs), 0);
}

/* The keys of a kind of bandit 3, of one letter each, as bits; that of the live state, which has none, is 1 << 31. */
static uint32_t listed(blob_kind kind)
{
    blob_key *list;
    size_t count;
    uint32_t seen = 0;
    ok(blob_list(place.blobs, 3, kind, &list, &count, NULL));
    for (size_t i = 0; i < count; i++) seen |= list[i][0] ? 1u << (list[i][0] - 'a') : 1u << 31;
    assert_int_equal(count, __builtin_popcount(seen));
    memory_free(list);
    return seen;
}

TEST_WITH(keys_are_listed, set_up, tear_down)
{
    for (blob_kind kind = 0; kind < BLOB_KINDS; kind++) {
        bool has_key = kind != BLOB_LIVE_STATE;
        for (char key[] = "y"; key[0] >= (has_key ? 'a' : 'y'); key[0]--)
            ok(blob_put(place.blobs, blob_named(33, kind, has_key ? key : ""), "12345678", 8, NULL));
        assert_int_equal(listed(kind), 0);
        for (char key[] = "c"; key[0] >= (has_key ? 'a' : 'c'); key[0]--)
            ok(blob_put(place.blobs, blob_named(3, kind, has_key ? key : ""), "12345678", 8, NULL));
        assert_int_equal(listed(kind), has_key ? 7 : 1u << 31);
    }
    ok(store_remove_blobs((store *)&(struct store){.blobs = place.blobs}, 3, NULL));
    assert_false(blob_exists(place.blobs, blob_named(3, BLOB_LIVE_STATE, "")));
    assert_true(blob_exists(place.blobs, blob_named(33, BLOB_LIVE_STATE, "")));
}

TEST_WITH(a_key_is_no_path, set_up, tear_down)
{
    const char *const bad[] = {"", "..", "a/b", "../x", "a.b", "a\n", "ä"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(blob_put(place.blobs, blob_named(1, BLOB_EVALUATION, bad[i]), "x", 1, &last_error),
                         EE_BAD_INPUT);
    assert_int_equal(blob_put(place.blobs, blob_named(1, BLOB_LIVE_STATE, "x"), "x", 1, &last_error), EE_BAD_INPUT);
}

/* Any byte of any kind that is changed. */
TEST_WITH(damage_is_detected, set_up, tear_down)
{
    uint8_t value[64];
    size_t length = sealed("{\"a\":1}", value);
    for (int kind = 0; kind < BLOB_KINDS; kind++) {
        blob_name name = blob_named(3, (blob_kind)kind, keys[kind]);
        ok(blob_put(place.blobs, name, value, length, NULL));
        uint8_t good[MOST_STORED], bad[MOST_STORED], *bytes;
        size_t size = read_stored((blob_kind)kind, good), got;
        for (size_t i = 0; i < size; i++) {
            memcpy(bad, good, size);
            bad[i] ^= 4;
            write_stored((blob_kind)kind, bad, size);
            ee_status status = blob_get(place.blobs, name, &bytes, &got, &last_error);
            /* Without its mark the line with the checksum is a part of the value, as of a file that never had one. */
            bool is_text = size > length, unmarked = is_text && !status && got == size;
            assert_true(status == EE_FILE_ERROR || unmarked);
            if (status) assert_message_has(last_error.message, "is damaged: its checksum does not match");
            memory_free(bytes);
        }
        write_stored((blob_kind)kind, good, size);
        assert_holds(name, value, length);
    }
}

/* Files of versions that wrote no checksum to text. */
TEST_WITH(text_of_older_versions_is_read, set_up, tear_down)
{
    only_in_a_folder();
    ok(blob_put(place.blobs, blob_named(0, BLOB_EVALUATION, "b"), "x", 1, NULL));
    folder_write_text(&place.at.folder, "evaluations/a.json", "{\"old\":true}");
    assert_holds(blob_named(0, BLOB_EVALUATION, "a"), "{\"old\":true}", 12);
}

TEST_WITH(what_a_crash_left_goes, set_up, tear_down)
{
    only_in_a_folder();
    char *scratch;
    const char *const left[] = {"models/1/8.model.123.0", "evaluations/1/a.json.5.1", "evaluations/1/a.eelog.zst"};
    const char *const stays[] = {"models/1/readme", "models/1/8.model"};
    ok(put_model(place.kept, 1, 8, "model"));
    ok(blob_put(place.blobs, blob_named(1, BLOB_EVALUATION, "a"), "x", 1, NULL));
    for (size_t i = 0; i < 3; i++) folder_write_text(&place.at.folder, left[i], "half");
    folder_write_text(&place.at.folder, stays[0], "a user's");
    ok(blobs_scratch(place.blobs, ".eelog.zst", &scratch, NULL));
    assert_int_equal(access(scratch, F_OK), 0);
    blobs_sweep(place.blobs);
    assert_int_not_equal(access(scratch, F_OK), 0);
    for (size_t i = 0; i < 3; i++) assert_int_not_equal(access(folder_path(&place.at.folder, left[i]), F_OK), 0);
    for (size_t i = 0; i < 2; i++) assert_int_equal(access(folder_path(&place.at.folder, stays[i]), F_OK), 0);
    memory_free(scratch);
}

/* Of uploads those that an event names, those that may be on their way, checkpoints and other bandits' stay. */
TEST_WITH(uploads_that_nobody_needs_go, set_up, tear_down)
{
    const uint64_t upload = 1700000000000000;
    store *kept = place.kept;
    store_reader *log;
    checkpoint_body head = {.version = upload};
    uint8_t *body;
    size_t size;
    ok(store_reader_create(kept, &log, NULL));
    write_bandit(kept, "a", "{}", 1);
    write_bandit(kept, "b", "{}", 1);
    ok(checkpoint_body_write(&head, NULL, &body, &size, NULL));
    store_entry named = {.bandit = 1, .event = {.kind = EVENT_MODEL, .body = body, .size = size}};
    store_entry reset = {.bandit = 1, .event = {.kind = EVENT_MODEL}};
    assert_int_equal(write_entry(kept, &named, 1), ENTRY_DONE);
    assert_int_equal(write_entry(kept, &reset, 1), ENTRY_DONE);
    memory_free(body);
    const uint64_t versions[] = {17, upload - 1, upload, upload + 1, upload + 1000};
    for (size_t i = 0; i < 5; i++) ok(put_model(kept, 1, versions[i], "model"));
    ok(put_model(kept, 2, upload - 1, "model"));
    upload_sweep(log, store_blobs(kept), 1, upload + 1000);
    const bool stays[] = {true, false, true, false, true};
    for (size_t i = 0; i < 5; i++) assert_int_equal(has_model(kept, 1, versions[i], "model"), stays[i]);
    assert_true(has_model(kept, 2, upload - 1, "model"));
    upload_sweep(log, store_blobs(kept), 7, UINT64_MAX); /* of a bandit that has none */
    store_reader_free(log);
}

/* Values of several parts of a row, and their ends. */
TEST_WITH(large_values_are_whole, set_up, tear_down)
{
    const size_t part = 4 << 20, sizes[] = {8, part - 1, part, part + 1, 2 * part, 2 * part + 12345, 16};
    uint8_t *value = malloc(3 * part);
    for (size_t i = 0; i < 3 * part; i++) value[i] = (uint8_t)(i * 2654435761u >> 20);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t checksum = archive_checksum(value, sizes[i] - 8);
        memcpy(value + sizes[i] - 8, &checksum, 8);
        ok(blob_put(place.blobs, blob_model(3, 7), value, sizes[i], NULL)); /* replaces a shorter or longer one */
        assert_holds(blob_model(3, 7), value, sizes[i]);
        assert_int_equal(blobs_bytes(place.blobs), sizes[i]);
    }
    if (test_postgres()) { /* a part is missing */
        uint8_t *bytes;
        size_t got;
        database_run(place.at.database.inside, "INSERT INTO eenet.blobs VALUES (3, 0, '7', 2, 'x')");
        assert_fails(blob_get(place.blobs, blob_model(3, 7), &bytes, &got, &last_error), EE_FILE_ERROR, last_error,
                     "models/3/7.model is damaged");
        assert_null(bytes);
    }
    free(value);
}

TEST_WITH(scratch_files_are_private, set_up, tear_down)
{
    char *paths[2];
    for (int i = 0; i < 2; i++) {
        struct stat about;
        ok(blobs_scratch(place.blobs, ".eelog.zst", &paths[i], NULL));
        assert_int_equal(stat(paths[i], &about), 0);
        assert_true((about.st_mode & 0777) == 0600 && !about.st_size);
        assert_string_equal(paths[i] + strlen(paths[i]) - 10, ".eelog.zst");
    }
    assert_string_not_equal(paths[0], paths[1]);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(unlink(paths[i]), 0);
        memory_free(paths[i]);
    }
}

/* ---- of a database ---- */

static uint64_t token_of(void *context, uint32_t bandit)
{
    return bandit == 3 ? *(const uint64_t *)context : 0;
}

#define assert_refused(call) fails_with(call, EE_FILE_ERROR, "store: another server owns the bandit")

TEST_WITH(only_the_owner_changes, set_up, tear_down)
{
    only_in_a_database();
    uint8_t old[64], new[64];
    size_t size = sealed("old value", old);
    uint64_t token = 5;
    sealed("new value", new);
    database_run(place.at.database.inside, "INSERT INTO eenet.log_ends VALUES (3, 1, 0, 0, 0, 0, 0, 1, 5)");
    blobs_fence(place.blobs, 1, token_of, &token);
    ok(blob_put(place.blobs, blob_model(3, 7), old, size, NULL));
    assert_refused(blob_put(place.blobs, blob_model(4, 7), old, size, &last_error)); /* has no lease */
    ok(blob_put(place.blobs, blob_model(0, 7), old, size, NULL));
    database_run(place.at.database.inside, "UPDATE eenet.log_ends SET owner = 2, token = 6 WHERE bandit = 3");
    assert_refused(blob_put(place.blobs, blob_model(3, 7), new, size, &last_error));
    assert_refused(blob_remove(place.blobs, blob_model(3, 7), &last_error));
    assert_holds(blob_model(3, 7), old, size);
    token = 6; /* of another server, as after a failover that lost how this one got it */
    assert_refused(blob_put(place.blobs, blob_model(3, 7), new, size, &last_error));
    database_run(place.at.database.inside, "UPDATE eenet.log_ends SET owner = 1, token = 7 WHERE bandit = 3");
    token = 7; /* the lease is ours again */
    ok(blob_put(place.blobs, blob_model(3, 7), new, size, NULL));
    assert_holds(blob_model(3, 7), new, size);
    ok(blob_remove(place.blobs, blob_model(3, 7), NULL));
    assert_false(blob_exists(place.blobs, blob_model(3, 7)));
}

TEST_WITH(a_lost_connection_is_made_again, set_up, tear_down)
{
    only_in_a_database();
    uint8_t value[64];
    size_t size = sealed("value", value), count;
    blob_key *list;
    for (int i = 0; i < 5; i++) {
        ok(blob_put(place.blobs, blob_model(3, 7), value, size, NULL));
        assert_true(database_cut(&place.at.database, "pool") >= 1);
        if (i == 0) ok(blob_put(place.blobs, blob_model(3, 8), value, size, NULL));
        if (i == 1) assert_holds(blob_model(3, 8), value, size);
        if (i == 2) assert_false(blob_exists(place.blobs, blob_model(3, 9)));
        if (i == 3) ok(blob_remove(place.blobs, blob_model(3, 8), NULL));
        if (i == 4) ok(blob_list(place.blobs, 3, BLOB_MODEL, &list, &count, NULL));
    }
    assert_int_equal(count, 1);
    assert_string_equal(list[0], "7");
    memory_free(list);
}
