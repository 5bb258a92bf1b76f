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
    ee_error error;
} bench;

static inline void open_store(void)
{
    ok(store_open(bench.place.where, &bench.kept, &bench.error));
    ok(store_reader_create(bench.kept, &bench.reader, &bench.error));
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
    return store_write(bench.kept, &group, &bench.error);
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

/* ---- what was read ---- */

typedef struct seen {
    char text[512];
    size_t count;
} seen;

static inline void see_bandit(seen *into, const stored_bandit *bandit)
{
    size_t length = strlen(into->text);
    snprintf(into->text + length, sizeof into->text - length, "%u %.*s%s %d-%d@%d settled %d %.*s; ", bandit->number,
             (int)bandit->name.length, bandit->name.bytes, bandit->archived ? " archived" : "",
             (int)bandit->first_event, (int)bandit->events, (int)bandit->time, (int)bandit->settled_to,
             (int)bandit->settings.length, bandit->settings.bytes);
    into->count++;
}

static inline void see_event(seen *into, const event *from)
{
    size_t length = strlen(into->text);
    snprintf(into->text + length, sizeof into->text - length, "%d:%d@%d %.*s ", (int)from->number, (int)from->kind,
             (int)from->time, (int)from->id.length, from->id.bytes);
    into->count++;
}

/* Reads, and describes what was read. *last becomes the number up to which it looked. */
static inline ee_status see_events(store_reader *reader, uint32_t bandit, uint64_t after, unsigned kinds, size_t limit,
                                   seen *into, uint64_t *last, ee_error *error)
{
    event_batch batch = {0};
    ee_status status = store_read(reader, bandit, after, kinds, limit, &batch, error);
    *into = (seen){0};
    for (size_t i = 0; !status && i < batch.count; i++) see_event(into, &batch.events[i]);
    *last = batch.last;
    event_batch_free(&batch);
    return status;
}

static inline const char *bandits_of(void)
{
    static seen all;
    stored_bandits list;
    all = (seen){0};
    ok(store_list_bandits(bench.reader, &list, NULL));
    for (size_t i = 0; i < list.count; i++) see_bandit(&all, &list.bandits[i]);
    stored_bandits_free(&list);
    return all.text;
}

static inline void assert_seen(uint32_t bandit, uint64_t after, unsigned kinds, size_t limit, const char *expected,
                               uint64_t expected_last)
{
    seen got;
    uint64_t last;
    ok(see_events(bench.reader, bandit, after, kinds, limit, &got, &last, NULL));
    assert_string_equal(got.text, expected);
    assert_int_equal(last, expected_last);
}

static inline const char *events_of(uint32_t bandit)
{
    static seen all;
    uint64_t last;
    ok(see_events(bench.reader, bandit, 0, ALL, 1000, &all, &last, NULL));
    return all.text;
}

static inline void compare_event(uint32_t bandit, const event *expected)
{
    const event *from;
    ok(store_read_one(bench.reader, bandit, expected->number, &from, NULL));
    assert_int_equal(from->number, expected->number);
    assert_int_equal(from->kind, expected->kind);
    assert_int_equal(from->time, expected->time);
    assert_int_equal(from->id.length, expected->id.length);
    assert_memory_equal(from->id.bytes, expected->id.bytes, from->id.length);
    assert_int_equal(from->decision, expected->decision);
    assert_true(from->value == expected->value);
    assert_int_equal(from->outcome, expected->outcome);
    assert_int_equal(from->reward_id.length, expected->reward_id.length);
    assert_memory_equal(from->reward_id.bytes, expected->reward_id.bytes, from->reward_id.length);
    assert_int_equal(from->size, expected->size);
    if (from->size) assert_memory_equal(from->body, expected->body, from->size);
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
