/* Uploads that nobody needs any more. */
#include "serve/journal/upload_sweep.h"

#include "serve/store_writer.h"

static void write_model(store *kept, const void *body, size_t size)
{
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_MODEL, .body = body, .size = size}};
    assert_int_equal(write_entry(kept, &entry, 1), ENTRY_DONE);
}

/* Those that an event names, those that may be on their way, checkpoints and other bandits' stay. */
TEST(uploads_that_nobody_needs_go)
{
    const uint64_t upload = 1700000000000000;
    test_place place = test_place_make();
    store *kept;
    store_reader *log;
    checkpoint_body head = {.version = upload};
    uint8_t *body;
    size_t size;
    ok(store_open(place.where, &kept, NULL));
    ok(store_reader_create(kept, &log, NULL));
    write_bandit(kept, "a", "{}", 1);
    write_bandit(kept, "b", "{}", 1);
    ok(checkpoint_body_write(&head, NULL, &body, &size, NULL));
    write_model(kept, body, size);
    write_model(kept, NULL, 0); /* a reset */
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
    store_close(kept);
    test_place_remove(&place);
}
