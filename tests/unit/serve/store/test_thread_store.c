/* Readers beside the writer: each call sees whole transactions, in order, and never less than the one before. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "serve/store_writer.h"

enum { TRANSACTIONS = 300, EACH = 20, READERS = 2 };

typedef struct shared {
    store *kept;
    atomic_uint_fast64_t committed; /* number of the last event */
    atomic_bool done;
} shared;

/* The events come one after the other, each body is as long and as its number. */
static bool is_event(const event *from, uint64_t number)
{
    const uint8_t *bytes = from->body;
    if (from->number != number || from->size != 500 + number % 5000) return false;
    return bytes[0] == (uint8_t)number && bytes[from->size - 1] == (uint8_t)number;
}

/* Reads on; whether it is at the end of a transaction when it has read everything. */
static bool read_rest(store_reader *reader, uint64_t *number, event_batch *batch)
{
    do {
        if (store_read(reader, 1, *number, 0xff, SIZE_MAX, batch, NULL)) return false;
        for (size_t i = 0; i < batch->count; i++)
            if (!is_event(&batch->events[i], ++*number)) return false;
    } while (batch->size >= EVENT_BATCH_BYTES);
    return batch->last == *number && *number % EACH == 0;
}

static void *read_on(void *context)
{
    shared *of = context;
    store_reader *reader;
    ee_error error;
    event_batch batch = {0};
    uint64_t number = 0, failures = 0;
    if (store_reader_create(of->kept, &reader, &error)) return "create";
    for (bool more = true; more && !failures;) {
        more = !of->done;
        uint64_t committed = of->committed;
        failures += !read_rest(reader, &number, &batch) || number < committed;
    }
    event_batch_free(&batch);
    store_reader_free(reader);
    return failures || number != TRANSACTIONS * EACH ? "read" : NULL;
}

static const char *write_all(shared *of)
{
    static uint8_t body[EACH][6000];
    static ee_error error;
    uint64_t number = 0;
    for (int i = 0; i < TRANSACTIONS; i++) {
        store_entry entries[EACH];
        for (int k = 0; k < EACH; k++) {
            event new = {.kind = EVENT_STEP, .body = body[k], .size = 500 + ++number % 5000};
            memset(body[k], (uint8_t)number, new.size);
            entries[k] = (store_entry){.bandit = 1, .event = new, .next = k + 1 < EACH ? &entries[k + 1] : NULL};
        }
        store_group group = {.first = entries, .now = 1};
        if (store_write(of->kept, &group, &error)) return error.message;
        of->committed = number;
    }
    return NULL;
}

TEST(readers_see_whole_transactions)
{
    test_place place = test_place_make();
    shared of = {0};
    pthread_t threads[READERS];
    of.kept = open_bare(place.where, &(joining_rules){.wait = 1, .aggregation = LOG_REWARD_FIRST});
    for (int i = 0; i < READERS; i++) assert_int_equal(pthread_create(&threads[i], NULL, read_on, &of), 0);
    const char *failed = write_all(&of);
    of.done = true;
    for (int i = 0; i < READERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        if (result) failed = result;
    }
    if (failed) fail_msg("could not %s", failed);
    store_close(of.kept);
    test_place_remove(&place);
}
