/* Drift watches on decisions that the test makes: what raises an alarm and what does not, blocks of days, and that the
 * state and the log's alarms alone lead to the same. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "serve/live/live_drift.h"

enum { EACH_DAY = 120, QUIET = 60, WATCHED = 200 };

/* What a day is like. */
typedef struct weather {
    double reward;       /* its probability */
    double swiss;        /* the share of a segment */
    const char *feature; /* a name in the context */
    double age;          /* added to a number in the context */
    size_t actions;      /* on offer */
    double delay;        /* mean of rewards, in hours */
} weather;

static const weather usual = {0.5, 0.5, "city", 0, 3, 1};

static void live_one(live_drift *self, const weather *today, double time, uint64_t number, random_stream *random)
{
    const json_text names[] = {words("red"), words("green"), words("blue"), words("grey")};
    char context[160];
    snprintf(context, sizeof context, "{\"user\":{\"%s\":\"x\",\"age\":%.3f},\"_multi\":[{\"n\":1}]}", today->feature,
             30 + today->age + random_unit(random));
    log_event decided = {.time = time,
                         .count = today->actions,
                         .actions = names,
                         .context = words(context),
                         .guard = {.segment = words(random_unit(random) < today->swiss ? "CH" : "DE")}};
    double delay = -3600 * today->delay * log(1 - random_unit(random)), reward = random_unit(random) < today->reward;
    live_drift_take(self, &decided, &(drift_facts){number, reward, delay, true, false});
}

/* Days of a kind, up to the first alarm. Returns the number of the last decision. */
static uint64_t live_days(live_drift *self, int from, int count, const weather *like)
{
    uint64_t number = 0;
    for (int day = from; day < from + count; day++) {
        random_stream random = random_named((uint64_t)day, "day");
        for (int i = 0; i < EACH_DAY; i++) {
            number = 10 + (uint64_t)(day * EACH_DAY + i);
            live_one(self, like, day * 86400.0 + i * (86400.0 / EACH_DAY), number, &random);
            if (live_drift_alarm(self)) return number;
        }
    }
    return number;
}

static void assert_alarm_after(const weather *changed, const char *metric)
{
    live_drift self = {0};
    live_drift_start(&self, 0.05, 1);
    live_days(&self, 0, QUIET, &usual);
    assert_null(live_drift_alarm(&self));
    uint64_t number = live_days(&self, QUIET, WATCHED, changed);
    const live_alarm *alarm = live_drift_alarm(&self);
    assert_non_null(alarm);
    assert_string_equal(alarm->metric, metric);
    assert_int_equal(alarm->decision, number);
    assert_int_equal(alarm->then, GUARD_ALERT);
    assert_true(strncmp(alarm->sentence, "drift: ", 7) == 0);
    live_drift_release(&self);
}

TEST(nothing_changes_and_nothing_is_raised)
{
    live_drift self = {0};
    live_drift_start(&self, 0.05, 1);
    live_days(&self, 0, 400, &usual);
    assert_null(live_drift_alarm(&self));
    assert_int_equal(self.count, DRIFT_NUMBER + 1);
    assert_string_equal(self.watches[DRIFT_NUMBER].name, "feature user.age");
    live_drift_release(&self);
}

TEST(each_change_raises_its_alarm)
{
    static const struct {
        weather changed;
        const char *metric;
    } cases[] = {{{0.2, 0.5, "city", 0, 3, 1}, "reward"},   {{0.5, 0.5, "city", 0, 3, 3}, "delay"},
                 {{0.5, 0.9, "city", 0, 3, 1}, "segment"},  {{0.5, 0.5, "city", 0, 4, 1}, "actions"},
                 {{0.5, 0.5, "town", 0, 3, 1}, "features"}, {{0.5, 0.5, "city", 100, 3, 1}, "feature user.age"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_alarm_after(&cases[i].changed, cases[i].metric);
}

/* Days and nights differ, and are no change: blocks are days. */
TEST(a_cycle_of_a_day_is_no_change)
{
    live_drift self = {0};
    live_drift_start(&self, 0.05, 1);
    for (int day = 0; day < 300; day++) {
        random_stream random = random_named((uint64_t)day, "day");
        for (int i = 0; i < EACH_DAY; i++) {
            weather now = usual;
            now.reward = i < EACH_DAY / 2 ? 0.1 : 0.9;
            live_one(&self, &now, day * 86400.0 + i * (86400.0 / EACH_DAY), 10 + (uint64_t)(day * EACH_DAY + i),
                     &random);
        }
    }
    assert_null(live_drift_alarm(&self));
    live_drift_release(&self);
}

/* A treated person's reward is the bandit's work. */
TEST(the_bandit_may_learn)
{
    live_drift self = {0};
    live_drift_start(&self, 0.05, 1);
    uint64_t number = 10;
    for (int i = 0; i < 200 * EACH_DAY; i++) {
        log_event decided = {.time = i * (86400.0 / EACH_DAY), .guard = {.group = LOG_GROUP_TREATED}};
        live_drift_take(&self, &decided, &(drift_facts){number++, i > 100 * EACH_DAY, NAN, false, false});
    }
    assert_null(live_drift_alarm(&self));
    live_drift_release(&self);
}

/* People who wait become treated; those of the control group stay what they were. */
TEST(a_rollout_is_no_change)
{
    live_drift self = {0};
    live_drift_start(&self, 0.05, 1);
    uint64_t number = 10;
    for (int i = 0; i < 300 * EACH_DAY; i++) {
        bool treated = i > 100 * EACH_DAY && i % 4 < 3;
        log_group group = i % 4 == 3 ? LOG_GROUP_CONTROL : treated ? LOG_GROUP_TREATED : LOG_GROUP_WAITING;
        log_event decided = {.time = i * (86400.0 / EACH_DAY), .guard = {.group = group}};
        double reward = group == LOG_GROUP_WAITING ? 0.0 : treated ? 3.0 : 1.0 + (i * 7 % 1001) * 0.01;
        live_drift_take(&self, &decided, &(drift_facts){number++, reward, NAN, false, true});
    }
    assert_null(live_drift_alarm(&self));
    assert_true(self.watches[DRIFT_REWARD].mean.ranks.count > 200); /* a quarter of the decisions in each block */
    live_drift_release(&self);
}

/* A twentieth of the decisions is no change of what they are: blocks become longer. */
TEST(traffic_may_fall)
{
    enum { BUSY = 2000, LIFE = 400 };
    live_drift self = {0};
    live_drift_start(&self, 0.05, 1);
    uint64_t number = 10;
    for (int day = 0; day < LIFE; day++) {
        random_stream random = random_named((uint64_t)day, "traffic");
        int count = day < 60 ? BUSY : BUSY / 20;
        for (int i = 0; i < count; i++) live_one(&self, &usual, (day + (double)i / count) * 86400, number++, &random);
        assert_null(live_drift_alarm(&self));
    }
    assert_in_range(self.watches[DRIFT_REWARD].mean.ranks.count, 80, 100); /* ten days are half of a busy one */
    live_drift_release(&self);
}

/* An alarm that is in the log before the decision that raised it: as when the log is read again from its start. */
TEST(the_log_alone_leads_to_the_same)
{
    const weather worse = {0.1, 0.5, "city", 0, 3, 1};
    live_drift first = {0}, again = {0};
    live_drift_start(&first, 0.05, 1);
    live_days(&first, 0, QUIET, &usual);
    live_days(&first, QUIET, WATCHED, &worse);
    assert_non_null(live_drift_alarm(&first));
    const live_alarm alarm = *live_drift_alarm(&first);
    int day = (int)((alarm.decision - 10) / EACH_DAY);
    live_drift_logged(&first, &alarm);
    assert_null(live_drift_alarm(&first));
    live_days(&first, day + 1, 30, &worse);

    live_drift_start(&again, 0.05, 1);
    live_drift_logged(&again, &alarm);
    live_days(&again, 0, QUIET, &usual);
    live_days(&again, QUIET, day - QUIET, &worse);
    assert_null(live_drift_alarm(&again));
    random_stream random = random_named((uint64_t)day, "day");
    live_one(&again, &worse, day * 86400.0, alarm.decision, &random); /* the decision that ended the block */
    live_days(&again, day + 1, 30, &worse);

    archive left = archive_writer(NULL), right = archive_writer(NULL);
    live_drift_archive(&left, &first);
    live_drift_archive(&right, &again);
    assert_int_equal(again.watches[DRIFT_REWARD].runs, 1);
    ok(left.status);
    ok(right.status);
    assert_int_equal(left.size, right.size);
    assert_memory_equal(left.bytes, right.bytes, left.size);
    memory_free(left.bytes);
    memory_free(right.bytes);
    live_drift_release(&first);
    live_drift_release(&again);
}

TEST(a_state_goes_on)
{
    live_drift first = {0}, second = {0};
    live_drift_start(&first, 0.05, 1);
    live_days(&first, 0, 30, &usual);
    archive saved = archive_writer(NULL);
    live_drift_archive(&saved, &first);
    ok(saved.status);
    archive loaded = archive_reader(saved.bytes, saved.size, NULL);
    live_drift_archive(&loaded, &second);
    ok(loaded.status);
    assert_int_equal(archive_remaining(&loaded), 0);
    const weather worse = {0.1, 0.5, "city", 0, 3, 1};
    live_days(&first, 30, WATCHED, &worse);
    live_days(&second, 30, WATCHED, &worse);
    assert_non_null(live_drift_alarm(&first));
    assert_int_equal(live_drift_alarm(&first)->decision, live_drift_alarm(&second)->decision);
    memory_free(saved.bytes);
    live_drift_release(&first);
    live_drift_release(&second);
}
