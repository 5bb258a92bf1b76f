/* Blobs: put, get, list and remove; modes of files; and what is damaged. */
#define _DEFAULT_SOURCE
#include "serve/store/blobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/store_writer.h"

static const char *const keys[BLOB_KINDS] = {"7", "", "0aF-_", "0aF-_", "0aF-_"};
static const char *const files[BLOB_KINDS] = {"models/3/7.model", "live/3.state", "evaluations/3/0aF-_.json",
                                              "evaluations/3/0aF-_.results.json", "importances/3-0aF-_.json"};

static blobs *open_blobs(const test_folder *folder)
{
    blobs *self;
    ok(blobs_open(folder->path, &self, NULL));
    return self;
}

static void assert_holds(const blobs *self, blob_name name, const void *expected, size_t length)
{
    uint8_t *bytes;
    size_t size;
    ok(blob_get(self, name, &bytes, &size, NULL));
    assert_int_equal(size, length);
    assert_memory_equal(bytes, expected, length);
    assert_int_equal(bytes[size], 0);
    memory_free(bytes);
}

TEST(every_kind_is_kept)
{
    test_folder folder = folder_make();
    blobs *self = open_blobs(&folder);
    uint8_t value[64], other[64], *bytes;
    size_t length = sealed("a value", value), longer = sealed("another value", other), size;
    ee_error error;
    for (int kind = 0; kind < BLOB_KINDS; kind++) {
        blob_name name = blob_named(3, (blob_kind)kind, keys[kind]);
        assert_false(blob_exists(self, name));
        assert_int_equal(blob_get(self, name, &bytes, &size, &error), EE_NO_FILE);
        assert_null(bytes);
        assert_message_has(error.message, files[kind]);
        ok(blob_put(self, name, value, length, &error));
        assert_holds(self, name, value, length);
        ok(blob_put(self, name, other, longer, &error));
        assert_holds(self, name, other, longer);
        assert_true(blob_exists(self, name));
        assert_int_equal(access(folder_path(&folder, files[kind]), F_OK), 0);
        assert_false(blob_exists(self, blob_named(33, (blob_kind)kind, keys[kind])));
    }
    assert_true(blobs_bytes(self) >= BLOB_KINDS * longer);
    for (int kind = 0; kind < BLOB_KINDS; kind++) {
        blob_name name = blob_named(3, (blob_kind)kind, keys[kind]);
        ok(blob_remove(self, name, &error));
        ok(blob_remove(self, name, &error)); /* gone is gone */
        assert_false(blob_exists(self, name));
    }
    assert_int_equal(blobs_bytes(self), 0);
    blobs_close(self);
    folder_remove(&folder);
}

TEST(keys_are_listed)
{
    test_folder folder = folder_make();
    blobs *self = open_blobs(&folder);
    const blob_kind kinds[] = {BLOB_MODEL, BLOB_EVALUATION, BLOB_EVALUATION_RESULTS, BLOB_IMPORTANCE};
    for (size_t k = 0; k < 4; k++) {
        blob_key *list;
        size_t count;
        ok(blob_list(self, 3, kinds[k], &list, &count, NULL));
        assert_int_equal(count, 0);
        memory_free(list);
        for (uint32_t bandit = 3; bandit <= 33; bandit += 30)
            for (char key[] = "a"; key[0] < (bandit == 3 ? 'd' : 'z'); key[0]++)
                ok(blob_put(self, blob_named(bandit, kinds[k], key), "12345678", 8, NULL));
        ok(blob_list(self, 3, kinds[k], &list, &count, NULL));
        assert_int_equal(count, 3);
        unsigned seen = 0;
        for (size_t i = 0; i < count; i++) seen |= 1u << (list[i][0] - 'a');
        assert_int_equal(seen, 7);
        memory_free(list);
    }
    blobs_close(self);
    folder_remove(&folder);
}

TEST(a_key_is_no_path)
{
    test_folder folder = folder_make();
    blobs *self = open_blobs(&folder);
    ee_error error;
    const char *const bad[] = {"", "..", "a/b", "../x", "a.b", "a\n", "ä"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(blob_put(self, blob_named(1, BLOB_EVALUATION, bad[i]), "x", 1, &error), EE_BAD_INPUT);
    assert_int_equal(blob_put(self, blob_named(1, BLOB_LIVE_STATE, "x"), "x", 1, &error), EE_BAD_INPUT);
    blobs_close(self);
    folder_remove(&folder);
}

/* Any byte of a file of any kind that is changed or cut off. */
TEST(damage_is_detected)
{
    test_folder folder = folder_make();
    blobs *self = open_blobs(&folder);
    uint8_t value[64];
    size_t length = sealed("{\"a\":1}", value);
    for (int kind = 0; kind < BLOB_KINDS; kind++) {
        blob_name name = blob_named(3, (blob_kind)kind, keys[kind]);
        ok(blob_put(self, name, value, length, NULL));
        uint8_t good[128], bad[128], *bytes;
        FILE *file = fopen(folder_path(&folder, files[kind]), "rb");
        size_t size = fread(good, 1, sizeof good, file), got;
        fclose(file);
        for (size_t i = 0; i < size; i++) {
            ee_error error = {0};
            memcpy(bad, good, size);
            bad[i] ^= 4;
            folder_write(&folder, files[kind], bad, size);
            ee_status status = blob_get(self, name, &bytes, &got, &error);
            /* Without its mark the line with the checksum is a part of the value, as of a file that never had one. */
            bool is_text = size > length, unmarked = is_text && !status && got == size;
            assert_true(status == EE_FILE_ERROR || unmarked);
            if (status) assert_message_has(error.message, "is damaged: its checksum does not match");
            memory_free(bytes);
        }
        folder_write(&folder, files[kind], good, size);
        assert_holds(self, name, value, length);
    }
    blobs_close(self);
    folder_remove(&folder);
}

/* Files of versions that wrote no checksum to text. */
TEST(text_of_older_versions_is_read)
{
    test_folder folder = folder_make();
    blobs *self = open_blobs(&folder);
    ok(blob_put(self, blob_named(0, BLOB_EVALUATION, "b"), "x", 1, NULL));
    folder_write_text(&folder, "evaluations/a.json", "{\"old\":true}");
    assert_holds(self, blob_named(0, BLOB_EVALUATION, "a"), "{\"old\":true}", 12);
    blobs_close(self);
    folder_remove(&folder);
}

TEST(what_a_crash_left_goes)
{
    test_folder folder = folder_make();
    blobs *self = open_blobs(&folder);
    char *scratch;
    const char *const left[] = {"models/1/8.model.123.0", "evaluations/1/a.json.5.1", "evaluations/1/a.eelog.zst"};
    const char *const stays[] = {"models/1/readme", "models/1/8.model"};
    ok(put_model((store *)&(struct store){.blobs = self}, 1, 8, "model"));
    ok(blob_put(self, blob_named(1, BLOB_EVALUATION, "a"), "x", 1, NULL));
    for (size_t i = 0; i < 3; i++) folder_write_text(&folder, left[i], "half");
    folder_write_text(&folder, stays[0], "a user's");
    ok(blobs_scratch(self, ".eelog.zst", &scratch, NULL));
    assert_int_equal(access(scratch, F_OK), 0);
    blobs_sweep(self);
    assert_int_not_equal(access(scratch, F_OK), 0);
    for (size_t i = 0; i < 3; i++) assert_int_not_equal(access(folder_path(&folder, left[i]), F_OK), 0);
    for (size_t i = 0; i < 2; i++) assert_int_equal(access(folder_path(&folder, stays[i]), F_OK), 0);
    memory_free(scratch);
    blobs_close(self);
    folder_remove(&folder);
}
