/* Metrics that come with rewards: joined exactly once, by what the log has afterwards. After each play the tables are
 * compared with those that follow from the log. */
#include "support_files.h"

#include <math.h>
#include <stdarg.h>

#include "base/file.h"
#include "serve/shown_log.h"
#include "serve/store/places/database_check.h"
#include "serve/store/places/store_repair.h"
#include "serve/store_writer.h"

static const int64_t SECOND = 1000000;

typedef struct play {
    test_place place;
    store *store;
    int64_t now;
} play;

static play start(const char *settings)
{
    play self = {.place = test_place_make(), .now = 1000 * SECOND};
    ok(store_open(self.place.where, &self.store, NULL));
    assert_int_equal(write_bandit(self.store, "b", settings, self.now), 1);
    return self;
}

static void reopen(play *self)
{
    store_close(self->store);
    ok(store_open(self->place.where, &self->store, NULL));
}

static void check(const play *self)
{
    check_request request = {.folder = self->place.where};
    check_result found;
    ok(place_is_database(self->place.where) ? database_check(&request, &found, NULL)
                                            : store_check_folder(&request, &found, NULL));
    assert_string_equal(found.first, "");
    assert_int_equal(check_damages(&found), 0);
}

static void end(play *self, const char *log)
{
    assert_log_is(self->store, 1, log);
    check(self);
    store_close(self->store);
    test_place_remove(&self->place);
}

static json_text words(const char *plain)
{
    return (json_text){plain, strlen(plain)};
}

static void decide_as(play *self, const char *id, bool deferred)
{
    static const double probabilities[] = {0.5, 0.5};
    static const float values[] = {1, 2};
    decision_body body = {.count = 2,
                          .probabilities = probabilities,
                          .dim = 1,
                          .values = values,
                          .request = {1, 2},
                          .deferred = deferred};
    uint8_t *bytes = NULL;
    size_t size = 0, capacity = 0;
    ok(decision_body_write(&body, NULL, &bytes, &size, &capacity, NULL));
    store_entry entry = {.bandit = 1,
                         .event = {.kind = EVENT_DECISION, .id = words(id), .body = bytes, .size = size},
                         .request = {1, 2},
                         .deferred = deferred};
    assert_int_equal(write_entry(self->store, &entry, self->now), ENTRY_DONE);
    memory_free(bytes);
}

static void decide(play *self, const char *id)
{
    decide_as(self, id, false);
}

/* names: one letter for each metric, whose values follow. reward NaN: none. */
static store_entry send(play *self, const char *id, double reward, const char *reward_id, const char *names, ...)
{
    static uint8_t bytes[METRIC_VALUES_SIZE];
    metric_values values = {.reward = reward, .count = strlen(names)};
    va_list numbers;
    va_start(numbers, names);
    for (size_t i = 0; i < values.count && i < MOST_METRICS; i++)
        values.list[i] = (metric_value){.name = {names[i]}, .count = 1, .value = va_arg(numbers, double)};
    va_end(numbers);
    store_entry entry = {
        .bandit = 1,
        .event = {
            .kind = EVENT_REWARD, .id = words(id), .value = isnan(reward) ? 0 : reward, .reward_id = words(reward_id)}};
    if (values.count) {
        entry.event.body = bytes;
        entry.event.size = metric_values_write(&values, bytes);
    }
    write_entry(self->store, &entry, self->now);
    return entry;
}

static size_t settle(play *self)
{
    self->now += 11 * SECOND;
    return settle_some(self->store, 1, self->now, 100);
}

static metric_values totals_at(play *self, uint64_t number)
{
    store_reader *reader;
    const event *found;
    metric_values out;
    ok(store_reader_create(self->store, &reader, NULL));
    ok(store_read_one(reader, 1, number, &found, NULL));
    ok(metric_values_read(found->body, found->size, &out, NULL));
    store_reader_free(reader);
    return out;
}

#define TWO_METRICS                                                                                                    \
    "\"metrics\":[{\"name\":\"r\",\"aggregation\":\"sum\",\"missing\":0,\"weight\":-2},"                               \
    "{\"name\":\"l\",\"aggregation\":\"mean\",\"missing\":null,\"weight\":0.5}]"
static const char first_counts[] = "{\"dim\":1,\"wait\":10,\"default_reward\":null," TWO_METRICS "}";
static const char sums[] = "{\"dim\":1,\"wait\":10,\"default_reward\":0.25,\"aggregation\":\"sum\"," TWO_METRICS "}";

TEST(the_end_of_the_wait_settles)
{
    play self = start(first_counts);
    decide(&self, "a");
    assert_int_equal(send(&self, "a", 1, "", "r", 1.0).event.outcome, REWARD_JOINED);
    reopen(&self);
    assert_int_equal(send(&self, "a", 5, "", "").event.outcome, REWARD_REPEATED);
    assert_int_equal(send(&self, "a", 5, "", "rl", 1.0, 4.0).event.outcome, REWARD_JOINED); /* its metrics count */
    check(&self);
    reopen(&self);
    assert_int_equal(send(&self, "a", NAN, "", "l", 2.0).event.outcome, REWARD_JOINED);
    assert_int_equal(settle(&self), 1);
    metric_values totals = totals_at(&self, 7);
    assert_true(totals.reward == 1 && totals.count == 2);
    assert_true(strcmp(totals.list[0].name, "l") == 0 && totals.list[0].count == 2 && totals.list[0].value == 3);
    assert_true(strcmp(totals.list[1].name, "r") == 0 && totals.list[1].count == 2 && totals.list[1].value == 2);
    assert_int_equal(send(&self, "a", 1, "", "r", 1.0).event.outcome, REWARD_LATE);
    end(&self, "=; D a; R a 1 joined 2; R a 5 repeated 2; R a 5 joined 2; R a 0 joined 2; S 2 -1.5 rewarded; "
               "R a 1 late 2; ");
}

TEST(without_a_reward)
{
    play self = start(first_counts);
    decide(&self, "a");
    decide(&self, "b");
    send(&self, "a", NAN, "", "r", 3.0);
    assert_int_equal(settle(&self), 2);
    assert_true(isnan(totals_at(&self, 5).reward));
    end(&self, "=; D a; D b; R a 0 joined 2; S 2 -6 rewarded; S 3 0 nothing; ");
    self = start(sums);
    decide(&self, "a");
    decide(&self, "b");
    send(&self, "a", NAN, "", "r", 3.0);
    assert_int_equal(settle(&self), 2);
    assert_true(totals_at(&self, 5).reward == 0.25 && totals_at(&self, 6).reward == 0.25);
    end(&self, "=; D a; D b; R a 0 joined 2; S 2 -5.75 rewarded; S 3 0.25 default; ");
}

TEST(exactly_once)
{
    play self = start(sums);
    decide(&self, "a");
    assert_int_equal(send(&self, "a", 1, "x", "rl", 1.0, 2.0).verdict, ENTRY_DONE);
    reopen(&self);
    assert_int_equal(send(&self, "a", 1, "x", "lr", 2.0, 1.0).verdict, ENTRY_REPEATED); /* in another order */
    store_entry other = send(&self, "a", 1, "x", "rl", 1.0, 3.0);
    assert_int_equal(other.verdict, ENTRY_CONFLICT);
    assert_string_equal(other.error.message, "reward: this reward_id was used before with other metrics");
    assert_int_equal(send(&self, "a", 1, "x", "").verdict, ENTRY_CONFLICT);
    assert_int_equal(send(&self, "a", NAN, "x", "rl", 1.0, 2.0).verdict, ENTRY_CONFLICT);
    assert_int_equal(send(&self, "a", 1, "y", "").verdict, ENTRY_DONE);
    other = send(&self, "a", 1, "y", "r", 1.0);
    assert_int_equal(other.verdict, ENTRY_CONFLICT);
    assert_string_equal(other.error.message, "reward: this reward_id was used before with the value 1");
    check(&self);
    assert_int_equal(settle(&self), 1);
    assert_int_equal(send(&self, "a", 1, "x", "rl", 1.0, 2.0).verdict, ENTRY_REPEATED);
    end(&self, "=; D a; R a 1 joined 2; R a 1 joined 2; S 2 1 rewarded; ");
}

TEST(rewards_before_their_decision_keep_their_metrics)
{
    play self = start(sums);
    send(&self, "a", 2, "x", "r", 1.0);
    reopen(&self);
    send(&self, "a", NAN, "", "rl", 2.0, 8.0);
    check(&self);
    reopen(&self);
    decide(&self, "a");
    assert_int_equal(send(&self, "a", 2, "x", "r", 1.0).verdict, ENTRY_REPEATED);
    check(&self);
    reopen(&self);
    assert_int_equal(settle(&self), 1);
    end(&self, "=; R a 2 unknown 0; R a 0 unknown 0; D a; R a 2 claimed 4; R a 0 claimed 4; S 4 0 rewarded; ");
}

TEST(deferred_decisions_have_metrics_too)
{
    play self = start(first_counts);
    decide_as(&self, "a", true);
    decide_as(&self, "b", true);
    send(&self, "a", 1, "", "r", 1.0);
    send(&self, "b", 1, "", "r", 1.0);
    store_entry shown = {.bandit = 1, .event = {.kind = EVENT_ACTIVATED, .id = words("a")}};
    assert_int_equal(write_entry(self.store, &shown, self.now), ENTRY_DONE);
    reopen(&self);
    assert_int_equal(settle(&self), 2);
    end(&self, "=; D a; D b; R a 1 joined 2; R b 1 joined 3; A a joined 2; S 2 -1 rewarded; S 3 0 inactive; ");
}

/* Each metric has its own aggregation, and those that the bandit has not are only logged. */
TEST(aggregations)
{
    play self = start("{\"dim\":1,\"wait\":10,\"metrics\":[{\"name\":\"f\",\"aggregation\":\"first\",\"weight\":1},"
                      "{\"name\":\"m\",\"aggregation\":\"max\",\"weight\":100},"
                      "{\"name\":\"n\",\"aggregation\":\"last\",\"weight\":10000}]}");
    decide(&self, "a");
    decide(&self, "b");
    send(&self, "a", NAN, "", "fmn", 1.0, 2.0, 3.0);
    send(&self, "a", NAN, "", "fmn", 4.0, 1.0, 2.0);
    assert_int_equal(send(&self, "a", NAN, "", "f", 9.0).event.outcome, REWARD_REPEATED);
    assert_int_equal(send(&self, "b", NAN, "", "z", 9.0).event.outcome, REWARD_REPEATED);
    assert_int_equal(settle(&self), 2);
    end(&self, "=; D a; D b; R a 0 joined 2; R a 0 joined 2; R a 0 repeated 2; R b 0 repeated 3; S 2 20201 rewarded; "
               "S 3 0 default; ");
}

static void change(play *self, const char *json)
{
    bandit_settings settings = bandit_settings_usual();
    ok(bandit_settings_read(&settings, json, strlen(json), SETTINGS_STORED, NULL));
    store_entry entry = {
        .bandit = 1, .event = {.kind = EVENT_SETTINGS, .body = json, .size = strlen(json)}, .settings = &settings};
    assert_int_equal(write_entry(self->store, &entry, self->now), ENTRY_DONE);
}

/* The rules at the settlement count. Totals stay by name, also those of metrics that are gone. */
TEST(other_metrics_between)
{
    play self = start(sums);
    decide(&self, "a");
    decide(&self, "b");
    send(&self, "a", 1, "", "rl", 1.0, 2.0);
    change(&self, "{\"dim\":1,\"wait\":10,\"aggregation\":\"sum\",\"metrics\":[{\"name\":\"q\",\"weight\":3},"
                  "{\"name\":\"l\",\"weight\":1}]}");
    reopen(&self);
    send(&self, "a", 1, "", "q", 5.0);
    change(&self, "{\"dim\":1,\"wait\":10,\"aggregation\":\"first\"}");
    assert_int_equal(send(&self, "a", 1, "", "q", 5.0).event.outcome, REWARD_REPEATED);
    assert_int_equal(send(&self, "b", 1, "", "").event.outcome, REWARD_JOINED); /* at once, without metrics */
    check(&self);
    change(&self, "{\"dim\":1,\"wait\":10,\"aggregation\":\"sum\",\"metrics\":[{\"name\":\"q\",\"weight\":3}]}");
    assert_int_equal(settle(&self), 1);
    assert_int_equal(totals_at(&self, 12).count, 3);
    end(&self, "=; D a; D b; R a 1 joined 2; =; R a 1 joined 2; =; R a 1 repeated 2; R b 1 joined 3; S 3 1 rewarded; "
               "=; S 2 17 rewarded; ");
}

/* More names than there is room for: one that the bandit no longer has makes place. */
TEST(many_names)
{
    joining_rules old = {.metric_count = MOST_METRICS}, new = {.metric_count = 1};
    metric_values totals = {.reward = NAN}, reward = {.reward = NAN, .count = MOST_METRICS};
    for (size_t i = 0; i < MOST_METRICS; i++) {
        old.metrics[i] = (metric_settings){.name = {(char)('a' + i)}, .aggregation = LOG_REWARD_SUM};
        reward.list[i] = (metric_value){.name = {(char)('a' + i)}, .count = 1, .value = 1};
    }
    assert_true(metric_values_join(&totals, &old, &reward));
    assert_int_equal(totals.count, MOST_METRICS);
    new.metrics[0] = (metric_settings){.name = "z", .aggregation = LOG_REWARD_SUM};
    reward.count = 1;
    reward.list[0].name[0] = 'z';
    assert_true(metric_values_join(&totals, &new, &reward));
    assert_int_equal(totals.count, MOST_METRICS);
    assert_true(metric_values_has(&totals, &new));
}

TEST(erased_decisions_leave_no_metrics)
{
    play self = start(sums);
    decide(&self, "a");
    send(&self, "a", 1, "x", "r", 1.0);
    assert_int_equal(settle(&self), 1);
    ok(store_erase(self.store, 1, (const uint64_t[]){3, 4, 2}, 3, NULL));
    store_reader *reader;
    const event *found;
    ok(store_reader_create(self.store, &reader, NULL));
    for (uint64_t number = 3; number <= 4; number++) {
        ok(store_read_one(reader, 1, number, &found, NULL));
        assert_int_equal(found->size, 0);
    }
    store_reader_free(reader);
    check(&self);
    store_close(self.store);
    test_place_remove(&self.place);
}

/* A repair computes the tables from the log. */
TEST(a_repair_finds_the_metrics_again)
{
    play self = start(sums);
    if (place_is_database(self.place.where)) {
        end(&self, "=; ");
        return;
    }
    decide(&self, "a");
    send(&self, "a", 1, "x", "r", 1.0);
    store_close(self.store);
    sqlite3 *database;
    check_request request = {.folder = self.place.where};
    check_result found;
    char *path;
    ok(file_join(self.place.where, "eenet.db", &path, NULL));
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    memory_free(path);
    assert_int_equal(sqlite3_exec(database, "UPDATE decisions SET metrics = x'00'", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    ok(store_check_folder(&request, &found, NULL));
    assert_int_equal(found.tables, 1);
    repair_result repaired;
    ok(store_repair(&request, &repaired, NULL));
    check(&self);
    ok(store_open(self.place.where, &self.store, NULL));
    assert_int_equal(settle(&self), 1);
    assert_true(totals_at(&self, 4).list[0].value == 1);
    end(&self, "=; D a; R a 1 joined 2; S 2 -1 rewarded; ");
}

/* ---- bytes ---- */

static size_t write_example(uint8_t bytes[METRIC_VALUES_SIZE])
{
    metric_values values = {
        .reward = 0.5, .count = 2, .list = {{.name = "refund", .count = 3, .value = -2}, {"latency", 1, 1e-300}}};
    return metric_values_write(&values, bytes);
}

TEST(bytes_never_change)
{
    static const uint8_t expected[] = "\1\2\0\0\0\0\0\0\340\77\7latency\1\0\0\0\131\363\370\302\37\156\245\1"
                                      "\6refund\3\0\0\0\0\0\0\0\0\0\0\300";
    uint8_t bytes[METRIC_VALUES_SIZE];
    size_t size = write_example(bytes);
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(bytes, expected, size);
}

TEST(damaged_bytes_are_refused_or_harmless)
{
    uint8_t bytes[METRIC_VALUES_SIZE], again[METRIC_VALUES_SIZE];
    size_t size = write_example(bytes), harmless = 0;
    metric_values got;
    ee_error error;
    for (size_t cut = 0; cut < size; cut++) {
        guard wall;
        uint8_t *copy = guard_end_bytes(&wall, cut);
        memcpy(copy, bytes, cut);
        assert_int_equal(metric_values_read(copy, cut, &got, &error), EE_BAD_INPUT);
        assert_int_equal(got.count, 0);
        guard_free(&wall);
    }
    guard wall;
    uint8_t *copy = guard_end_bytes(&wall, size);
    memcpy(copy, bytes, size);
    for (size_t at = 0; at < size; at++)
        for (unsigned flip = 1; flip < 256; flip++) {
            copy[at] = (uint8_t)(bytes[at] ^ flip);
            if (!metric_values_read(copy, size, &got, &error)) {
                harmless++;
                assert_int_equal(metric_values_write(&got, again), size);
                ok(metric_values_read(again, size, &got, &error));
            }
            copy[at] = bytes[at];
        }
    guard_free(&wall);
    assert_true(harmless > 1000); /* other numbers and letters */
    assert_string_equal(error.message, "log: the metrics of a reward or a decision are damaged");
}
