/* The journal and clocks that are wrong: at the start, while it runs, and once they are corrected. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "serve/journal_settings.h"
#include "serve/log/log_export.h"
#include "serve/test_place.h"

static const int64_t SECOND = 1000000, MINUTE = 60000000, HOUR = 3600000000, DAY = 86400000000;
static const int64_t START = 1700000000000000; /* 14 November 2023 */

/* A store, its journal, and both clocks of the system. */
static struct stage {
    test_place place;
    store *store;
    journal *journal;
    atomic_int_least64_t wall, real;
    uint32_t shop;
    int ids;
    ee_error error;
} stage;

static int64_t read_wall(void *context)
{
    (void)context;
    return atomic_load(&stage.wall);
}

static int64_t read_real(void *context)
{
    (void)context;
    return atomic_load(&stage.real);
}

static ee_status open_as(clock_acceptance as)
{
    journal_options options = {.clock = read_wall, .elapsed = read_real, .most_days_off = 100, .accept_clock = as};
    ok(store_open(stage.place.where, &stage.store, &stage.error));
    ee_status status = journal_start(stage.store, &options, &stage.journal, &stage.error);
    if (status) store_close(stage.store);
    return status;
}

static void close_stage(void)
{
    journal_stop(stage.journal);
    store_close(stage.store);
}

static void open_good(clock_acceptance as)
{
    ok(open_as(as));
}

static void assert_refused(clock_acceptance as, const char *part)
{
    assert_fails(open_as(as), EE_BAD_INPUT, stage.error, part);
}

/* The server is off, and both clocks go on. */
static void be_off(int64_t wall)
{
    close_stage();
    stage.wall += wall;
    stage.real += wall > 0 ? wall : 0;
}

/* With a bandit whose decisions wait ten seconds, and then get 0. */
static int start(void **state)
{
    (void)state;
    static const char json[] = "{\"dim\":2,\"wait\":10,\"default_reward\":0}";
    stage = (struct stage){.place = test_place_make(), .wall = START, .real = 77};
    open_good(CLOCK_REFUSED);
    stage.shop = make_bandit(stage.journal, "shop", json);
    return 0;
}

static int end(void **state)
{
    (void)state;
    close_stage();
    test_place_remove(&stage.place);
    return 0;
}

static void pass(int64_t microseconds)
{
    stage.wall += microseconds;
    stage.real += microseconds;
}

/* Writes a decision: whatever was due is settled with it. Returns how many got the default so far. */
static uint64_t decide(void)
{
    char id[16];
    uint8_t *bytes = NULL;
    size_t size = 0, capacity = 0;
    decision_body body = {.count = 1, .probabilities = (double[]){1}, .dim = 2, .values = (float[]){1, 2}};
    snprintf(id, sizeof id, "d%d", ++stage.ids);
    ok(decision_body_write(&body, NULL, &bytes, &size, &capacity, NULL));
    journal_entry entry = {.bandit = stage.shop,
                           .event = {.kind = EVENT_DECISION, .id = words(id), .body = bytes, .size = size}};
    ok(journal_write(stage.journal, &entry, NULL));
    memory_free(bytes);
    return journal_read_counts(stage.journal).defaulted;
}

static event_outcome reward(const char *id)
{
    journal_entry entry = {.bandit = stage.shop, .event = {.kind = EVENT_REWARD, .id = words(id), .value = 1}};
    ok(journal_write(stage.journal, &entry, NULL));
    return entry.event.outcome;
}

/* The wall time of the last decision. */
static int64_t last_time(void)
{
    store_reader *reader;
    uint64_t number;
    const event *last;
    ok(store_reader_create(stage.store, &reader, NULL));
    ok(store_last(reader, stage.shop, EVENT_DECISION, UINT64_MAX, &number, NULL));
    ok(store_read_one(reader, stage.shop, number, &last, NULL));
    int64_t time = last->time;
    store_reader_free(reader);
    return time;
}

/* The ids of an export of a time, as "d1 d2 ". */
static void assert_exported(int64_t from, int64_t until, const char *expected)
{
    char got[200] = "";
    log_range range = {.from = from, .until = until};
    store_reader *reader;
    log_export *lines;
    text into = text_start(NULL);
    bool over;
    ok(store_reader_create(stage.store, &reader, NULL));
    ok(log_export_create(reader, stage.shop, &range, &lines, &stage.error));
    ok(log_export_fill(lines, &into, 1 << 20, &over, &stage.error));
    for (const char *at = into.length ? into.bytes : ""; (at = strstr(at, "\"EventId\":\"")); at++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s ", (int)strcspn(at + 11, "\""), at + 11);
    assert_string_equal(got, expected);
    log_export_free(lines);
    memory_free(into.bytes);
}

/* ---- while it runs ---- */

TEST(a_jump_settles_nothing)
{
    const int64_t jumps[] = {400 * DAY, HOUR, -HOUR, -400 * DAY};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        start(NULL);
        decide();
        decide();
        stage.wall += jumps[i];
        decide(); /* d3: as if nothing had happened, and at the right time */
        assert_int_equal(last_time(), START);
        assert_true(journal_clock(stage.journal).in_doubt);
        pass(5 * SECOND);
        assert_int_equal(reward("d2"), REWARD_JOINED);
        pass(20 * SECOND);
        assert_int_equal(decide(), 0); /* d1 and d3 have waited long enough, but are not settled */
        assert_int_equal(journal_read_counts(stage.journal).waiting, 3);
        stage.wall -= jumps[i]; /* the clock comes back */
        assert_int_equal(decide(), 2);
        assert_int_equal(last_time(), START + 25 * SECOND);
        end(NULL);
    }
}

/* What was due when the clock jumped waits as well. */
TEST_WITH(a_jump_settles_nothing_that_is_due, start, end)
{
    decide();
    stage.wall += 400 * DAY;
    stage.real += 20 * SECOND;
    assert_int_equal(decide(), 0);
    stage.wall = START + 20 * SECOND;
    assert_int_equal(decide(), 1);
}

TEST_WITH(a_step_of_the_clock_is_no_jump, start, end)
{
    decide();
    stage.wall += 2 * SECOND; /* by NTP */
    pass(8 * SECOND);
    assert_int_equal(decide(), 0); /* the wait is correct within 10% */
    pass(4 * SECOND);
    assert_int_equal(decide(), 1);
    pass(3 * DAY); /* the machine was suspended: this time has passed */
    assert_int_equal(decide(), 3);
    assert_false(journal_clock(stage.journal).in_doubt);
}

/* Accepted as corrected, by an operator or because it is steady: waits go on as they were, and times are the clock's.
 */
TEST(a_corrected_clock_keeps_waits)
{
    const int64_t jumps[] = {400 * DAY, -400 * DAY};
    for (size_t i = 0; i < 4; i++) {
        start(NULL);
        stage.wall += jumps[i % 2];
        decide();
        if (i < 2) {
            pass(5 * SECOND);
            assert_true(journal_accept_clock(stage.journal, CLOCK_CORRECTED));
            assert_false(journal_accept_clock(stage.journal, CLOCK_CORRECTED)); /* no longer in doubt */
            assert_int_equal(decide(), 0);
            pass(6 * SECOND);
        } else {
            pass(CLOCK_STEADY);
        }
        assert_int_equal(decide(), 1);
        assert_int_equal(last_time(), START + jumps[i % 2] + (i < 2 ? 11 * SECOND : CLOCK_STEADY));
        end(NULL);
    }
}

TEST_WITH(an_elapsed_time_ends_waits, start, end)
{
    decide();
    stage.wall += 30 * DAY;
    decide();
    assert_true(journal_accept_clock(stage.journal, CLOCK_ELAPSED));
    assert_int_equal(decide(), 2);
    assert_int_equal(last_time(), START + 30 * DAY);
    stage.wall -= HOUR;
    decide();
    assert_false(journal_accept_clock(stage.journal, CLOCK_ELAPSED));
    assert_true(journal_clock(stage.journal).in_doubt);
}

/* The clock was wrong for a while: those events keep their times, all others have the right one. */
TEST_WITH(times_recover, start, end)
{
    decide(); /* d1 */
    pass(MINUTE);
    stage.wall += 400 * DAY;
    decide(); /* d2, before anybody accepts the clock */
    assert_true(journal_accept_clock(stage.journal, CLOCK_CORRECTED));
    pass(MINUTE);
    decide(); /* d3, in a wrong year */
    assert_int_equal(last_time(), START + 400 * DAY + 2 * MINUTE);
    pass(MINUTE);
    stage.wall -= 400 * DAY;
    decide(); /* d4, still in it: the clock is in doubt again */
    assert_true(journal_accept_clock(stage.journal, CLOCK_CORRECTED));
    pass(MINUTE);
    decide(); /* d5 */
    assert_int_equal(last_time(), START + 4 * MINUTE);
    pass(MINUTE);
    decide(); /* d6: all before it are settled */
    assert_exported(INT64_MIN, INT64_MAX, "d1 d2 d3 d4 d5 ");
    assert_exported(START, START + DAY, "d1 d2 d5 ");
    assert_exported(START + MINUTE, START + 4 * MINUTE, "d2 ");
    assert_exported(START + DAY, INT64_MAX, "d3 d4 ");
    assert_exported(START + 4 * MINUTE, START + 5 * MINUTE, "d5 ");
    be_off(3 * DAY);
    open_good(CLOCK_REFUSED); /* the last event is from three days ago */
    decide();
    assert_int_equal(last_time(), START + 3 * DAY + 5 * MINUTE);
    assert_int_equal(journal_read_counts(stage.journal).waiting, 1);
}

/* ---- at the start ---- */

TEST_WITH(a_clock_that_is_far_ahead_is_refused, start, end)
{
    for (int i = 0; i < 150; i++) decide();
    be_off(400 * DAY);
    assert_refused(CLOCK_REFUSED,
                   "clock: it is 2024-12-18T22:13Z, 400 days after the last event (2023-11-14T22:13Z). Set it if it is "
                   "wrong; else start with --accept-clock elapsed (settles 150 decisions, removes 0 events) or "
                   "--accept-clock corrected (it was wrong before; keeps them)");
    assert_refused(CLOCK_REFUSED, "400 days"); /* the first time changed nothing */
    stage.wall = START + 5 * SECOND;           /* the clock is set, and no wait is over */
    open_good(CLOCK_REFUSED);
    assert_int_equal(journal_read_counts(stage.journal).waiting, 150);
}

TEST_WITH(time_off_is_no_reason, start, end)
{
    decide();
    be_off(92 * DAY); /* three months with a pending decision: its wait is over */
    open_good(CLOCK_REFUSED);
    assert_int_equal(decide(), 1);
    pass(MINUTE);
    AWAIT(journal_read_counts(stage.journal).defaulted == 2); /* the journal does it without an entry, too */
    be_off(4000 * DAY);                                       /* years without one: nothing depends on it */
    open_good(CLOCK_REFUSED);
    decide();
    assert_int_equal(last_time(), START + 4092 * DAY + MINUTE);
}

TEST_WITH(a_clock_that_is_behind_is_refused, start, end)
{
    decide();
    be_off(-2 * MINUTE); /* NTP did that */
    open_good(CLOCK_REFUSED);
    be_off(-3 * HOUR);
    assert_refused(CLOCK_REFUSED, "3 hours before the last event (2023-11-14T22:13Z)");
    assert_refused(CLOCK_ELAPSED, "3 hours before the last event"); /* that cannot be */
    open_good(CLOCK_CORRECTED);
    assert_int_equal(decide(), 0); /* no wait is over */
    assert_int_equal(last_time(), START - 2 * MINUTE - 3 * HOUR);
    pass(11 * SECOND);
    assert_int_equal(decide(), 2);
    be_off(SECOND); /* accepted once: it need not be again */
    open_good(CLOCK_REFUSED);
}

TEST(a_refused_clock_can_be_accepted)
{
    const clock_acceptance ways[] = {CLOCK_ELAPSED, CLOCK_CORRECTED};
    for (size_t i = 0; i < 2; i++) {
        start(NULL);
        decide();
        be_off(400 * DAY);
        open_good(ways[i]);
        be_off(0); /* also if nothing happened meanwhile */
        open_good(CLOCK_REFUSED);
        assert_int_equal(decide(), 0); /* elapsed: it was settled by the journal before this one */
        assert_int_equal(journal_read_counts(stage.journal).waiting, ways[i] == CLOCK_ELAPSED ? 1 : 2);
        assert_int_equal(last_time(), START + 400 * DAY);
        end(NULL);
    }
}

/* Restarting is no way around the doubt. */
TEST_WITH(a_doubt_outlives_a_restart, start, end)
{
    decide();
    stage.wall += 50 * DAY; /* less than most_days_off */
    decide();
    be_off(MINUTE);
    open_good(CLOCK_REFUSED);
    assert_int_equal(decide(), 0);
    assert_true(journal_clock(stage.journal).in_doubt);
    be_off(MINUTE);
    open_good(CLOCK_ELAPSED);
    assert_int_equal(decide(), 3);
}
