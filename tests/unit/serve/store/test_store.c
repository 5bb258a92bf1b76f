/* The store: every call, and what a transaction promises. */
#define _DEFAULT_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "serve/store_bench.h"

static void bandits_are_kept(void **state)
{
    bench *b = *state;
    seen got;
    begin(b);
    assert_int_equal(add_bandit(b, "shop"), 1);
    assert_int_equal(add_bandit(b, "news"), 2);
    append(b, 2, EVENT_SETTINGS, 1, 70, "");
    uint32_t number;
    assert_int_equal(store_add_bandit(b->kept, words("shop"), &number, &b->error), EE_BAD_INPUT);
    assert_string_equal(b->error.message, "store: the bandit 'shop' already exists");
    stored_bandit change = {.number = 2, .archived = true, .settled_to = 1, .settings = words("{}")};
    assert_int_equal(store_put_bandit(b->kept, &change, &b->error), EE_OK);
    change.number = 3;
    assert_int_equal(store_put_bandit(b->kept, &change, &b->error), EE_BAD_INPUT);
    assert_string_equal(bandits_of(b->reader, &got), ""); /* not before the commit */
    commit(b);
    const char *expected = "1 shop 0-0@0 settled 0 ; 2 news archived 1-1@70 settled 1 {}; ";
    assert_string_equal(bandits_of(b->reader, &got), expected);
    close_store(b);
    open_store(b);
    assert_string_equal(bandits_of(b->reader, &got), expected);
}

static void events_are_kept(void **state)
{
    bench *b = *state;
    static uint8_t large[50000]; /* over many pages */
    for (size_t i = 0; i < sizeof large; i++) large[i] = (uint8_t)(i * i >> 3);
    const event events[] = {
        {.number = 1, .kind = EVENT_SETTINGS, .time = 5, .body = "{}", .size = 2},
        {.number = 2, .kind = EVENT_DECISION, .time = 5, .id = words("\xc3\xa4"), .body = large, .size = sizeof large},
        {.number = 3,
         .kind = EVENT_REWARD,
         .time = INT64_MAX,
         .id = words("x"),
         .decision = 2,
         .value = 0.1,
         .outcome = REWARD_JOINED,
         .reward_id = words("r")},
        {.number = 4,
         .kind = EVENT_SETTLED,
         .time = INT64_MAX,
         .decision = 2,
         .value = -1e9,
         .outcome = SETTLED_DEFAULT},
    };
    begin(b);
    add_bandit(b, "a");
    uint32_t bandit = add_bandit(b, "b");
    for (size_t i = 0; i < 4; i++) assert_int_equal(store_append(b->kept, bandit, &events[i], &b->error), EE_OK);
    commit(b);
    for (size_t i = 0; i < 4; i++) compare_event(b->reader, bandit, &events[i]);
    const event *none;
    assert_int_equal(store_read_one(b->reader, bandit, 5, &none, &b->error), EE_BAD_INPUT);
    assert_int_equal(store_read_one(b->reader, 1, 1, &none, &b->error), EE_BAD_INPUT);
    assert_null(none);
}

static void events_follow_each_other(void **state)
{
    bench *b = *state;
    event new = {.number = 1, .kind = EVENT_SETTINGS, .time = 100};
    assert_int_equal(store_append(b->kept, 1, &new, &b->error), EE_BAD_INPUT);
    assert_string_equal(b->error.message, "store: no transaction is open");
    begin(b);
    assert_int_equal(store_begin(b->kept, &b->error), EE_BAD_INPUT);
    assert_int_equal(store_append(b->kept, 1, &new, &b->error), EE_BAD_INPUT);
    assert_string_equal(b->error.message, "store: there is no bandit 1");
    add_bandit(b, "a");
    append(b, 1, EVENT_SETTINGS, 1, 100, "");
    for (new.number = 1; new.number <= 3; new.number += 2)
        assert_int_equal(store_append(b->kept, 1, &new, &b->error), EE_BAD_INPUT);
    new = (event){.number = 2, .kind = EVENT_STEP, .time = 99};
    assert_int_equal(store_append(b->kept, 1, &new, &b->error), EE_BAD_INPUT);
    append(b, 1, EVENT_STEP, 2, 100, "");
    commit(b);
    close_store(b);
    open_store(b); /* what comes next is known after a restart, too */
    begin(b);
    assert_int_equal(store_append(b->kept, 1, &new, &b->error), EE_BAD_INPUT);
    append(b, 1, EVENT_STEP, 3, 100, "");
    commit(b);
}

static void events_are_read_in_order(void **state)
{
    bench *b = *state;
    uint64_t last;
    seen got = {0};
    write_log(b);
    assert_int_equal(see_events(b->reader, 1, 2, ALL, 3, &got, &last, NULL), EE_OK);
    assert_string_equal(got.text, "3:1@10  4:4@20  5:1@20  ");
    assert_int_equal(last, 5);
    /* some kinds: what lies behind the last of them was looked at too */
    assert_int_equal(see_events(b->reader, 1, 5, 1 << EVENT_DECISION, 100, &got, &last, NULL), EE_OK);
    assert_string_equal(got.text, "6:1@30  7:1@30  10:1@50  11:1@50  ");
    assert_int_equal(last, 12);
    const unsigned rare = 1 << EVENT_STEP | 1 << EVENT_CHECKPOINT;
    assert_int_equal(see_events(b->reader, 1, 4, rare, 2, &got, &last, NULL), EE_OK);
    assert_string_equal(got.text, "8:4@40  9:5@40  ");
    assert_int_equal(last, 9);
    assert_int_equal(see_events(b->reader, 1, 0, 1 << EVENT_CHECKPOINT, 2, &got, &last, NULL), EE_OK);
    assert_string_equal(got.text, "9:5@40  ");
    assert_int_equal(last, 12);
    assert_int_equal(see_events(b->reader, 1, 12, ALL, 2, &got, &last, NULL), EE_OK);
    assert_int_equal(last, 12);
    assert_int_equal(see_events(b->reader, 3, 0, ALL, 2, &got, &last, NULL), EE_OK);
    assert_int_equal(last, 0);
}

static void events_are_found(void **state)
{
    bench *b = *state;
    uint64_t number;
    write_log(b);
    const struct {
        event_kind kind;
        uint64_t upto, expected;
    } lasts[] = {{EVENT_CHECKPOINT, 12, 9}, {EVENT_CHECKPOINT, 8, 0}, {EVENT_STEP, UINT64_MAX, 12},
                 {EVENT_STEP, 11, 8},       {EVENT_DECISION, 9, 7},   {EVENT_DECISION, 1, 0},
                 {EVENT_MODEL, 12, 0},      {EVENT_SETTINGS, 1, 1}};
    for (size_t i = 0; i < sizeof lasts / sizeof *lasts; i++) {
        assert_int_equal(store_last(b->reader, 1, lasts[i].kind, lasts[i].upto, &number, &b->error), EE_OK);
        assert_int_equal(number, lasts[i].expected);
    }
    assert_int_equal(store_last_of(b->reader, 1, 1U << EVENT_DECISION | 1U << EVENT_CHECKPOINT, 10, &number, NULL),
                     EE_OK);
    assert_int_equal(number, 10);
    const struct {
        int64_t time;
        uint64_t expected;
    } times[] = {{INT64_MIN, 1}, {0, 1}, {1, 2}, {10, 2}, {11, 4}, {60, 12}, {61, 13}, {INT64_MAX, 13}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        assert_int_equal(store_find_time(b->reader, 1, times[i].time, &number, &b->error), EE_OK);
        assert_int_equal(number, times[i].expected);
    }
    assert_int_equal(store_find_time(b->reader, 7, 0, &number, &b->error), EE_OK);
    assert_int_equal(number, 1);
}

/* Log times of all events, and wall times that go back at event 4 and jump at 7. */
static void wall_times_go_back(void **state)
{
    bench *b = *state;
    seen got = {0};
    uint64_t number, last;
    stored_clock clock;
    stored_decision decision;
    bool found;
    const int64_t times[] = {10, 20, 30, 1031, 1040, 1050, 2051, 2060};
    const stored_clock changes[] = {{1031, 1010, false}, {1040, 1010, true}, {2051, 0, false}};
    assert_int_equal(store_read_clock(b->reader, &clock, &b->error), EE_OK);
    assert_true(clock.time == 0 && clock.ahead == 0 && !clock.in_doubt);
    begin(b);
    add_bandit(b, "a");
    for (size_t i = 0; i < 8; i++) {
        for (size_t k = 0; k < 3; k++)
            if (changes[k].time == times[i]) assert_int_equal(store_put_clock(b->kept, &changes[k], &b->error), EE_OK);
        char id[] = {(char)('a' + i), 0};
        decide(b, 1, i + 1, times[i], id, false);
    }
    commit(b);
    close_store(b);
    open_store(b);
    assert_int_equal(store_read_clock(b->reader, &clock, &b->error), EE_OK);
    assert_true(clock.time == 2051 && clock.ahead == 0 && !clock.in_doubt);
    assert_int_equal(see_events(b->reader, 1, 0, ALL, 100, &got, &last, NULL), EE_OK);
    assert_string_equal(got.text, "1:1@10 a 2:1@20 b 3:1@30 c 4:1@21 d 5:1@30 e 6:1@40 f 7:1@2051 g 8:1@2060 h ");
    assert_int_equal(store_next_decision(b->reader, 1, 4, &decision, &found, &b->error), EE_OK);
    assert_int_equal(decision.time, 30);
    begin(b);
    assert_true(find(b, 1, "e", &decision));
    assert_int_equal(decision.time, 1040); /* for the writer */
    commit(b);
    const struct {
        int64_t time;
        uint64_t first, end;
    } finds[] = {{INT64_MIN, 1, 1}, {10, 1, 1}, {11, 2, 2},   {21, 3, 3},   {22, 3, 5},   {30, 3, 5},       {31, 6, 6},
                 {40, 6, 6},        {41, 7, 7}, {2051, 7, 7}, {2052, 8, 8}, {2061, 9, 9}, {INT64_MAX, 9, 9}};
    for (size_t i = 0; i < sizeof finds / sizeof *finds; i++) {
        assert_int_equal(store_find_time(b->reader, 1, finds[i].time, &number, &b->error), EE_OK);
        assert_int_equal(number, finds[i].first);
        assert_int_equal(store_find_end(b->reader, 1, finds[i].time, &number, &b->error), EE_OK);
        assert_int_equal(number, finds[i].end);
    }
    assert_int_equal(store_count_before(b->reader, 1, 1040, &number, &b->error), EE_OK);
    assert_int_equal(number, 4);
    assert_int_equal(store_count_before(b->reader, 2, 1040, &number, &b->error), EE_OK);
    assert_int_equal(number, 0);
    /* a reader that has read the clock sees what it did later */
    begin(b);
    assert_int_equal(store_put_clock(b->kept, &(stored_clock){3000, 100, false}, &b->error), EE_OK);
    decide(b, 1, 9, 3000, "i", false);
    commit(b);
    assert_int_equal(see_events(b->reader, 1, 7, ALL, 100, &got, &last, NULL), EE_OK);
    assert_string_equal(got.text, "8:1@2060 h 9:1@2900 i ");
}

/* A batch has copies: nothing that happens to the store later changes them, and no transaction stays open. */
static void a_batch_is_a_copy(void **state)
{
    bench *b = *state;
    const event *one;
    bool more;
    event_batch batch = {0};
    write_log(b);
    assert_int_equal(store_read(b->reader, 1, 0, ALL, 100, &batch, &b->error), EE_OK);
    assert_int_equal(batch.count, 12);
    begin(b);
    assert_int_equal(store_remove(b->kept, 1, INT64_MAX, 12, 5, &more, &b->error), EE_OK);
    commit(b);
    for (size_t i = 0; i < 12; i++) {
        ee_status expected = i < 5 ? EE_BAD_INPUT : EE_OK;
        assert_int_equal(batch.events[i].number, i + 1);
        assert_memory_equal(batch.events[i].body, "body", 4);
        assert_int_equal(store_read_one(b->reader, 1, i + 1, &one, &b->error), expected);
        assert_int_equal(store_read_one(b->reader, 2, i + 1, &one, &b->error), EE_OK);
    }
    event_batch_free(&batch);
}

static int log_pages(bench *b)
{
    char path[4200];
    struct stat about;
    snprintf(path, sizeof path, "%s/eenet.db-wal", b->folder.path);
    return stat(path, &about) ? 0 : (int)(about.st_size >> 13);
}

/* A reader between two calls does not keep the write-ahead log from starting over. */
static void a_reader_that_works_does_not_hold_the_log(void **state)
{
    enum { TRANSACTIONS = 60, EACH = 40, LIMIT = 1500 };
    static uint8_t body[8000];
    bench *b = *state;
    event_batch batch = {0};
    write_log(b);
    assert_int_equal(store_read(b->reader, 1, 0, ALL, 2, &batch, &b->error), EE_OK);
    for (uint64_t i = 0, number = 13; i < TRANSACTIONS; i++) {
        begin(b);
        for (size_t k = 0; k < EACH; k++, number++) {
            event new = {.number = number, .kind = EVENT_STEP, .time = 100, .body = body, .size = sizeof body};
            assert_int_equal(store_append(b->kept, 1, &new, &b->error), EE_OK);
        }
        commit(b);
    }
    assert_int_equal(batch.events[1].number, 2);
    assert_true(log_pages(b) < LIMIT);
    event_batch_free(&batch);
}

/* A batch ends at a size, but never empty. */
static void a_batch_is_bounded(void **state)
{
    enum { SIZE = EVENT_BATCH_BYTES * 2 / 5, COUNT = 7 };
    bench *b = *state;
    event_batch batch = {0};
    uint8_t *large = calloc(1, 2 * EVENT_BATCH_BYTES);
    begin(b);
    add_bandit(b, "a");
    for (uint64_t i = 1; i <= COUNT; i++) {
        size_t size = i == COUNT ? 2 * EVENT_BATCH_BYTES : SIZE;
        memset(large, (int)i, size);
        event new = {.number = i, .kind = EVENT_STEP, .id = words("id"), .body = large, .size = size};
        assert_int_equal(store_append(b->kept, 1, &new, &b->error), EE_OK);
    }
    commit(b);
    const size_t counts[] = {3, 3, 1, 0};
    const unsigned kinds[] = {ALL, 1 << EVENT_STEP}; /* read in order, and by the index */
    for (size_t k = 0; k < 2; k++) {
        event_batch_clear(&batch);
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(store_read(b->reader, 1, batch.last, kinds[k], 100, &batch, &b->error), EE_OK);
            assert_int_equal(batch.count, counts[i]);
            for (size_t j = 0; j < batch.count; j++)
                assert_int_equal(((const uint8_t *)batch.events[j].body)[SIZE - 1], batch.events[j].number);
        }
        assert_int_equal(batch.last, COUNT);
    }
    event_batch_free(&batch);
    free(large);
}

static void decisions_are_found_by_id(void **state)
{
    bench *b = *state;
    stored_decision got;
    begin(b);
    add_bandit(b, "a");
    add_bandit(b, "b");
    decide(b, 1, 1, 10, "x", false);
    assert_true(find(b, 1, "x", &got)); /* within the transaction */
    assert_false(find(b, 2, "x", &got));
    assert_false(find(b, 1, "y", &got));
    assert_false(find(b, 1, "X", &got));
    commit(b);
    begin(b);
    stored_decision changed = {.number = 1, .rewards = 3, .settled = true, .value = 1.5};
    assert_int_equal(store_put_decision(b->kept, 1, &changed, &b->error), EE_OK);
    commit(b);
    close_store(b);
    open_store(b);
    begin(b);
    assert_true(find(b, 1, "x", &got));
    store_rollback(b->kept);
    assert_int_equal(got.number, 1);
    assert_int_equal(got.time, 10);
    assert_true(got.request[0] == 1 && got.request[1] == ~(uint64_t)1);
    assert_int_equal(got.rewards, 3);
    assert_true(got.settled && got.value == 1.5);
}

static void what_waits_is_found_in_order(void **state)
{
    bench *b = *state;
    stored_decision out[4];
    size_t count;
    uint64_t upto;
    int64_t next;
    char id[8];
    begin(b);
    add_bandit(b, "a");
    add_bandit(b, "b");
    for (uint64_t i = 1; i <= 8; i++) { /* those with even numbers are settled */
        snprintf(id, sizeof id, "%d", (int)i);
        decide(b, 1, i, (int64_t)i * 10, id, i % 2 == 0);
        decide(b, 2, i, 1, id, false);
    }
    assert_int_equal(store_waiting(b->kept, 1, 0, 51, out, 4, &count, &upto, &next, &b->error), EE_OK);
    assert_int_equal(count, 3);
    assert_int_equal(out[0].number, 1);
    assert_int_equal(out[2].number, 5);
    assert_int_equal(upto, 5);
    assert_int_equal(next, 60);
    assert_int_equal(store_waiting(b->kept, 1, 0, 51, out, 2, &count, &upto, &next, &b->error), EE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(upto, 3);
    assert_int_equal(next, 40);
    assert_int_equal(store_waiting(b->kept, 1, 7, 1000, out, 4, &count, &upto, &next, &b->error), EE_OK);
    assert_int_equal(count, 0);
    assert_int_equal(upto, 8);
    assert_true(next == INT64_MAX);
    assert_int_equal(store_waiting(b->kept, 1, 3, 40, out, 4, &count, &upto, &next, &b->error), EE_OK);
    assert_int_equal(count, 0);
    assert_int_equal(upto, 3);
    assert_int_equal(next, 40);
    commit(b);
}

static void a_reward_id_comes_once(void **state)
{
    bench *b = *state;
    bool there;
    double before = 0;
    event_outcome outcome = OUTCOME_NONE;
    begin(b);
    add_bandit(b, "a");
    const struct {
        const char *id, *reward;
        bool expected;
    } calls[] = {{"x", "r", false}, {"x", "r", true}, {"x", "s", false}, {"y", "r", false}, {"x", "s", true}};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(store_add_reward_id(b->kept, 1, words(calls[i].id), words(calls[i].reward), (double)i,
                                             REWARD_LATE, &there, &before, &outcome, &b->error),
                         EE_OK);
        assert_int_equal(there, calls[i].expected);
    }
    assert_true(before == 2);
    assert_int_equal(outcome, REWARD_LATE);
    commit(b);
}

static void keep_reward(bench *b, uint64_t number, const char *id, double value)
{
    event new = {.number = number,
                 .kind = EVENT_REWARD,
                 .time = (int64_t)number,
                 .id = words(id),
                 .value = value,
                 .outcome = REWARD_UNKNOWN,
                 .reward_id = words("r")};
    bool there;
    double before;
    event_outcome outcome;
    assert_int_equal(store_append(b->kept, 1, &new, &b->error), EE_OK);
    assert_int_equal(store_add_unclaimed(b->kept, 1, words(id), number, &b->error), EE_OK);
    assert_int_equal(store_add_reward_id(b->kept, 1, words(id), words("r"), value, REWARD_UNKNOWN, &there, &before,
                                         &outcome, &b->error),
                     EE_OK);
}

static void unclaimed_rewards_are_taken_once(void **state)
{
    bench *b = *state;
    double value;
    begin(b);
    add_bandit(b, "a");
    assert_false(store_has_unclaimed(b->kept, 1));
    keep_reward(b, 1, "x", 0.5);
    keep_reward(b, 2, "y", 1);
    assert_true(store_has_unclaimed(b->kept, 1));
    commit(b);
    begin(b);
    keep_reward(b, 3, "x", -1);
    assert_int_equal(take(b, "x", &value), 1);
    store_rollback(b->kept); /* nothing of this was */
    close_store(b);
    open_store(b);
    assert_true(store_has_unclaimed(b->kept, 1));
    begin(b);
    assert_int_equal(take(b, "x", &value), 1);
    assert_true(value == 0.5);
    assert_int_equal(take(b, "x", &value), 0);
    assert_true(store_has_unclaimed(b->kept, 1));
    assert_int_equal(take(b, "y", &value), 2);
    assert_false(store_has_unclaimed(b->kept, 1));
    store_rollback(b->kept);
    assert_true(store_has_unclaimed(b->kept, 1));
    assert_false(store_has_unclaimed(b->kept, 2));
}

static void a_rollback_leaves_all_as_before(void **state)
{
    bench *b = *state;
    stored_decision got;
    seen all;
    write_log(b);
    char before[512];
    snprintf(before, sizeof before, "%s", events_of(b->reader, 1, &all));
    begin(b);
    add_bandit(b, "c");
    decide(b, 1, 13, 1000, "x", false);
    append(b, 3, EVENT_SETTINGS, 1, 1000, "");
    store_rollback(b->kept);
    assert_string_equal(events_of(b->reader, 1, &all), before);
    begin(b);
    assert_false(find(b, 1, "x", &got));
    assert_int_equal(add_bandit(b, "d"), 3);
    append(b, 3, EVENT_SETTINGS, 1, 5, "");
    append(b, 1, EVENT_STEP, 13, 60, "");
    commit(b);
    assert_string_equal(bandits_of(b->reader, &all),
                        "1 a 1-13@60 settled 0 ; 2 b 1-12@60 settled 0 ; 3 d 1-1@5 settled 0 ; ");
}

/* ---- forgetting ---- */

static bool remove_before(bench *b, int64_t before, uint64_t keep_from, size_t most)
{
    bool more;
    begin(b);
    assert_int_equal(store_remove(b->kept, 1, before, keep_from, most, &more, &b->error), EE_OK);
    commit(b);
    return more;
}

static void old_events_are_removed(void **state)
{
    bench *b = *state;
    stored_decision got;
    seen all;
    double value;
    event_outcome outcome;
    bool there;
    begin(b);
    add_bandit(b, "a");
    append(b, 1, EVENT_SETTINGS, 1, 1, "");
    keep_reward(b, 2, "w", 1); /* never claimed */
    decide(b, 1, 3, 3, "x", true);
    decide(b, 1, 4, 4, "y", true);
    assert_int_equal(
        store_add_reward_id(b->kept, 1, words("x"), words("r"), 1, REWARD_JOINED, &there, &value, &outcome, &b->error),
        EE_OK);
    append(b, 1, EVENT_STEP, 5, 5, "");
    decide(b, 1, 6, 6, "z", false);
    append(b, 1, EVENT_STEP, 7, 7, "");
    commit(b);
    assert_true(remove_before(b, 100, 100, 1));
    assert_true(remove_before(b, 100, 100, 1));
    assert_string_equal(events_of(b->reader, 1, &all), "3:1@3 x 4:1@4 y 5:4@5  6:1@6 z 7:4@7  ");
    assert_false(store_has_unclaimed(b->kept, 1));
    assert_false(remove_before(b, 4, 100, 10)); /* by time */
    assert_string_equal(events_of(b->reader, 1, &all), "4:1@4 y 5:4@5  6:1@6 z 7:4@7  ");
    assert_false(remove_before(b, 100, 5, 10)); /* by number */
    assert_string_equal(events_of(b->reader, 1, &all), "5:4@5  6:1@6 z 7:4@7  ");
    assert_false(remove_before(b, 100, 100, 10)); /* a decision that waits stays */
    assert_string_equal(events_of(b->reader, 1, &all), "6:1@6 z 7:4@7  ");
    begin(b);
    assert_false(find(b, 1, "x", &got));
    assert_false(find(b, 1, "y", &got));
    assert_true(find(b, 1, "z", &got));
    for (const char *id = "w"; id; id = *id == 'w' ? "x" : NULL) { /* their reward ids are free again */
        assert_int_equal(store_add_reward_id(b->kept, 1, words(id), words("r"), 1, REWARD_JOINED, &there, &value,
                                             &outcome, &b->error),
                         EE_OK);
        assert_false(there);
    }
    got.settled = true;
    assert_int_equal(store_put_decision(b->kept, 1, &got, &b->error), EE_OK);
    commit(b);
    assert_false(remove_before(b, 100, 100, 10)); /* the last one stays: the next has to follow it */
    assert_string_equal(events_of(b->reader, 1, &all), "7:4@7  ");
    close_store(b);
    open_store(b);
    assert_string_equal(bandits_of(b->reader, &all), "1 a 7-7@7 settled 0 ; ");
    uint64_t number;
    assert_int_equal(store_find_time(b->reader, 1, 0, &number, &b->error), EE_OK);
    assert_int_equal(number, 7);
}

/* What was freed is used again: the file does not grow while as much is removed as is added. */
static void removed_room_is_used_again(void **state)
{
    bench *b = *state;
    static const uint8_t body[2000];
    begin(b);
    add_bandit(b, "a");
    commit(b);
    uint64_t number = 0, bytes = 0;
    for (int round = 0; round < 12; round++) {
        begin(b);
        for (int i = 0; i < 100; i++) {
            event new = {
                .number = ++number, .kind = EVENT_STEP, .time = (int64_t)number, .body = body, .size = sizeof body};
            assert_int_equal(store_append(b->kept, 1, &new, &b->error), EE_OK);
        }
        bool more;
        assert_int_equal(store_remove(b->kept, 1, (int64_t)number - 200, UINT64_MAX, 1000, &more, &b->error), EE_OK);
        commit(b);
        close_store(b);
        open_store(b);
        if (round == 5) bytes = store_bytes(b->kept);
    }
    assert_true(bytes > 200 * sizeof body);
    assert_true(store_bytes(b->kept) <= bytes + 100000);
}

/* ---- models ---- */

static void models_are_files(void **state)
{
    bench *b = *state;
    uint8_t *bytes;
    size_t size;
    uint64_t empty = store_bytes(b->kept);
    assert_int_equal(store_load_model(b->kept, 1, 7, &bytes, &size, &b->error), EE_NO_FILE);
    assert_int_equal(store_save_model(b->kept, 1, 7, "model", 5, &b->error), EE_OK);
    assert_int_equal(store_bytes(b->kept), empty + 5);
    folder_write_text(&b->folder, "models/1/8.model.123.0", "half a mod");
    folder_write_text(&b->folder, "models/1/readme", "a user's");
    assert_int_equal(store_load_model_of(b->reader, 1, 7, &bytes, &size, &b->error), EE_OK);
    assert_int_equal(size, 5);
    assert_memory_equal(bytes, "model", 5);
    memory_free(bytes);
    close_store(b);
    open_store(b);
    assert_int_not_equal(access(folder_path(&b->folder, "models/1/8.model.123.0"), F_OK), 0); /* a crash left it */
    assert_int_equal(access(folder_path(&b->folder, "models/1/readme"), F_OK), 0);
    assert_int_equal(store_remove_model(b->kept, 1, 7, &b->error), EE_OK);
    assert_int_equal(store_remove_model(b->kept, 1, 7, &b->error), EE_OK); /* gone is gone */
    assert_int_equal(store_load_model(b->kept, 1, 7, &bytes, &size, &b->error), EE_NO_FILE);
}

static bool has_model(bench *b, uint32_t bandit, uint64_t number)
{
    uint8_t *bytes = NULL;
    size_t size;
    ee_status status = store_load_model(b->kept, bandit, number, &bytes, &size, NULL);
    memory_free(bytes);
    return status == EE_OK;
}

/* Those that an event names, those that may be on their way, checkpoints and other bandits' stay. */
static void uploads_that_nobody_needs_go(void **state)
{
    bench *b = *state;
    const uint64_t upload = 1700000000000000;
    checkpoint_body head = {.version = upload};
    uint8_t *body;
    size_t size;
    begin(b);
    add_bandit(b, "a");
    add_bandit(b, "b");
    assert_int_equal(checkpoint_body_write(&head, NULL, &body, &size, &b->error), EE_OK);
    event named = {.number = 1, .kind = EVENT_MODEL, .body = body, .size = size};
    assert_int_equal(store_append(b->kept, 1, &named, &b->error), EE_OK);
    event reset = {.number = 2, .kind = EVENT_MODEL};
    assert_int_equal(store_append(b->kept, 1, &reset, &b->error), EE_OK);
    commit(b);
    memory_free(body);
    const uint64_t numbers[] = {17, upload - 1, upload, upload + 1, upload + 1000};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(store_save_model(b->kept, 1, numbers[i], "model", 5, &b->error), EE_OK);
    assert_int_equal(store_save_model(b->kept, 2, upload - 1, "model", 5, &b->error), EE_OK);
    store_remove_uploads(b->kept, 1, upload + 1000);
    const bool stays[] = {true, false, true, false, true};
    for (size_t i = 0; i < 5; i++) assert_int_equal(has_model(b, 1, numbers[i]), stays[i]);
    assert_true(has_model(b, 2, upload - 1));
    store_remove_uploads(b->kept, 7, UINT64_MAX); /* of a bandit that has none */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bandits_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(events_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(events_follow_each_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(events_are_read_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(events_are_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wall_times_go_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_is_a_copy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reader_that_works_does_not_hold_the_log, set_up, tear_down),
        cmocka_unit_test_setup_teardown(decisions_are_found_by_id, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_waits_is_found_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reward_id_comes_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unclaimed_rewards_are_taken_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rollback_leaves_all_as_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_events_are_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(removed_room_is_used_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(models_are_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(uploads_that_nobody_needs_go, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
