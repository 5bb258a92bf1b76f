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
typedef struct stage {
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
    return atomic_load(&((stage *)context)->wall);
}

static int64_t read_real(void *context)
{
    return atomic_load(&((stage *)context)->real);
}

static ee_status open_as(stage *self, clock_acceptance as)
{
    journal_options options = {
        .clock = read_wall, .elapsed = read_real, .clock_context = self, .most_days_off = 100, .accept_clock = as};
    ok(store_open(self->place.where, &self->store, &self->error));
    ee_status status = journal_start(self->store, &options, &self->journal, &self->error);
    if (status) store_close(self->store);
    return status;
}

static void close_stage(stage *self)
{
    journal_stop(self->journal);
    store_close(self->store);
}

static void open_good(stage *self, clock_acceptance as)
{
    if (open_as(self, as)) fail_msg("%s", self->error.message);
}

static void assert_refused(stage *self, clock_acceptance as, const char *words)
{
    assert_int_equal(open_as(self, as), EE_BAD_INPUT);
    if (!strstr(self->error.message, words)) fail_msg("%s", self->error.message);
}

/* The server is off, and both clocks go on. */
static void be_off(stage *self, int64_t wall)
{
    close_stage(self);
    self->wall += wall;
    self->real += wall > 0 ? wall : 0;
}

/* With a bandit whose decisions wait ten seconds, and then get 0. */
static void start(stage *self)
{
    static const char json[] = "{\"dim\":2,\"wait\":10,\"default_reward\":0}";
    *self = (stage){.place = test_place_make(), .wall = START, .real = 77};
    open_good(self, CLOCK_REFUSED);
    self->shop = make_bandit(self->journal, "shop", json);
}

static void end(stage *self)
{
    close_stage(self);
    test_place_remove(&self->place);
}

static void pass(stage *self, int64_t microseconds)
{
    self->wall += microseconds;
    self->real += microseconds;
}

/* Writes a decision: whatever was due is settled with it. */
static void decide(stage *self)
{
    static const double certain = 1;
    static const float values[2] = {1, 2};
    char id[16];
    uint8_t *bytes = NULL;
    size_t size = 0, capacity = 0;
    decision_body body = {.count = 1, .probabilities = &certain, .dim = 2, .values = values};
    snprintf(id, sizeof id, "d%d", ++self->ids);
    ok(decision_body_write(&body, NULL, &bytes, &size, &capacity, NULL));
    journal_entry entry = {.bandit = self->shop,
                           .event = {.kind = EVENT_DECISION, .id = words(id), .body = bytes, .size = size}};
    if (journal_write(self->journal, &entry, &self->error)) fail_msg("%s", self->error.message);
    memory_free(bytes);
}

static event_outcome reward(stage *self, const char *id)
{
    journal_entry entry = {.bandit = self->shop, .event = {.kind = EVENT_REWARD, .id = words(id), .value = 1}};
    if (journal_write(self->journal, &entry, &self->error)) fail_msg("%s", self->error.message);
    return entry.event.outcome;
}

static uint64_t defaulted(stage *self)
{
    return journal_read_counts(self->journal).defaulted;
}

/* The wall time of the last decision. */
static int64_t last_time(stage *self)
{
    store_reader *reader;
    uint64_t number;
    const event *last;
    ok(store_reader_create(self->store, &reader, NULL));
    ok(store_last(reader, self->shop, EVENT_DECISION, UINT64_MAX, &number, NULL));
    ok(store_read_one(reader, self->shop, number, &last, NULL));
    int64_t time = last->time;
    store_reader_free(reader);
    return time;
}

/* The ids of an export of a time, as "d1 d2 ". */
static void assert_exported(stage *self, int64_t from, int64_t until, const char *expected)
{
    char got[200] = "";
    log_range range = {.from = from, .until = until};
    store_reader *reader;
    log_export *lines;
    text into = text_start(NULL);
    bool over;
    ok(store_reader_create(self->store, &reader, NULL));
    ok(log_export_create(reader, self->shop, &range, &lines, &self->error));
    ok(log_export_fill(lines, &into, 1 << 20, &over, &self->error));
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
        stage on;
        start(&on);
        decide(&on);
        decide(&on);
        on.wall += jumps[i];
        decide(&on); /* d3: as if nothing had happened, and at the right time */
        assert_int_equal(last_time(&on), START);
        assert_true(journal_clock(on.journal).in_doubt);
        pass(&on, 5 * SECOND);
        assert_int_equal(reward(&on, "d2"), REWARD_JOINED);
        pass(&on, 20 * SECOND);
        decide(&on); /* d1 and d3 have waited long enough, but are not settled */
        assert_int_equal(defaulted(&on), 0);
        assert_int_equal(journal_read_counts(on.journal).waiting, 3);
        on.wall -= jumps[i]; /* the clock comes back */
        decide(&on);
        assert_int_equal(defaulted(&on), 2);
        assert_int_equal(last_time(&on), START + 25 * SECOND);
        end(&on);
    }
}

/* What was due when the clock jumped waits as well. */
TEST(a_jump_settles_nothing_that_is_due)
{
    stage on;
    start(&on);
    decide(&on);
    on.wall += 400 * DAY;
    on.real += 20 * SECOND;
    decide(&on);
    assert_int_equal(defaulted(&on), 0);
    on.wall = START + 20 * SECOND;
    decide(&on);
    assert_int_equal(defaulted(&on), 1);
    end(&on);
}

TEST(a_step_of_the_clock_is_no_jump)
{
    stage on;
    start(&on);
    decide(&on);
    on.wall += 2 * SECOND; /* by NTP */
    pass(&on, 8 * SECOND);
    decide(&on);
    assert_int_equal(defaulted(&on), 0); /* the wait is correct within 10% */
    pass(&on, 4 * SECOND);
    decide(&on);
    assert_int_equal(defaulted(&on), 1);
    pass(&on, 3 * DAY); /* the machine was suspended: this time has passed */
    decide(&on);
    assert_int_equal(defaulted(&on), 3);
    assert_false(journal_clock(on.journal).in_doubt);
    end(&on);
}

/* Accepted as corrected, by an operator or because it is steady: waits go on as they were, and times are the clock's.
 */
TEST(a_corrected_clock_keeps_waits)
{
    const int64_t jumps[] = {400 * DAY, -400 * DAY};
    for (size_t i = 0; i < 4; i++) {
        stage on;
        start(&on);
        on.wall += jumps[i % 2];
        decide(&on);
        if (i < 2) {
            pass(&on, 5 * SECOND);
            assert_true(journal_accept_clock(on.journal, CLOCK_CORRECTED));
            assert_false(journal_accept_clock(on.journal, CLOCK_CORRECTED)); /* no longer in doubt */
            decide(&on);
            assert_int_equal(defaulted(&on), 0);
            pass(&on, 6 * SECOND);
        } else {
            pass(&on, CLOCK_STEADY);
        }
        decide(&on);
        assert_int_equal(defaulted(&on), 1);
        assert_int_equal(last_time(&on), START + jumps[i % 2] + (i < 2 ? 11 * SECOND : CLOCK_STEADY));
        end(&on);
    }
}

TEST(an_elapsed_time_ends_waits)
{
    stage on;
    start(&on);
    decide(&on);
    on.wall += 30 * DAY;
    decide(&on);
    assert_true(journal_accept_clock(on.journal, CLOCK_ELAPSED));
    decide(&on);
    assert_int_equal(defaulted(&on), 2);
    assert_int_equal(last_time(&on), START + 30 * DAY);
    on.wall -= HOUR;
    decide(&on);
    assert_false(journal_accept_clock(on.journal, CLOCK_ELAPSED));
    assert_true(journal_clock(on.journal).in_doubt);
    end(&on);
}

/* The clock was wrong for a while: those events keep their times, all others have the right one. */
TEST(times_recover)
{
    stage on;
    start(&on);
    decide(&on); /* d1 */
    pass(&on, MINUTE);
    on.wall += 400 * DAY;
    decide(&on); /* d2, before anybody accepts the clock */
    assert_true(journal_accept_clock(on.journal, CLOCK_CORRECTED));
    pass(&on, MINUTE);
    decide(&on); /* d3, in a wrong year */
    assert_int_equal(last_time(&on), START + 400 * DAY + 2 * MINUTE);
    pass(&on, MINUTE);
    on.wall -= 400 * DAY;
    decide(&on); /* d4, still in it: the clock is in doubt again */
    assert_true(journal_accept_clock(on.journal, CLOCK_CORRECTED));
    pass(&on, MINUTE);
    decide(&on); /* d5 */
    assert_int_equal(last_time(&on), START + 4 * MINUTE);
    pass(&on, MINUTE);
    decide(&on); /* d6: all before it are settled */
    assert_exported(&on, INT64_MIN, INT64_MAX, "d1 d2 d3 d4 d5 ");
    assert_exported(&on, START, START + DAY, "d1 d2 d5 ");
    assert_exported(&on, START + MINUTE, START + 4 * MINUTE, "d2 ");
    assert_exported(&on, START + DAY, INT64_MAX, "d3 d4 ");
    assert_exported(&on, START + 4 * MINUTE, START + 5 * MINUTE, "d5 ");
    be_off(&on, 3 * DAY);
    open_good(&on, CLOCK_REFUSED); /* the last event is from three days ago */
    decide(&on);
    assert_int_equal(last_time(&on), START + 3 * DAY + 5 * MINUTE);
    assert_int_equal(journal_read_counts(on.journal).waiting, 1);
    end(&on);
}

/* ---- at the start ---- */

TEST(a_clock_that_is_far_ahead_is_refused)
{
    stage on;
    start(&on);
    for (int i = 0; i < 150; i++) decide(&on);
    be_off(&on, 400 * DAY);
    assert_refused(&on, CLOCK_REFUSED,
                   "clock: it is 2024-12-18T22:13Z, 400 days after the last event (2023-11-14T22:13Z). Set it if it is "
                   "wrong; else start with --accept-clock elapsed (settles 150 decisions, removes 0 events) or "
                   "--accept-clock corrected (it was wrong before; keeps them)");
    assert_refused(&on, CLOCK_REFUSED, "400 days"); /* the first time changed nothing */
    on.wall = START + 5 * SECOND;                   /* the clock is set, and no wait is over */
    open_good(&on, CLOCK_REFUSED);
    assert_int_equal(journal_read_counts(on.journal).waiting, 150);
    end(&on);
}

TEST(time_off_is_no_reason)
{
    stage on;
    start(&on);
    decide(&on);
    be_off(&on, 92 * DAY); /* three months with a pending decision: its wait is over */
    open_good(&on, CLOCK_REFUSED);
    decide(&on);
    assert_int_equal(defaulted(&on), 1);
    pass(&on, MINUTE);
    AWAIT(defaulted(&on) == 2); /* the journal does it without an entry, too */
    be_off(&on, 4000 * DAY);    /* years without one: nothing depends on it */
    open_good(&on, CLOCK_REFUSED);
    decide(&on);
    assert_int_equal(last_time(&on), START + 4092 * DAY + MINUTE);
    end(&on);
}

TEST(a_clock_that_is_behind_is_refused)
{
    stage on;
    start(&on);
    decide(&on);
    be_off(&on, -2 * MINUTE); /* NTP did that */
    open_good(&on, CLOCK_REFUSED);
    be_off(&on, -3 * HOUR);
    assert_refused(&on, CLOCK_REFUSED, "3 hours before the last event (2023-11-14T22:13Z)");
    assert_refused(&on, CLOCK_ELAPSED, "3 hours before the last event"); /* that cannot be */
    open_good(&on, CLOCK_CORRECTED);
    decide(&on);
    assert_int_equal(defaulted(&on), 0); /* no wait is over */
    assert_int_equal(last_time(&on), START - 2 * MINUTE - 3 * HOUR);
    pass(&on, 11 * SECOND);
    decide(&on);
    assert_int_equal(defaulted(&on), 2);
    be_off(&on, SECOND); /* accepted once: it need not be again */
    open_good(&on, CLOCK_REFUSED);
    end(&on);
}

TEST(a_refused_clock_can_be_accepted)
{
    const clock_acceptance ways[] = {CLOCK_ELAPSED, CLOCK_CORRECTED};
    for (size_t i = 0; i < 2; i++) {
        stage on;
        start(&on);
        decide(&on);
        be_off(&on, 400 * DAY);
        open_good(&on, ways[i]);
        be_off(&on, 0); /* also if nothing happened meanwhile */
        open_good(&on, CLOCK_REFUSED);
        decide(&on);
        assert_int_equal(defaulted(&on), 0); /* elapsed: it was settled by the journal before this one */
        assert_int_equal(journal_read_counts(on.journal).waiting, ways[i] == CLOCK_ELAPSED ? 1 : 2);
        assert_int_equal(last_time(&on), START + 400 * DAY);
        end(&on);
    }
}

/* Restarting is no way around the doubt. */
TEST(a_doubt_outlives_a_restart)
{
    stage on;
    start(&on);
    decide(&on);
    on.wall += 50 * DAY; /* less than most_days_off */
    decide(&on);
    be_off(&on, MINUTE);
    open_good(&on, CLOCK_REFUSED);
    decide(&on);
    assert_int_equal(defaulted(&on), 0);
    assert_true(journal_clock(on.journal).in_doubt);
    be_off(&on, MINUTE);
    open_good(&on, CLOCK_ELAPSED);
    decide(&on);
    assert_int_equal(defaulted(&on), 3);
    end(&on);
}
