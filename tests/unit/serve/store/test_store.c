/* The store: every call, and what a transaction promises. */
#define _DEFAULT_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "serve/shown_log.h"
#include "serve/store_bench.h"

static store_entry settings_entry(const bandit_settings *settings, const char *json, const char *name)
{
    return (store_entry){.event = {.kind = EVENT_SETTINGS, .body = json, .size = strlen(json)},
                         .settings = settings,
                         .name = words(name)};
}

TEST_WITH(bandits_are_kept, set_up, tear_down)
{
    bandit_settings settings = bandit_settings_usual();
    assert_int_equal(write_bandit(bench.kept, "shop", "{\"dim\":2}", 60), 1);
    assert_int_equal(write_bandit(bench.kept, "news", "{\"dim\":3}", 70), 2);
    store_entry again = settings_entry(&settings, "{}", "shop");
    assert_int_equal(write_entry(bench.kept, &again, 80), ENTRY_FAILED);
    assert_string_equal(again.error.message, "store: the bandit 'shop' already exists");
    /* Two of a name in one group: the first. */
    store_entry one = settings_entry(&settings, "{}", "same"), two = settings_entry(&settings, "{}", "same");
    one.next = &two;
    write_entries(bench.kept, &one, 80);
    assert_int_equal(one.verdict, ENTRY_DONE);
    assert_int_equal(two.verdict, ENTRY_FAILED);
    store_entry change = settings_entry(&settings, "{\"dim\":4}", "");
    change.bandit = 2;
    change.archived = true;
    assert_int_equal(write_entry(bench.kept, &change, 90), ENTRY_DONE);
    change.bandit = 7;
    assert_int_equal(write_entry(bench.kept, &change, 90), ENTRY_FAILED);
    assert_string_equal(change.error.message, "bandit: there is no bandit with the number 7");
    const char *expected = "1 shop 1-1@60 settled 0 {\"dim\":2}; 2 news archived 1-2@90 settled 0 {\"dim\":4}; "
                           "3 same 1-1@80 settled 0 {}; ";
    assert_string_equal(bandits_of(), expected);
    close_store();
    open_store();
    assert_string_equal(bandits_of(), expected);
    assert_int_equal(store_bandit_count(bench.kept), 3);
    assert_true(store_bandit_state(bench.kept, 2)->archived);
    assert_int_equal(decide(2, 100, "x"), ENTRY_FAILED);
}

TEST_WITH(events_are_kept, set_up, tear_down)
{
    static uint8_t large[50000]; /* over many pages */
    for (size_t i = 0; i < sizeof large; i++) large[i] = (uint8_t)(i * i >> 3);
    write_bandit(bench.kept, "a", "{}", 5);
    uint32_t bandit = write_bandit(bench.kept, "b", "{\"dim\":1}", 5);
    write_at(5,
             (store_entry){.bandit = bandit,
                           .event = {.kind = EVENT_DECISION, .id = words("\xc3\xa4"), .body = large, .size = 50000}});
    assert_int_equal(give(bandit, 6, "\xc3\xa4", 0.1, "r"), REWARD_JOINED);
    assert_string_equal(events_of(bandit), "1:6@5  2:1@5 \xc3\xa4 3:2@6 \xc3\xa4 4:3@6  ");
    assert_log_is(bench.kept, bandit, "=; D \xc3\xa4; R \xc3\xa4 0.1 joined 2; S 2 0.1 rewarded; ");
    const json_text bodies[] = {words("{\"dim\":1}"), {(const char *)large, sizeof large}, {"", 0}, {"", 0}};
    for (uint64_t i = 0; i < 4; i++) {
        const event *found;
        ok(store_read_one(bench.reader, bandit, i + 1, &found, NULL));
        assert_int_equal(found->size, bodies[i].length);
        if (found->size) assert_memory_equal(found->body, bodies[i].bytes, found->size);
        assert_true(found->value == (i < 2 ? 0 : 0.1) && found->reward_id.length == (i == 2));
        if (i == 2) assert_int_equal(found->reward_id.bytes[0], 'r');
    }
    const event *none;
    assert_int_equal(store_read_one(bench.reader, bandit, 5, &none, &last_error), EE_BAD_INPUT);
    assert_int_equal(store_read_one(bench.reader, 1, 2, &none, &last_error), EE_BAD_INPUT);
    assert_null(none);
}

/* Numbers and times go on where they ended, after a restart too. */
TEST_WITH(events_follow_each_other, set_up, tear_down)
{
    write_bandit(bench.kept, "a", "{}", 100);
    append(1, EVENT_STEP, 100);
    close_store();
    open_store();
    store_entry early = {.bandit = 1, .event = {.kind = EVENT_STEP}};
    store_group group = {.first = &early, .now = 99};
    assert_int_equal(store_write(bench.kept, &group, &last_error), EE_BAD_INPUT);
    assert_string_equal(last_error.message, "store: an event of time 99 cannot follow event 2");
    append(1, EVENT_STEP, 100);
    assert_string_equal(events_of(1), "1:6@100  2:4@100  3:4@100  ");
    store_entry settled = {.bandit = 1, .event = {.kind = EVENT_SETTLED}};
    assert_int_equal(write_entry(bench.kept, &settled, 100), ENTRY_FAILED);
    store_entry large = {.bandit = 1, .event = {.kind = EVENT_STEP, .body = "x", .size = 600000000}};
    assert_int_equal(write_entry(bench.kept, &large, 100), ENTRY_FAILED);
    assert_message_has(large.error.message, "larger than 500 MB");
}

TEST_WITH(events_are_read_in_order, set_up, tear_down)
{
    write_log();
    assert_seen(1, 2, ALL, 3, "3:1@10  4:4@20  5:1@20  ", 5);
    /* some kinds: what lies behind the last of them was looked at too */
    assert_seen(1, 5, 1 << EVENT_DECISION, 100, "6:1@30  7:1@30  10:1@50  11:1@50  ", 12);
    const unsigned rare = 1 << EVENT_STEP | 1 << EVENT_CHECKPOINT;
    assert_seen(1, 4, rare, 2, "8:4@40  9:5@40  ", 9);
    assert_seen(1, 0, 1 << EVENT_CHECKPOINT, 2, "9:5@40  ", 12);
    assert_seen(1, 12, ALL, 2, "", 12);
    assert_seen(3, 0, ALL, 2, "", 0);
}

TEST_WITH(events_are_found, set_up, tear_down)
{
    uint64_t number;
    write_log();
    const struct {
        event_kind kind;
        uint64_t upto, expected;
    } lasts[] = {{EVENT_CHECKPOINT, 12, 9}, {EVENT_CHECKPOINT, 8, 0}, {EVENT_STEP, UINT64_MAX, 12},
                 {EVENT_STEP, 11, 8},       {EVENT_DECISION, 9, 7},   {EVENT_DECISION, 1, 0},
                 {EVENT_MODEL, 12, 0},      {EVENT_SETTINGS, 1, 1}};
    for (size_t i = 0; i < sizeof lasts / sizeof *lasts; i++) {
        ok(store_last(bench.reader, 1, lasts[i].kind, lasts[i].upto, &number, &last_error));
        assert_int_equal(number, lasts[i].expected);
    }
    ok(store_last_of(bench.reader, 1, 1U << EVENT_DECISION | 1U << EVENT_CHECKPOINT, 10, &number, NULL));
    assert_int_equal(number, 10);
    const struct {
        int64_t time;
        uint64_t expected;
    } times[] = {{INT64_MIN, 1}, {0, 1}, {1, 2}, {10, 2}, {11, 4}, {60, 12}, {61, 13}, {INT64_MAX, 13}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        ok(store_find_time(bench.reader, 1, times[i].time, &number, &last_error));
        assert_int_equal(number, times[i].expected);
    }
    ok(store_find_time(bench.reader, 7, 0, &number, &last_error));
    assert_int_equal(number, 1);
}

/* Log times of all events, and wall times that go back at event 4 and jump at 7. */
TEST_WITH(wall_times_go_back, set_up, tear_down)
{
    uint64_t number;
    stored_clock clock;
    stored_decision decision;
    size_t count;
    const int64_t times[] = {10, 20, 30, 1031, 1040, 1050, 2051, 2060};
    const stored_clock changes[] = {{1031, 1010, false}, {1040, 1010, true}, {2051, 0, false}};
    ok(store_read_clock(bench.reader, &clock, &last_error));
    assert_true(clock.time == 0 && clock.ahead == 0 && !clock.in_doubt);
    close_store();
    bench.kept = open_bare(bench.place.where, &(joining_rules){.wait = 1000000, .aggregation = LOG_REWARD_FIRST});
    for (size_t i = 0; i < 8; i++) {
        char id[] = {(char)('a' + i), 0};
        store_entry entry = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words(id)}};
        store_group group = {.first = &entry, .now = times[i]};
        for (size_t k = 0; k < 3; k++)
            if (changes[k].time == times[i]) group.clock = &changes[k];
        ok(store_write(bench.kept, &group, &last_error));
    }
    close_store();
    open_store();
    ok(store_read_clock(bench.reader, &clock, &last_error));
    assert_true(clock.time == 2051 && clock.ahead == 0 && !clock.in_doubt);
    assert_seen(1, 0, ALL, 100, "1:1@10 a 2:1@20 b 3:1@30 c 4:1@21 d 5:1@30 e 6:1@40 f 7:1@2051 g 8:1@2060 h ", 8);
    ok(store_next_decisions(bench.reader, 1, 4, &decision, 1, &count, &last_error));
    assert_int_equal(count, 1);
    assert_int_equal(decision.time, 30);
    const struct {
        int64_t time;
        uint64_t first, end;
    } finds[] = {{INT64_MIN, 1, 1}, {10, 1, 1}, {11, 2, 2},   {21, 3, 3},   {22, 3, 5},   {30, 3, 5},       {31, 6, 6},
                 {40, 6, 6},        {41, 7, 7}, {2051, 7, 7}, {2052, 8, 8}, {2061, 9, 9}, {INT64_MAX, 9, 9}};
    for (size_t i = 0; i < sizeof finds / sizeof *finds; i++) {
        ok(store_find_time(bench.reader, 1, finds[i].time, &number, &last_error));
        assert_int_equal(number, finds[i].first);
        ok(store_find_end(bench.reader, 1, finds[i].time, &number, &last_error));
        assert_int_equal(number, finds[i].end);
    }
    ok(store_count_before(bench.reader, 1, 1040, &number, &last_error));
    assert_int_equal(number, 4);
    ok(store_count_before(bench.reader, 2, 1040, &number, &last_error));
    assert_int_equal(number, 0);
    /* a reader that has read the clock sees what it did later */
    store_entry last_one = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words("i")}};
    store_group group = {.first = &last_one, .now = 3000, .clock = &(stored_clock){3000, 100, false}};
    ok(store_write(bench.kept, &group, &last_error));
    assert_seen(1, 7, ALL, 100, "8:1@2060 h 9:1@2900 i ", 9);
}

/* A batch has copies: nothing that happens to the store later changes them, and no transaction stays open. */
TEST_WITH(a_batch_is_a_copy, set_up, tear_down)
{
    const event *one;
    bool more;
    event_batch batch = {0};
    write_log();
    ok(store_read(bench.reader, 1, 0, ALL, 100, &batch, &last_error));
    assert_int_equal(batch.count, 12);
    ok(store_remove(bench.kept, 1, INT64_MAX, 12, 5, &more, &last_error));
    for (size_t i = 0; i < 12; i++) {
        ee_status expected = i < 5 ? EE_BAD_INPUT : EE_OK;
        assert_int_equal(batch.events[i].number, i + 1);
        assert_memory_equal(batch.events[i].body, "body", 4);
        assert_int_equal(store_read_one(bench.reader, 1, i + 1, &one, &last_error), expected);
        ok(store_read_one(bench.reader, 2, i + 1, &one, &last_error));
    }
    event_batch_free(&batch);
}

static int log_pages(void)
{
    char path[4200];
    struct stat about;
    snprintf(path, sizeof path, "%s/eenet.db-wal", bench.place.where);
    return stat(path, &about) ? 0 : (int)(about.st_size >> 13);
}

/* A reader between two calls does not keep the write-ahead log from starting over. */
TEST_WITH(a_reader_that_works_does_not_hold_the_log, set_up, tear_down)
{
    enum { TRANSACTIONS = 60, EACH = 40, LIMIT = 1500 };
    event_batch batch = {0};
    only_in_a_folder();
    write_log();
    ok(store_read(bench.reader, 1, 0, ALL, 2, &batch, &last_error));
    for (size_t i = 0; i < TRANSACTIONS; i++) ok(write_steps(EACH, 8000, NULL, 100));
    assert_int_equal(batch.events[1].number, 2);
    assert_true(log_pages() < LIMIT);
    event_batch_free(&batch);
}

/* A batch ends at a size, but never empty. */
TEST_WITH(a_batch_is_bounded, set_up, tear_down)
{
    enum { SIZE = EVENT_BATCH_BYTES * 2 / 5, COUNT = 7 };
    event_batch batch = {0};
    uint8_t *large = calloc(1, 2 * EVENT_BATCH_BYTES);
    close_store();
    raw_log log = raw_begin(bench.place.where);
    for (uint64_t i = 1; i <= COUNT; i++) {
        size_t size = i == COUNT ? 2 * EVENT_BATCH_BYTES : SIZE;
        memset(large, (int)i, size);
        raw_append(&log, 1, &(event){.number = i, .kind = EVENT_STEP, .id = words("id"), .body = large, .size = size});
    }
    raw_commit(&log);
    open_store();
    const size_t counts[] = {3, 3, 1, 0};
    const unsigned kinds[] = {ALL, 1 << EVENT_STEP}; /* read in order, and by the index */
    for (size_t k = 0; k < 2; k++) {
        event_batch_clear(&batch);
        for (size_t i = 0; i < 4; i++) {
            ok(store_read(bench.reader, 1, batch.last, kinds[k], 100, &batch, &last_error));
            assert_int_equal(batch.count, counts[i]);
            for (size_t j = 0; j < batch.count; j++)
                assert_int_equal(((const uint8_t *)batch.events[j].body)[SIZE - 1], batch.events[j].number);
        }
        assert_int_equal(batch.last, COUNT);
    }
    event_batch_free(&batch);
    free(large);
}

/* A statement that fails undoes the whole group: an id is there without its decision, which is damage. */
TEST_WITH(a_failed_statement_undoes_the_group, set_up, tear_down)
{
    write_bandit(bench.kept, "a", "{}", 1);
    raw_log raw = raw_begin(bench.place.where);
    raw_run(&raw, "INSERT INTO ids VALUES (1, 'x', 77)");
    raw_commit(&raw);
    store_entry step = {.bandit = 1, .event = {.kind = EVENT_STEP}};
    store_entry made = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words("x")}};
    step.next = &made;
    store_group group = {.first = &step, .now = 2};
    for (int again = 0; again < 2; again++) {
        assert_fails(store_write(bench.kept, &group, &last_error), EE_FILE_ERROR, last_error,
                     "store: could not add the ids of decisions");
        assert_int_equal(step.verdict, ENTRY_FAILED);
        assert_string_equal(events_of(1), "1:6@1  ");
    }
    append(1, EVENT_STEP, 2);
    assert_string_equal(events_of(1), "1:6@1  2:4@2  ");
}

/* ---- forgetting ---- */

static bool remove_before(int64_t before, uint64_t keep_from, size_t limit)
{
    bool more;
    ok(store_remove(bench.kept, 1, before, keep_from, limit, &more, &last_error));
    return more;
}

TEST_WITH(old_events_are_removed, set_up, tear_down)
{
    write_bandit(bench.kept, "a", "{\"aggregation\":\"first\"}", 1);
    assert_int_equal(give(1, 2, "w", 1, "r"), REWARD_UNKNOWN); /* never claimed */
    decide(1, 3, "x");
    assert_int_equal(give(1, 4, "x", 1, "r"), REWARD_JOINED); /* 4, and 5 settles */
    append(1, EVENT_STEP, 5);
    decide(1, 6, "z");
    append(1, EVENT_STEP, 7);
    assert_true(remove_before(100, 100, 1));
    assert_true(remove_before(100, 100, 1));
    assert_string_equal(events_of(1), "3:1@3 x 4:2@4 x 5:3@4  6:4@5  7:1@6 z 8:4@7  ");
    assert_int_equal(store_bandit_state(bench.kept, 1)->unclaimed, 0);
    assert_false(remove_before(4, 100, 10)); /* by time */
    assert_string_equal(events_of(1), "4:2@4 x 5:3@4  6:4@5  7:1@6 z 8:4@7  ");
    assert_false(remove_before(100, 6, 10)); /* by number */
    assert_string_equal(events_of(1), "6:4@5  7:1@6 z 8:4@7  ");
    assert_false(remove_before(100, 100, 10)); /* a decision that waits stays */
    assert_string_equal(events_of(1), "7:1@6 z 8:4@7  ");
    /* Their ids and reward ids are free again; those of the decision that waits are not. */
    assert_int_equal(decide(1, 8, "z"), ENTRY_REPEATED);
    assert_int_equal(decide(1, 8, "x"), ENTRY_DONE);
    assert_int_equal(give(1, 8, "x", 1, "r"), REWARD_JOINED);
    assert_int_equal(give(1, 8, "w", 1, "r"), REWARD_UNKNOWN);
    assert_int_equal(give(1, 9, "z", 1, "r"), REWARD_JOINED);
    assert_false(remove_before(100, 100, 100)); /* the last one stays: the next has to follow it */
    assert_string_equal(events_of(1), "14:3@9  ");
    close_store();
    open_store();
    assert_string_equal(bandits_of(), "1 a 14-14@9 settled 0 {\"aggregation\":\"first\"}; ");
    uint64_t number;
    ok(store_find_time(bench.reader, 1, 0, &number, &last_error));
    assert_int_equal(number, 14);
    bool more;
    assert_int_equal(store_remove(bench.kept, 2, 100, 100, 10, &more, &last_error), EE_BAD_INPUT);
}

/* What was freed is used again: the file does not grow while as much is removed as is added. */
TEST_WITH(removed_room_is_used_again, set_up, tear_down)
{
    enum { EACH = 100, SIZE = 2000 };
    uint64_t bytes = 0;
    int64_t now = 1;
    only_in_a_folder(); /* PostgreSQL uses it again when autovacuum has run */
    write_bandit(bench.kept, "a", "{}", now);
    for (int round = 0; round < 12; round++) {
        now += EACH;
        ok(write_steps(EACH, SIZE, NULL, now));
        remove_before(now - 200, UINT64_MAX, 1000);
        close_store();
        open_store();
        if (round == 5) bytes = store_bytes(bench.kept);
    }
    assert_true(bytes > 200 * SIZE);
    assert_true(store_bytes(bench.kept) <= bytes + 100000);
}
