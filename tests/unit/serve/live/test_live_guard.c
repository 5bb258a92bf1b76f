/* Guardrails on a log that the test writes: the lift, bounds and their alarms, when tests start again, and whether a
 * saved state and the log alone give the same. */
#include "serve/live_play.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "serve/live/guard_report.h"
#include "serve/live/live_report.h"

enum { ACTIONS = 2, DIM = 2, MANY = 1500 };

#define HEAD "{\"policy\":\"uniform\",\"dim\":2,\"guardrails\":{\"control\":{\"share\":0.5},\"segment\":\"land\","
#define BOUNDED "\"bounds\":[{\"metric\":\"reward\",\"most_below\":0.1,\"then\":\"fallback\"}]"
static const char guarded[] = HEAD BOUNDED "}}";
static const char staged[] = HEAD "\"rollout\":{\"share\":0.5}," BOUNDED "}}";
static const char held[] = HEAD BOUNDED "},\"held\":\"fallback\",\"held_because\":\"it was worse\"}";
static const char stricter[] =
    HEAD "\"bounds\":[{\"metric\":\"reward\",\"most_below\":0.1,\"then\":\"fallback\"},{\"metric\":\"reward\","
         "\"most_above\":1,\"then\":\"alert\"}]}}";
static const char other_share[] = "{\"policy\":\"uniform\",\"dim\":2,\"guardrails\":{\"control\":{\"share\":0.4},"
                                  "\"segment\":\"land\"," BOUNDED "}}";

/* People are treated, or not, by their number; each comes three times. The higher reward has these probabilities. */
typedef struct odds {
    double treated, others;
    double least; /* of the rewards, which are this or 1 more */
} odds;

/* A decision and its reward. */
typedef struct visit {
    char id[32], key[32];
    uint8_t *body;
    store_entry entries[2];
} visit;

static void make_visit(visit *self, int number, const odds *chances, random_stream *random)
{
    static const double probabilities[ACTIONS] = {0.5, 0.5};
    static const char *const lands[] = {"CH", "DE"};
    const float values[ACTIONS * DIM] = {1, 0, 0, 1};
    size_t size = 0, capacity = 0;
    int person = number / 3;
    bool treated = person % 2;
    snprintf(self->id, sizeof self->id, "d%d", number);
    snprintf(self->key, sizeof self->key, "u%d", person);
    json_text id = {self->id, strlen(self->id)};
    decision_body body = {.count = ACTIONS,
                          .probabilities = probabilities,
                          .dim = DIM,
                          .values = values,
                          .guard = {.present = true,
                                    .baseline = BASELINE_UNIFORM,
                                    .group = treated ? GROUP_TREATED : GROUP_CONTROL,
                                    .treated_share = 0.5,
                                    .key = words(self->key),
                                    .segment = {lands[person % 4 < 2], 2}}};
    ok(decision_body_write(&body, NULL, &self->body, &size, &capacity, NULL));
    double earned = chances->least + (random_unit(random) < (treated ? chances->treated : chances->others));
    self->entries[0] =
        (store_entry){.bandit = 1, .event = {.kind = EVENT_DECISION, .id = id, .body = self->body, .size = size}};
    self->entries[1] = (store_entry){.bandit = 1, .event = {.kind = EVENT_REWARD, .id = id, .value = earned}};
    self->entries[0].next = &self->entries[1];
}

/* Many in one transaction: each takes a while. */
static void decide_some(int from, int count, odds chances)
{
    random_stream random = random_named(7 + (uint64_t)from, "rewards");
    visit *visits = calloc((size_t)count, sizeof *visits);
    for (int i = 0; i < count; i++) {
        make_visit(&visits[i], from + i, &chances, &random);
        if (i) visits[i - 1].entries[1].next = &visits[i].entries[0];
    }
    play.now += 1000;
    write_entries(play.store, visits[0].entries, play.now);
    for (int i = 0; i < count; i++) {
        assert_int_equal(visits[i].entries[0].verdict, ENTRY_DONE);
        assert_int_equal(visits[i].entries[1].verdict, ENTRY_DONE);
        memory_free(visits[i].body);
    }
    free(visits);
}

static void watch_guarded(int count, odds chances)
{
    set_mode(guarded);
    decide_some(0, count, chances);
    watched = watch("{}");
}

static char *report_of(const live_bandit *of)
{
    text out = text_start(NULL);
    guard_report_write(&of->guard, "[]", START, &out);
    ok(out.status);
    return out.bytes;
}

static void assert_same_report(const live_bandit *a, const live_bandit *b)
{
    char *left = report_of(a), *right = report_of(b);
    assert_string_equal(left, right);
    memory_free(left);
    memory_free(right);
}

/* As the server does it. */
static void write_alarm(const live_alarm *alarm)
{
    text body = text_start(NULL);
    live_alarm_write(alarm, &body);
    ok(body.status);
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_ALARM, .body = body.bytes, .size = body.length}};
    assert_int_equal(write_entry(play.store, &entry, play.now), ENTRY_DONE);
    memory_free(body.bytes);
}

/* ---- what is measured ---- */

TEST_WITH(the_lift_is_that_of_the_log, start, finish)
{
    watch_guarded(MANY, (odds){0.6, 0.4, 0});
    lift_estimate now = lift_now(&watched.guard.parts[0].lifts[0], 0.05);
    assert_int_equal(now.treated.decisions + now.control.decisions, MANY);
    assert_true(now.interval.low < 0.2 && now.interval.high > 0.2 && now.interval.low > 0);
    assert_true(fabs(now.treated.people - MANY / 6.0) < 0.15 * MANY / 6.0);
    assert_int_equal(watched.guard.groups[LOG_GROUP_TREATED] + watched.guard.groups[LOG_GROUP_CONTROL], MANY);
    assert_null(live_guard_alarm(&watched.guard)); /* it is better */
    assert_int_equal(watched.guard.part_count, 3);
    assert_int_equal(watched.guard.parts[1].decisions + watched.guard.parts[2].decisions, MANY);
}

/* The baseline draws too, but what it earns is not the bandit's: challengers are compared with treated people. */
TEST_WITH(the_value_of_the_bandit_is_that_of_treated_people, start, finish)
{
    watch_guarded(MANY, (odds){0.6, 0.1, 0});
    assert_int_equal(live_track_events(watched.tracks[0]), watched.guard.groups[LOG_GROUP_TREATED]);
    assert_true(fabs(live_track_estimate(watched.tracks[0]).value - 0.6) < 0.1);
}

/* Decisions from before the guardrails, and of bandits without any, are not counted. */
TEST_WITH(only_guarded_decisions_count, start, finish)
{
    set_mode("{\"policy\":\"uniform\",\"dim\":2}");
    decide_some(0, 30, (odds){0.5, 0.5, 0});
    watched = watch("{}");
    assert_false(live_guard_is_active(&watched.guard));
    set_mode(guarded);
    decide_some(30, 60, (odds){0.5, 0.5, 0});
    take_all(&watched);
    assert_int_equal(watched.guard.parts[0].decisions, 60);
    live_bandit again = watch("{}");
    assert_same_report(&watched, &again);
    live_bandit_close(&again);
}

TEST_WITH(further_segments_count_together, start, finish)
{
    set_mode(guarded);
    watched = watch("{}");
    for (int i = 0; i < 40; i++) {
        char name[8];
        snprintf(name, sizeof name, "s%d", i % 20);
        log_event one = {.id = {"d", 1},
                         .reward = 1,
                         .guard = {LOG_GROUP_TREATED, 0.5, false, {"u", 1}, {name, strlen(name)}, {0}, {0}}};
        settled_decision facts = {.number = watched.guard.followed + 1 + (uint64_t)i, .outcome = SETTLED_REWARDED};
        ok(live_guard_take(&watched.guard, &one, &facts, NULL));
    }
    assert_int_equal(watched.guard.part_count, 1 + GUARD_SEGMENTS);
    assert_int_equal(watched.guard.other.decisions, 2 * (20 - GUARD_SEGMENTS));
    assert_int_equal(watched.guard.parts[0].decisions, 40);
}

/* A decision without a value of a metric counts with what is missing, or not at all. */
TEST_WITH(metrics_are_compared, start, finish)
{
    static const char measured[] =
        "{\"policy\":\"uniform\",\"dim\":2,\"metrics\":[{\"name\":\"refund\",\"missing\":0},{\"name\":\"latency\","
        "\"missing\":null}],\"guardrails\":{\"control\":{\"share\":0.5},\"bounds\":[{\"metric\":\"latency\","
        "\"most_above\":0.1}]}}";
    set_mode(measured);
    watched = watch("{}");
    for (uint64_t i = 0; i < 40; i++) {
        const log_metric values[] = {{{"latency", 7}, 5}, {{"refund", 6}, 1}};
        log_event one = {.id = {"d", 1},
                         .reward = 1,
                         .metrics = values,
                         .metric_count = i % 4 ? 0 : 2,
                         .guard = {.group = i % 8 < 4 ? LOG_GROUP_TREATED : LOG_GROUP_WAITING, .treated_share = 0.5}};
        settled_decision facts = {.number = watched.guard.followed + 1 + i, .outcome = SETTLED_NOTHING};
        ok(live_guard_take(&watched.guard, &one, &facts, NULL));
    }
    const lift *lifts = watched.guard.parts[0].lifts;
    assert_int_equal(lifts[0].treated.decisions, 0); /* none had a reward */
    assert_int_equal(lifts[1].treated.decisions, 20);
    assert_true(fabs(lift_now(&lifts[1], 0.05).treated.mean - 0.25) < 1e-12);
    assert_int_equal(lifts[2].control.decisions, 5);
    assert_true(lift_now(&lifts[2], 0.05).control.mean == 5.0);
    assert_int_equal(watched.guard.tests[0].measured->treated.decisions, 5);
}

/* ---- bounds ---- */

/* Equal rewards of mean -0.9, and then worse ones for treated people. */
TEST(a_bound_on_negative_rewards_is_violated_by_harm_only)
{
    for (int harmful = 0; harmful < 2; harmful++) {
        start(NULL);
        watch_guarded(MANY, (odds){harmful ? 0.2 : 0.1, harmful ? 0.6 : 0.1, -1});
        const live_alarm *alarm = live_guard_alarm(&watched.guard);
        assert_int_equal(alarm != NULL, harmful);
        if (alarm) assert_non_null(strstr(alarm->sentence, "is more than 10% below that of the others, -0."));
        finish(NULL);
    }
}

TEST_WITH(a_bound_that_is_violated_raises_one_alarm, start, finish)
{
    watch_guarded(MANY, (odds){0.2, 0.6, 0});
    const live_alarm *alarm = live_guard_alarm(&watched.guard);
    assert_non_null(alarm);
    assert_string_equal(alarm->metric, "reward");
    assert_true(alarm->decision > 0 && alarm->decision < state_of(play.store, 1)->events);
    assert_non_null(strstr(alarm->sentence, "is more than 10% below that of the others"));
    assert_int_equal(alarm->then, GUARD_FALLBACK);
    assert_true(fabs(alarm->alpha - 0.05 / 2) < 1e-12); /* the first of all starts */
    live_bandit same = watch("{}");
    assert_int_equal(live_guard_alarm(&same.guard)->decision, alarm->decision);
    assert_string_equal(live_guard_alarm(&same.guard)->sentence, alarm->sentence);
    live_bandit_close(&same);

    write_alarm(alarm);
    set_mode(held);
    take_all(&watched);
    assert_null(live_guard_alarm(&watched.guard));
    assert_int_equal(watched.guard.alarms, 1);
    decide_some(MANY, 30, (odds){0.2, 0.6, 0});
    take_all(&watched);
    assert_null(live_guard_alarm(&watched.guard));
    live_bandit again = watch("{}"); /* from the log alone */
    assert_null(live_guard_alarm(&again.guard));
    assert_same_report(&watched, &again);
    live_bandit_close(&again);
}

TEST_WITH(nothing_is_raised_without_harm, start, finish)
{
    watch_guarded(MANY, (odds){0.5, 0.5, 0});
    assert_null(live_guard_alarm(&watched.guard));
    assert_true(live_guard_evidence(&watched.guard.tests[0]) < 1.0);
}

/* ---- when tests start ---- */

TEST_WITH(a_release_starts_the_test_again_at_a_lower_level, start, finish)
{
    watch_guarded(MANY, (odds){0.2, 0.6, 0});
    write_alarm(live_guard_alarm(&watched.guard));
    set_mode(held);
    set_mode(guarded);
    take_all(&watched);
    const guard_test *test = &watched.guard.tests[0];
    assert_int_equal(test->alarm.decision, 0);
    assert_int_equal(test->measured->treated.decisions, 0);
    assert_true(fabs(test->alarm.alpha - 0.05 / 6) < 1e-12);
    assert_int_equal(watched.guard.parts[0].decisions, MANY); /* the comparison goes on */
    decide_some(MANY, MANY, (odds){0.2, 0.6, 0});
    take_all(&watched);
    const live_alarm *second = live_guard_alarm(&watched.guard);
    assert_non_null(second);
    assert_true(second->decision > test->from);
    live_bandit again = watch("{}");
    assert_int_equal(live_guard_alarm(&again.guard)->decision, second->decision);
    assert_same_report(&watched, &again);
    live_bandit_close(&again);
}

/* A stage of the rollout changes nothing; another bound starts its own test; another comparison starts everything. */
TEST_WITH(what_starts_the_comparison, start, finish)
{
    watch_guarded(90, (odds){0.5, 0.5, 0});
    set_mode(staged);
    decide_some(90, 30, (odds){0.5, 0.5, 0});
    take_all(&watched);
    assert_int_equal(watched.guard.parts[0].decisions, 120);
    assert_int_equal(watched.guard.starts, 1);

    set_mode(stricter);
    decide_some(120, 30, (odds){0.5, 0.5, 0});
    take_all(&watched);
    const guard_test *tests = watched.guard.tests;
    assert_int_equal(watched.guard.parts[0].decisions, 150);
    assert_int_equal(tests[0].measured->treated.decisions + tests[0].measured->control.decisions, 150);
    assert_int_equal(tests[1].measured->treated.decisions + tests[1].measured->control.decisions, 30);
    assert_true(fabs(tests[0].alarm.alpha - 0.05 / 2) < 1e-12 && fabs(tests[1].alarm.alpha - 0.05 / 6) < 1e-12);

    set_mode(other_share);
    decide_some(150, 30, (odds){0.5, 0.5, 0});
    take_all(&watched);
    assert_int_equal(watched.guard.parts[0].decisions, 30);
    assert_int_equal(watched.guard.starts, 3);

    store_entry model = {.bandit = 1, .event = {.kind = EVENT_MODEL}};
    assert_int_equal(write_entry(play.store, &model, play.now), ENTRY_DONE);
    decide_some(180, 15, (odds){0.5, 0.5, 0});
    take_all(&watched);
    assert_int_equal(watched.guard.parts[0].decisions, 15);
    assert_true(fabs(tests[0].alarm.alpha - 0.05 / 20) < 1e-12);
    live_bandit again = watch("{}");
    assert_same_report(&watched, &again);
    live_bandit_close(&again);
}

#define RULED(rules, rest) HEAD "\"rules\":[" rules "]," rest BOUNDED "}}"
#define BOOST(until) "{\"name\":\"a\",\"action\":{\"_id\":\"a\"},\"boost\":1" until "}"
#define OTHER "{\"name\":\"b\",\"context\":{\"land\":[\"DE\",\"CH\"]},\"exclude\":true}"
#define PAST ",\"until\":\"2020-01-01T00:00:00Z\""

/* What is measured after a change of what guardrails do to decisions says nothing about the time before: a harmful rule
 * that was removed raises no alarm later. */
TEST_WITH(other_limits_start_the_comparison, start, finish)
{
    static const struct {
        const char *settings;
        bool starts;
    } changes[] = {
        {RULED(BOOST(""), ""), true},
        {RULED(BOOST(""), "\"rollout\":{\"share\":0.5},"), false},
        {RULED(OTHER "," BOOST(""), ""), true},
        {RULED(OTHER "," BOOST(PAST), ""), true},
        {RULED(OTHER, ""), false}, /* the other rule had ended */
        {RULED(OTHER, "\"sticky\":{\"for\":\"1h\"},"), true},
        {RULED(OTHER, "\"shares\":[{\"name\":\"s\",\"action\":{\"_id\":\"a\"},\"low\":0.1}],"), true},
        {RULED(OTHER, "\"shares\":[{\"name\":\"s\",\"action\":{\"_id\":\"b\"},\"low\":0.1}],"), true},
        {RULED(OTHER, "\"shares\":[{\"name\":\"t\",\"action\":{\"_id\":\"b\"},\"low\":0.1}],"), false},
        {RULED(OTHER, "\"caps\":[{\"name\":\"c\",\"action\":{\"_id\":\"a\"},\"most\":3}],"), true},
        {RULED(OTHER, "\"caps\":[{\"name\":\"c\",\"action\":{\"_id\":\"a\"},\"most\":4}],"), true},
        {RULED(OTHER, "\"budgets\":[{\"name\":\"m\",\"cost\":\"x\",\"limit\":1}],"), true},
        {RULED(OTHER, "\"budgets\":[{\"name\":\"m\",\"cost\":\"y\",\"limit\":1}],"), true},
    };
    uint64_t starts = 1, decisions = 30;
    watch_guarded(30, (odds){0.5, 0.5, 0});
    for (int i = 0; i < (int)(sizeof changes / sizeof *changes); i++) {
        set_mode(changes[i].settings);
        decide_some(30 + 30 * i, 30, (odds){0.5, 0.5, 0});
        take_all(&watched);
        starts += changes[i].starts;
        decisions = changes[i].starts ? 30 : decisions + 30;
        assert_int_equal(watched.guard.starts, starts);
        assert_int_equal(watched.guard.parts[0].decisions, decisions);
        const guard_test *test = &watched.guard.tests[0];
        assert_int_equal(test->measured->treated.decisions + test->measured->control.decisions, decisions);
        assert_true(fabs(test->alarm.alpha - 0.05 / (double)(starts * (starts + 1))) < 1e-12);
    }
}

/* SETTINGS and MODEL of a promotion are one start. */
TEST_WITH(a_promotion_is_one_start, start, finish)
{
    static const char promoted[] = "{\"policy\":\"linucb\",\"dim\":2,\"guardrails\":{\"control\":{\"share\":0.5},"
                                   "\"segment\":\"land\"," BOUNDED "}}";
    set_mode(guarded);
    decide_some(0, 30, (odds){0.5, 0.5, 0});
    set_mode(promoted);
    store_entry model = {.bandit = 1, .event = {.kind = EVENT_MODEL}};
    assert_int_equal(write_entry(play.store, &model, play.now), ENTRY_DONE);
    watched = watch("{}");
    assert_int_equal(watched.guard.starts, 2);
}

/* ---- the state ---- */

TEST_WITH(a_saved_state_goes_on, start, end)
{
    set_mode(guarded);
    decide_some(0, 300, (odds){0.2, 0.6, 0});
    live_bandit first = watch("{}");
    ok(live_bandit_save(&first, NULL));
    live_bandit_close(&first);
    live_bandit loaded = open_live("{}");
    assert_int_equal(loaded.guard.parts[0].decisions, 300);
    decide_some(300, MANY - 300, (odds){0.2, 0.6, 0});
    take_all(&loaded);
    ok(live_bandit_save(&loaded, NULL));
    live_bandit after = open_live("{}"); /* an alarm that was not written is still there */
    take_all(&after);
    assert_non_null(live_guard_alarm(&after.guard));
    assert_same_report(&loaded, &after);
    live_bandit_close(&after);

    ok(store_remove_blobs(play.store, 1, NULL));
    live_bandit anew = watch("{}");
    assert_same_report(&loaded, &anew);
    live_bandit_close(&anew);
    live_bandit_close(&loaded);
}

TEST_WITH(the_report_is_json, start, finish)
{
    set_mode(held);
    decide_some(0, 60, (odds){0.2, 0.6, 0});
    watched = watch("{}");
    text out = text_start(NULL);
    live_report_write(&watched, 0, "[]", "[]", START, &out);
    ok(out.status);
    json_reader reader = json_start(out.bytes, out.length, NULL);
    json_token token;
    do ok(json_next(&reader, &token, NULL));
    while (token.kind != JSON_KIND_END);
    assert_non_null(strstr(out.bytes, "\"guardrails\":{\"groups\":{\"none\":0,\"treated\":30,\"control\":30,"));
    assert_non_null(strstr(out.bytes, "\"held\":\"fallback\",\"held_because\":\"it was worse\""));
    memory_free(out.bytes);
    guard_numbers numbers = guard_report_numbers(&watched.guard);
    assert_true(numbers.active && numbers.count == 1 && numbers.held == HELD_FALLBACK);
    assert_string_equal(numbers.values[0].metric, "reward");
    assert_true(numbers.values[0].evidence >= 0 && numbers.values[0].evidence < 1);
}
