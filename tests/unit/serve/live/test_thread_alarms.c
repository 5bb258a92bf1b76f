#define _POSIX_C_SOURCE 200809L
/* Live evaluation of a bandit with guardrails, in its thread: nobody asks for a report, and yet an alarm holds the
 * bandit back, once. */
#include "serve/served_play.h"

#include <string.h>

#include "serve/live/alarm_consequence.h"

enum { DECISIONS = 1500, TOGETHER = 100, PEOPLE_PER_GROUP = 250 };

static const char guarded[] =
    "{\"policy\":\"uniform\",\"dim\":2,\"guardrails\":{\"control\":{\"share\":0.5},\"bounds\":[{\"metric\":\"reward\","
    "\"most_below\":0.1,\"then\":\"fallback\"}]}}";

/* A decision and its reward: treated people earn less. */
typedef struct told {
    char id[16], key[16];
    uint8_t *body;
    size_t size;
} told;

static void make_decision(told *one, int number, journal_entry *into)
{
    static const double probabilities[] = {0.5, 0.5};
    static const float values[] = {1, 0, 0, 1};
    size_t capacity = 0;
    bool treated = number % 2;
    snprintf(one->id, sizeof one->id, "d%d", number);
    snprintf(one->key, sizeof one->key, "u%d", number % (2 * PEOPLE_PER_GROUP));
    decision_body body = {.count = 2,
                          .probabilities = probabilities,
                          .dim = 2,
                          .values = values,
                          .guard = {.present = true,
                                    .group = treated ? GROUP_TREATED : GROUP_CONTROL,
                                    .treated_share = 0.5,
                                    .key = words(one->key)}};
    ok(decision_body_write(&body, NULL, &one->body, &one->size, &capacity, NULL));
    into->event = (event){.kind = EVENT_DECISION, .id = words(one->id), .body = one->body, .size = one->size};
}

static void write_decisions(uint32_t bandit)
{
    random_stream random = random_named(3, "alarms");
    for (int from = 0; from < DECISIONS; from += TOGETHER) {
        told made[TOGETHER] = {0};
        journal_entry decisions[TOGETHER] = {0}, rewards[TOGETHER] = {0};
        for (int i = 0; i < TOGETHER; i++) {
            decisions[i].bandit = rewards[i].bandit = bandit;
            make_decision(&made[i], from + i, &decisions[i]);
            double chance = (from + i) % 2 ? 0.2 : 0.6;
            rewards[i].event =
                (event){.kind = EVENT_REWARD, .id = words(made[i].id), .value = random_unit(&random) < chance};
        }
        PLAY_OK(journal_write_together(play.written, decisions, TOGETHER, &play.error));
        PLAY_OK(journal_write_together(play.written, rewards, TOGETHER, &play.error));
        for (int i = 0; i < TOGETHER; i++) memory_free(made[i].body);
    }
}

/* ---- as the server has it, without its worker ---- */

typedef struct watch {
    atomic_int reports, written, failures;
} watch;

static void raise_alarm(void *context, served_bandit *bandit, const live_alarm *alarm, uint64_t followed)
{
    watch *self = context;
    succession change = {play.kept, play.written, play.bandits, bandit};
    bool written = false;
    ee_error error;
    atomic_fetch_add(&self->reports, 1);
    if (alarm_consequence_write(&change, alarm, followed, &written, &error)) atomic_fetch_add(&self->failures, 1);
    atomic_fetch_add(&self->written, written);
}

static void fail_live(void *context, const served_bandit *bandit, const ee_error *error)
{
    (void)bandit;
    (void)error;
    atomic_fetch_add(&((watch *)context)->failures, 1);
}

static live *start_live(watch *self)
{
    live_options options = {.kept = play.kept,
                            .bandits = play.bandits,
                            .save_seconds = 1000,
                            .idle_seconds = 1000,
                            .alarmed = raise_alarm,
                            .trouble = fail_live,
                            .context = self};
    live *made = NULL;
    PLAY_OK(live_start(&options, &made, &play.error));
    return made;
}

static void stop_live(live *self)
{
    live_stop(self, true);
    live_free(self);
}

static size_t count_events(uint32_t bandit, event_kind kind, uint64_t *last)
{
    store_reader *log = NULL;
    size_t count = 0;
    PLAY_OK(store_reader_create(play.kept, &log, &play.error));
    *last = 0;
    for (uint64_t before = UINT64_MAX, number;; count++) {
        PLAY_OK(store_last(log, bandit, kind, before, &number, &play.error));
        if (!number) break;
        if (!*last) *last = number;
        before = number - 1;
    }
    store_reader_free(log);
    return count;
}

static bool report_has(live *self, served_bandit *bandit, const char *words)
{
    text report = text_start(NULL);
    live_describe(self, bandit, &report);
    bool there = report.bytes && strstr(report.bytes, words);
    memory_free(report.bytes);
    return there;
}

static void await_report(live *self, served_bandit *bandit, const char *words)
{
    AWAIT(report_has(self, bandit, words));
}

static void note_numbers(void *context, const served_bandit *bandit, const guard_numbers *now)
{
    (void)bandit;
    *(guard_numbers *)context = *now;
}

TEST(an_alarm_holds_the_bandit_back_once)
{
    play_start();
    watch watching = {0};
    uint64_t alarm, settings;
    play_open();
    served_bandit *bandit = play_create("shop", guarded);
    uint32_t number = served_bandit_number(bandit);
    write_decisions(number);
    live *evaluation = start_live(&watching);
    AWAIT(served_bandit_settings(bandit).held != HELD_NOT);
    await_report(evaluation, bandit, "\"alarms\":[{");
    guard_numbers numbers = {0};
    live_each_guard(evaluation, note_numbers, &numbers);
    assert_int_equal(numbers.alarms, 1);
    assert_int_equal(numbers.held, HELD_FALLBACK);
    assert_true(numbers.values[0].evidence == 1.0 && numbers.values[0].lift < -0.2);
    stop_live(evaluation);
    bandit_settings held = served_bandit_settings(bandit);
    assert_int_equal(held.held, HELD_FALLBACK);
    assert_non_null(strstr(held.held_because, "reward: the mean of treated people"));
    assert_int_equal(count_events(number, EVENT_ALARM, &alarm), 1);
    assert_int_equal(count_events(number, EVENT_SETTINGS, &settings), 2);
    assert_int_equal(settings, alarm + 1);

    evaluation = start_live(&watching); /* nothing was saved */
    await_report(evaluation, bandit, "\"violated\":true");
    stop_live(evaluation);
    assert_int_equal(count_events(number, EVENT_ALARM, &alarm), 1);
    assert_int_equal(atomic_load(&watching.written), 1);
    assert_int_equal(atomic_load(&watching.failures), 0);

    play_change(bandit, "{\"held\":\"no\"}", false);
    evaluation = start_live(&watching);
    await_report(evaluation, bandit, "\"violated\":false");
    stop_live(evaluation);
    assert_int_equal(count_events(number, EVENT_ALARM, &alarm), 1);
    assert_int_equal(served_bandit_settings(bandit).held, HELD_NOT);
    play_close(false);
    play_end();
}

TEST(an_alarm_about_something_older_is_not_written)
{
    play_start();
    uint64_t last;
    bool written = true;
    play_open();
    served_bandit *bandit = play_create("shop", guarded);
    uint32_t number = served_bandit_number(bandit);
    succession change = {play.kept, play.written, play.bandits, bandit};
    live_alarm alarm = {.metric = "reward", .decision = 3, .test = 1, .sentence = "it was worse", .then = GUARD_FREEZE};
    count_events(number, EVENT_SETTINGS, &last);
    PLAY_OK(alarm_consequence_write(&change, &alarm, last - 1, &written, &play.error));
    assert_false(written);
    PLAY_OK(alarm_consequence_write(&change, &alarm, last, &written, &play.error));
    assert_true(written);
    assert_int_equal(served_bandit_settings(bandit).held, HELD_FROZEN);
    assert_string_equal(served_bandit_settings(bandit).held_because, "it was worse");

    PLAY_OK(alarm_consequence_write(&change, &alarm, last, &written, &play.error)); /* again */
    assert_false(written);
    count_events(number, EVENT_SETTINGS, &last);
    alarm.then = GUARD_ALERT; /* leaves it as it is held */
    PLAY_OK(alarm_consequence_write(&change, &alarm, last, &written, &play.error));
    assert_true(written);
    assert_int_equal(served_bandit_settings(bandit).held, HELD_FROZEN);
    assert_int_equal(count_events(number, EVENT_ALARM, &last), 2);
    play_close(false);
    play_end();
}
