/* Copies of a store. Those of one that is written to meanwhile are in tests/serve/store_crash.c. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "serve/store_writer.h"

static void append(store *into, event_kind kind, const void *body, size_t size)
{
    store_entry entry = {.bandit = 1, .event = {.kind = kind, .body = body, .size = size}};
    assert_int_equal(write_entry(into, &entry, 1), ENTRY_DONE);
}

static void append_checkpoint(store *into, event_kind kind, uint64_t version)
{
    uint8_t *bytes;
    size_t size;
    checkpoint_body body = {.version = version};
    ok(checkpoint_body_write(&body, NULL, &bytes, &size, NULL));
    append(into, kind, bytes, size);
    memory_free(bytes);
}

/* A bandit with two checkpoints, the first of whose models is gone, an uploaded model and a reset. */
static void make_store(const char *folder)
{
    store *into;
    ok(store_open(folder, &into, NULL));
    write_bandit(into, "a", "{}", 1);
    append_checkpoint(into, EVENT_CHECKPOINT, 101);
    append_checkpoint(into, EVENT_CHECKPOINT, 102);
    append_checkpoint(into, EVENT_MODEL, 103);
    append(into, EVENT_MODEL, NULL, 0);
    ok(put_model(into, 1, 102, "two"));
    ok(put_model(into, 1, 103, "three"));
    ok(put_model(into, 1, 104, "of a checkpoint that was never written"));
    store_close(into);
}

static size_t count_files(const test_folder *folder)
{
    size_t count = 0;
    DIR *entries = opendir(folder->path);
    for (struct dirent *entry; (entry = readdir(entries));) count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

static bool see_share(void *context, double share)
{
    double *last = context;
    assert_true(share >= *last && share <= 1);
    *last = share;
    return true;
}

static bool stop(void *context, double share)
{
    (void)context;
    (void)share;
    return false;
}

TEST(a_copy_is_whole)
{
    test_folder folder = folder_make();
    char from[64], to[64];
    snprintf(from, sizeof from, "%s/from", folder.path);
    snprintf(to, sizeof to, "%s/new/to/", folder.path);
    make_store(from);
    double share = 0;
    ee_error error = {0};
    ok(store_backup(from, to, NULL, see_share, &share, &error));
    assert_true(share == 1);
    store *copy;
    store_reader *reader;
    event_batch batch = {0};
    ok(store_open(to, &copy, &error));
    ok(store_reader_create(copy, &reader, &error));
    ok(store_read(reader, 1, 0, 0xff, 100, &batch, &error));
    assert_int_equal(batch.count, 5);
    event_batch_free(&batch);
    assert_true(has_model(copy, 1, 102, "two") && has_model(copy, 1, 103, "three"));
    assert_false(has_model(copy, 1, 101, ""));
    append(copy, EVENT_STEP, NULL, 0); /* it goes on from there */
    store_reader_free(reader);
    store_close(copy);
    assert_int_equal(store_backup(from, to, NULL, NULL, NULL, &error), EE_FILE_ERROR);
    assert_message_has(error.message, "already exists; give the name of a new folder");
    folder_remove(&folder);
}

/* The store itself lacks a model: the copy has all else. */
TEST(a_missing_model_hinders_no_copy)
{
    test_folder folder = folder_make();
    char from[64], to[64];
    snprintf(from, sizeof from, "%s/from", folder.path);
    snprintf(to, sizeof to, "%s/to", folder.path);
    make_store(from);
    assert_int_equal(remove(folder_path(&folder, "from/models/1/102.model")), 0);
    ok(store_backup(from, to, NULL, NULL, NULL, NULL));
    store *copy;
    ok(store_open(to, &copy, NULL));
    assert_true(has_model(copy, 1, 103, "three"));
    store_close(copy);
    folder_remove(&folder);
}

TEST(what_fails_leaves_nothing)
{
    test_folder folder = folder_make();
    char from[64], to[64];
    ee_error error;
    snprintf(from, sizeof from, "%s/from", folder.path);
    snprintf(to, sizeof to, "%s/to", folder.path);
    assert_int_equal(store_backup(from, to, NULL, NULL, NULL, &error), EE_FILE_ERROR);
    assert_message_has(error.message, "is not a server's folder: it has no eenet.db");
    assert_int_equal(count_files(&folder), 0);
    make_store(from);
    assert_int_equal(store_backup(from, to, NULL, stop, NULL, &error), EE_FILE_ERROR);
    assert_string_equal(error.message, "store: the copy was interrupted");
    assert_int_equal(count_files(&folder), 1);
    folder_remove(&folder);
}
