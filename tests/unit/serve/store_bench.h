/* What the tests of the store share: a store in a place of its own, and what is read of it as words. */
#ifndef EENET_STORE_BENCH_H
#define EENET_STORE_BENCH_H

#include <stdio.h>
#include <stdlib.h>

#include "serve/store_writer.h"

enum { ALL = 0xff };

/* A store in a place of its own, and a reader of it. */
static struct bench {
    test_place place;
    store *kept;
    store_reader *reader;
} bench;

static inline void open_store(void)
{
    ok(store_open(bench.place.where, &bench.kept, &last_error));
    ok(store_reader_create(bench.kept, &bench.reader, &last_error));
}

static inline void close_store(void)
{
    store_reader_free(bench.reader);
    store_close(bench.kept);
    bench.reader = NULL;
    bench.kept = NULL;
}

static inline int set_up(void **state)
{
    (void)state;
    bench.place = test_place_make();
    open_store();
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    close_store();
    test_place_remove(&bench.place);
    return 0;
}

/* Writes an entry at a time. */
static inline entry_verdict write_at(int64_t now, store_entry entry)
{
    return write_entry(bench.kept, &entry, now);
}

/* An event of a kind that needs no more. */
static inline void append(uint32_t bandit, event_kind kind, int64_t now)
{
    store_entry entry = {.bandit = bandit, .event = {.kind = kind, .body = "body", .size = 4}};
    assert_int_equal(write_entry(bench.kept, &entry, now), ENTRY_DONE);
}

/* Steps of bandit 1 in one group, with bodies of so many bytes, and after them a reward of an unknown decision unless
 * it is NULL. */
static inline ee_status write_steps(size_t count, size_t size, const char *unknown, int64_t now)
{
    static const uint8_t body[8000];
    static store_entry entries[101];
    for (size_t i = 0; i < count; i++)
        entries[i] = (store_entry){.bandit = 1,
                                   .event = {.kind = EVENT_STEP, .body = body, .size = size},
                                   .next = i + 1 < count || unknown ? &entries[i + 1] : NULL};
    entries[count] = (store_entry){.bandit = 1, .event = {.kind = EVENT_REWARD, .id = words(unknown ? unknown : "")}};
    store_group group = {.first = entries, .now = now};
    return store_write(bench.kept, &group, &last_error);
}

static inline entry_verdict decide(uint32_t bandit, int64_t now, const char *id)
{
    store_entry entry = {.bandit = bandit, .event = {.kind = EVENT_DECISION, .id = words(id)}, .request = {1, 2}};
    return write_entry(bench.kept, &entry, now);
}

static inline event_outcome give(uint32_t bandit, int64_t now, const char *id, double value, const char *reward_id)
{
    store_entry entry = {
        .bandit = bandit,
        .event = {.kind = EVENT_REWARD, .id = words(id), .value = value, .reward_id = words(reward_id)}};
    write_entry(bench.kept, &entry, now);
    return entry.verdict == ENTRY_DONE ? entry.event.outcome : OUTCOME_NONE;
}

/* ---- what was read, as text that is valid until the next call ---- */

/* *last becomes the number up to which it looked. NULL: it failed. */
static inline const char *see_events(store_reader *reader, uint32_t bandit, uint64_t after, unsigned kinds,
                                     size_t limit, uint64_t *last, ee_error *error)
{
    static char seen[512];
    event_batch batch = {0};
    ee_status status = store_read(reader, bandit, after, kinds, limit, &batch, error);
    size_t length = 0;
    seen[0] = '\0';
    for (size_t i = 0; !status && i < batch.count; i++) {
        const event *from = &batch.events[i];
        length += (size_t)snprintf(seen + length, sizeof seen - length, "%d:%d@%d %.*s ", (int)from->number,
                                   (int)from->kind, (int)from->time, (int)from->id.length, from->id.bytes);
    }
    *last = batch.last;
    event_batch_free(&batch);
    return status ? NULL : seen;
}

static inline const char *bandits_of(void)
{
    static char seen[512];
    stored_bandits list;
    size_t length = 0;
    ok(store_list_bandits(bench.reader, &list, NULL));
    for (size_t i = 0; i < list.count; i++) {
        const stored_bandit *from = &list.bandits[i];
        length +=
            (size_t)snprintf(seen + length, sizeof seen - length, "%u %.*s%s %d-%d@%d settled %d %.*s; ", from->number,
                             (int)from->name.length, from->name.bytes, from->archived ? " archived" : "",
                             (int)from->first_event, (int)from->events, (int)from->time, (int)from->settled_to,
                             (int)from->settings.length, from->settings.bytes);
    }
    stored_bandits_free(&list);
    return seen;
}

static inline void assert_seen(uint32_t bandit, uint64_t after, unsigned kinds, size_t limit, const char *expected,
                               uint64_t expected_last)
{
    uint64_t last;
    assert_string_equal(see_events(bench.reader, bandit, after, kinds, limit, &last, NULL), expected);
    assert_int_equal(last, expected_last);
}

static inline const char *events_of(uint32_t bandit)
{
    uint64_t last;
    return see_events(bench.reader, bandit, 0, ALL, 1000, &last, NULL);
}

/* Two bandits, events 1 to 12 each: 1 is SETTINGS, then DECISION, but for STEPs at 4, 8, 12 and a CHECKPOINT at 9. */
static inline void write_log(void)
{
    close_store();
    raw_log log = raw_begin(bench.place.where);
    for (uint32_t bandit = 1; bandit <= 2; bandit++) {
        raw_add_bandit(&log, bandit, bandit == 1 ? "a" : "b");
        for (uint64_t number = 1; number <= 12; number++) {
            event_kind kind = number == 1       ? EVENT_SETTINGS
                              : number % 4 == 0 ? EVENT_STEP
                              : number == 9     ? EVENT_CHECKPOINT
                                                : EVENT_DECISION;
            raw_append(
                &log, bandit,
                &(event){
                    .number = number, .kind = kind, .time = (int64_t)(10 * (number / 2)), .body = "body", .size = 4});
        }
    }
    raw_commit(&log);
    open_store();
}

#endif
