/* The rules by which decisions and rewards become one event: each on a store, by what the log has afterwards. */
#include "support_files.h"

#include <math.h>
#include <string.h>

#include "serve/shown_log.h"
#include "serve/store_writer.h"

static const int64_t SECOND = 1000000;

typedef struct play {
    test_place place;
    store *store;
    int64_t now;
    store_counts counts;
} play;

/* A bandit whose decisions wait ten seconds. */
static play start(log_aggregation aggregation, double default_reward)
{
    play self = {.place = test_place_make(), .now = 1000 * SECOND};
    joining_rules rules = {.wait = 10 * SECOND, .default_reward = default_reward, .aggregation = aggregation};
    self.store = open_bare(self.place.where, &rules);
    return self;
}

static bandit_state *bandit_of(const play *self)
{
    return state_of(self->store, 1);
}

static void stop(play *self)
{
    store_close(self->store);
    test_place_remove(&self->place);
}

static void end(play *self, const char *log)
{
    assert_log_is(self->store, 1, log);
    stop(self);
}

/* Writes a chain of entries in one group, and counts. */
static void write_group(play *self, store_entry *first)
{
    ee_error error = {0};
    store_group group = {.first = first, .now = self->now};
    if (store_write(self->store, &group, &error)) fail_msg("%s", error.message);
    uint64_t *into = (uint64_t *)&self->counts;
    const uint64_t *from = (const uint64_t *)&group.counts;
    for (size_t i = 0; i < sizeof group.counts / sizeof *from; i++) into[i] += from[i];
}

static json_text words(const char *plain)
{
    return (json_text){plain, strlen(plain)};
}

static entry_verdict decide_as(play *self, const char *id, uint64_t request)
{
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words(id)}, .request = {request, 7}};
    write_group(self, &entry);
    return entry.verdict;
}

static void decide(play *self, const char *id)
{
    assert_int_equal(decide_as(self, id, 1), ENTRY_DONE);
}

static store_entry reward_as(play *self, const char *id, double value, const char *reward_id)
{
    store_entry entry = {
        .bandit = 1, .event = {.kind = EVENT_REWARD, .id = words(id), .value = value, .reward_id = words(reward_id)}};
    write_group(self, &entry);
    return entry;
}

static event_outcome reward(play *self, const char *id, double value)
{
    store_entry entry = reward_as(self, id, value, "");
    assert_int_equal(entry.verdict, ENTRY_DONE);
    return entry.event.outcome;
}

static size_t settle(play *self, size_t limit)
{
    ee_error error = {0};
    uint32_t bandit = 1;
    uint64_t before = bandit_of(self)->events;
    store_group group = {.now = self->now, .due = &bandit, .due_count = 1, .settle_each = limit, .settle_total = limit};
    if (store_write(self->store, &group, &error)) fail_msg("%s", error.message);
    self->counts.defaulted += group.counts.defaulted;
    self->counts.abandoned += group.counts.abandoned;
    self->counts.inactive += group.counts.inactive;
    self->counts.waiting += group.counts.waiting;
    return (size_t)(bandit_of(self)->events - before);
}

TEST(the_first_settles_at_once)
{
    play self = start(LOG_REWARD_FIRST, 0);
    decide(&self, "a");
    decide(&self, "b");
    self.now += SECOND;
    assert_int_equal(reward(&self, "b", 0.5), REWARD_JOINED);
    assert_int_equal(reward(&self, "b", 2), REWARD_REPEATED);
    assert_int_equal(reward(&self, "a", 1), REWARD_JOINED);
    assert_int_equal(self.counts.joined, 2);
    assert_int_equal(self.counts.repeated, 1);
    self.now += 100 * SECOND;
    assert_int_equal(reward(&self, "b", 3), REWARD_LATE); /* and no longer repeated */
    assert_int_equal(settle(&self, 100), 0);
    assert_true(bandit_of(&self)->deadline == INT64_MAX);
    assert_int_equal(bandit_of(&self)->settled_to, 2);
    end(&self, "D a; D b; R b 0.5 joined 2; S 2 0.5 rewarded; R b 2 repeated 2; R a 1 joined 1; S 1 1 rewarded; "
               "R b 3 late 2; ");
}

static void check_aggregation(log_aggregation aggregation, const char *log)
{
    play self = start(aggregation, 0);
    decide(&self, "a");
    const double values[] = {1, 4, 1};
    for (size_t i = 0; i < 3; i++) assert_int_equal(reward(&self, "a", values[i]), REWARD_JOINED);
    self.now += 10 * SECOND;
    assert_int_equal(settle(&self, 100), 0);
    self.now++;
    assert_int_equal(settle(&self, 100), 1);
    assert_int_equal(reward(&self, "a", 9), REWARD_LATE);
    end(&self, log);
}

/* A longer wait does not open again what is settled. */
TEST(more_than_the_sum)
{
    play self = start(LOG_REWARD_SUM, 0);
    decide(&self, "a");
    decide(&self, "b");
    reward(&self, "a", 1);
    self.now += 11 * SECOND;
    assert_int_equal(settle(&self, 100), 2);
    bandit_of(&self)->rules.wait = 100 * SECOND;
    assert_int_equal(reward(&self, "a", 9), REWARD_REPEATED);
    assert_int_equal(reward(&self, "b", 9), REWARD_LATE);
    end(&self, "D a; D b; R a 1 joined 1; S 1 1 rewarded; S 2 0 default; R a 9 repeated 1; R b 9 late 2; ");
}

TEST(aggregations)
{
    static const char rewards[] = "D a; R a 1 joined 1; R a 4 joined 1; R a 1 joined 1; ";
    const struct {
        log_aggregation aggregation;
        const char *value;
    } cases[] = {{LOG_REWARD_LAST, "1"}, {LOG_REWARD_SUM, "6"}, {LOG_REWARD_MEAN, "2"}, {LOG_REWARD_MAX, "4"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char log[200];
        snprintf(log, sizeof log, "%sS 1 %s rewarded; R a 9 late 1; ", rewards, cases[i].value);
        check_aggregation(cases[i].aggregation, log);
    }
}

TEST(the_largest_may_be_below_zero)
{
    play self = start(LOG_REWARD_MAX, 0);
    decide(&self, "a");
    reward(&self, "a", -3);
    reward(&self, "a", -2);
    self.now += 11 * SECOND;
    assert_int_equal(settle(&self, 100), 1);
    end(&self, "D a; R a -3 joined 1; R a -2 joined 1; S 1 -2 rewarded; ");
}

TEST(exactly_at_the_wait_counts)
{
    play self = start(LOG_REWARD_SUM, 0);
    decide(&self, "a");
    self.now += 10 * SECOND;
    assert_int_equal(settle(&self, 100), 0);
    assert_true(bandit_of(&self)->deadline == self.now + 1);
    assert_int_equal(reward(&self, "a", 1), REWARD_JOINED);
    self.now += 1;
    assert_int_equal(reward(&self, "a", 1), REWARD_LATE); /* by a microsecond, whether it is settled or not */
    assert_int_equal(settle(&self, 100), 1);
    end(&self, "D a; R a 1 joined 1; R a 1 late 1; S 1 1 rewarded; ");
}

TEST(without_a_reward)
{
    const struct {
        double default_reward;
        const char *log;
    } cases[] = {{0, "D a; S 1 0 default; R a 1 late 1; "},
                 {-0.5, "D a; S 1 -0.5 default; R a 1 late 1; "},
                 {NAN, "D a; S 1 0 nothing; R a 1 late 1; "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        play self = start(i ? LOG_REWARD_FIRST : LOG_REWARD_MEAN, cases[i].default_reward);
        decide(&self, "a");
        self.now += 10 * SECOND + 1;
        assert_int_equal(settle(&self, 100), 1);
        assert_int_equal(settle(&self, 100), 0);
        assert_int_equal(self.counts.defaulted + 2 * self.counts.abandoned, i == 2 ? 2 : 1);
        assert_int_equal(reward(&self, "a", 1), REWARD_LATE);
        end(&self, cases[i].log);
    }
}

TEST(unknown_then_claimed)
{
    play self = start(LOG_REWARD_FIRST, 0);
    assert_int_equal(reward(&self, "a", 5), REWARD_UNKNOWN);
    assert_int_equal(reward(&self, "b", 6), REWARD_UNKNOWN);
    assert_int_equal(reward(&self, "a", 7), REWARD_UNKNOWN);
    self.now += 100 * SECOND; /* longer than the wait: what counts is when the decision came */
    decide(&self, "a");
    decide(&self, "c");
    assert_int_equal(self.counts.unknown, 3);
    assert_int_equal(self.counts.claimed, 1);
    end(&self, "R a 5 unknown 0; R b 6 unknown 0; R a 7 unknown 0; D a; R a 5 claimed 4; S 4 5 rewarded; "
               "R a 7 repeated 4; D c; ");
}

TEST(claimed_are_added)
{
    play self = start(LOG_REWARD_SUM, 0);
    reward(&self, "a", 5);
    reward(&self, "a", 7);
    decide(&self, "a");
    assert_int_equal(reward(&self, "a", 1), REWARD_JOINED);
    self.now += 11 * SECOND;
    assert_int_equal(settle(&self, 100), 1);
    end(&self, "R a 5 unknown 0; R a 7 unknown 0; D a; R a 5 claimed 3; R a 7 claimed 3; R a 1 joined 3; "
               "S 3 13 rewarded; ");
}

TEST(a_decision_is_made_once)
{
    play self = start(LOG_REWARD_FIRST, 0);
    assert_int_equal(decide_as(&self, "a", 1), ENTRY_DONE);
    assert_int_equal(decide_as(&self, "a", 1), ENTRY_REPEATED); /* within the same transaction */
    self.now += 1000 * SECOND;
    assert_int_equal(decide_as(&self, "b", 1), ENTRY_DONE);
    assert_int_equal(decide_as(&self, "a", 1), ENTRY_REPEATED);
    assert_int_equal(decide_as(&self, "a", 2), ENTRY_CONFLICT);
    assert_int_equal(self.counts.decisions, 2);
    assert_int_equal(self.counts.repeated_decisions, 2);
    assert_int_equal(self.counts.conflicts, 1);
    end(&self, "D a; D b; ");
}

TEST(a_repeated_decision_has_its_number)
{
    play self = start(LOG_REWARD_FIRST, 0);
    decide(&self, "a");
    decide(&self, "b");
    int64_t time = self.now;
    self.now += SECOND;
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words("b")}, .request = {1, 7}};
    write_group(&self, &entry);
    assert_int_equal(entry.event.number, 2);
    assert_true(entry.event.time == time);
    end(&self, "D a; D b; ");
}

/* One that guardrails refuse may be a retry. */
TEST(a_refused_decision_is_only_looked_up)
{
    play self = start(LOG_REWARD_FIRST, 0);
    decide(&self, "a");
    static const struct {
        const char *id;
        uint64_t request;
        entry_verdict expected;
    } cases[] = {{"a", 7, ENTRY_REPEATED}, {"a", 8, ENTRY_CONFLICT}, {"b", 7, ENTRY_REFUSED}};
    for (size_t i = 0; i < 3; i++) {
        store_entry entry = {.bandit = 1,
                             .event = {.kind = EVENT_DECISION, .id = words(cases[i].id)},
                             .request = {1, cases[i].request},
                             .refused = true};
        write_group(&self, &entry);
        assert_int_equal(entry.verdict, cases[i].expected);
    }
    end(&self, "D a; ");
}

TEST(reward_ids)
{
    play self = start(LOG_REWARD_SUM, 0);
    decide(&self, "a");
    assert_int_equal(reward_as(&self, "a", 2, "x").verdict, ENTRY_DONE);
    store_entry again = reward_as(&self, "a", 2, "x");
    assert_int_equal(again.verdict, ENTRY_REPEATED);
    assert_int_equal(again.event.outcome, REWARD_JOINED); /* as it was */
    assert_int_equal(reward_as(&self, "a", 3, "x").verdict, ENTRY_CONFLICT);
    assert_int_equal(reward_as(&self, "a", 3, "y").verdict, ENTRY_DONE);
    assert_int_equal(reward_as(&self, "b", 9, "x").verdict, ENTRY_DONE); /* of another decision */
    self.now += 11 * SECOND;
    again = reward_as(&self, "a", 2, "x");
    assert_int_equal(again.verdict, ENTRY_REPEATED);
    assert_int_equal(again.event.outcome, REWARD_JOINED); /* not late: it came in time */
    assert_int_equal(settle(&self, 100), 1);
    assert_int_equal(self.counts.conflicts, 1);
    end(&self, "D a; R a 2 joined 1; R a 3 joined 1; R b 9 unknown 0; S 1 5 rewarded; ");
}

TEST(an_unknown_reward_id_is_claimed_once)
{
    play self = start(LOG_REWARD_SUM, 0);
    assert_int_equal(reward_as(&self, "a", 2, "x").event.outcome, REWARD_UNKNOWN);
    assert_int_equal(reward_as(&self, "a", 2, "x").verdict, ENTRY_REPEATED);
    decide(&self, "a");
    store_entry again = reward_as(&self, "a", 2, "x");
    assert_int_equal(again.verdict, ENTRY_REPEATED);
    assert_int_equal(again.event.outcome, REWARD_UNKNOWN);
    self.now += 11 * SECOND;
    assert_int_equal(settle(&self, 100), 1);
    end(&self, "R a 2 unknown 0; D a; R a 2 claimed 2; S 2 2 rewarded; ");
}

TEST(other_rules_between)
{
    play self = start(LOG_REWARD_MAX, 0);
    decide(&self, "a");
    decide(&self, "b");
    decide(&self, "c");
    reward(&self, "a", 4);
    bandit_of(&self)->rules =
        (joining_rules){.wait = 5 * SECOND, .default_reward = 0.25, .aggregation = LOG_REWARD_MEAN};
    self.now += 5 * SECOND;
    assert_int_equal(reward(&self, "a", 1), REWARD_JOINED); /* the mean of the 4 so far and 1 */
    bandit_of(&self)->rules.aggregation = LOG_REWARD_FIRST;
    assert_int_equal(reward(&self, "a", 8), REWARD_REPEATED);
    self.now += 1;
    assert_int_equal(reward(&self, "b", 1), REWARD_LATE); /* by the shorter wait */
    assert_int_equal(settle(&self, 2), 2);
    bandit_of(&self)->rules.wait = 100 * SECOND;
    assert_int_equal(reward(&self, "b", 1), REWARD_LATE); /* it is settled, whatever the longer wait says */
    assert_int_equal(reward(&self, "a", 1), REWARD_REPEATED);
    assert_int_equal(reward(&self, "c", 3), REWARD_JOINED);
    end(&self, "D a; D b; D c; R a 4 joined 1; R a 1 joined 1; R a 8 repeated 1; R b 1 late 2; S 1 2.5 rewarded; "
               "S 2 0.25 default; R b 1 late 2; R a 1 repeated 1; R c 3 joined 3; S 3 3 rewarded; ");
}

/* Decisions 0 to count - 1, all rewarded except the last, in large groups. */
static void decide_many(play *self, int count)
{
    enum { TOGETHER = 1000 };
    static store_entry entries[2 * TOGETHER];
    static char ids[TOGETHER][16];
    for (int first = 0; first < count; first += TOGETHER) {
        size_t used = 0;
        for (int i = first; i < first + TOGETHER && i < count; i++) {
            char *id = ids[i - first];
            snprintf(id, sizeof ids[0], "%d", i);
            entries[used++] = (store_entry){.bandit = 1, .event = {.kind = EVENT_DECISION, .id = words(id)}};
            if (i < count - 1)
                entries[used++] =
                    (store_entry){.bandit = 1, .event = {.kind = EVENT_REWARD, .id = words(id), .value = 1}};
        }
        for (size_t i = 0; i + 1 < used; i++) entries[i].next = &entries[i + 1];
        write_group(self, entries);
    }
}

/* As after a day without the server, or with a shorter wait: what was settled by its rewards is passed in portions. */
TEST(passes_the_settled_in_portions)
{
    enum { COUNT = 10000 };
    play self = start(LOG_REWARD_FIRST, 0);
    decide_many(&self, COUNT);
    self.now += 11 * SECOND;
    size_t calls = 1;
    for (; settle(&self, 1000) == 0; calls++) assert_true(bandit_of(&self)->deadline <= self.now);
    assert_int_equal(calls, 3);
    assert_int_equal(bandit_of(&self)->deadline, INT64_MAX);
    assert_int_equal(bandit_of(&self)->settled_to, 3 * COUNT - 2);
    stop(&self);
}

TEST(settles_in_portions)
{
    enum { COUNT = 1000 };
    play self = start(LOG_REWARD_FIRST, 0);
    for (int i = 0; i < COUNT; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        decide(&self, id);
        if (i % 3 == 0) reward(&self, id, 1);
        self.now += 1000;
    }
    int64_t last = self.now - 1000;
    self.now += 5 * SECOND;
    assert_int_equal(settle(&self, COUNT), 0);
    assert_true(bandit_of(&self)->deadline == 1010 * SECOND + 1);
    self.now = 1010 * SECOND + 500 * 1000; /* over for the first 500 */
    assert_int_equal(settle(&self, 100), 100);
    assert_true(bandit_of(&self)->deadline <= self.now);
    assert_int_equal(settle(&self, COUNT), 233);
    assert_true(bandit_of(&self)->deadline == self.now + 1);
    self.now = last + 10 * SECOND + 1;
    assert_int_equal(settle(&self, COUNT), 333);
    assert_true(bandit_of(&self)->deadline == INT64_MAX);
    assert_int_equal(self.counts.defaulted, 666);
    assert_int_equal(settle(&self, COUNT), 0);
    stop(&self);
}

TEST(news_are_what_a_model_learns_from)
{
    play self = start(LOG_REWARD_SUM, 0);
    decide(&self, "a");
    assert_int_equal(bandit_of(&self)->news, 1);
    reward(&self, "a", 1);
    assert_int_equal(bandit_of(&self)->events, 2);
    assert_int_equal(bandit_of(&self)->news, 1);
    store_entry step = {.bandit = 1, .event = {.kind = EVENT_STEP}};
    write_group(&self, &step);
    assert_int_equal(bandit_of(&self)->news, 1);
    self.now += 11 * SECOND;
    settle(&self, 10);
    assert_int_equal(bandit_of(&self)->news, 4);
    assert_true(bandit_of(&self)->time == self.now);
    end(&self, "D a; R a 1 joined 1; P; S 1 1 rewarded; ");
}

/* ---- deferred decisions ---- */

static void defer(play *self, const char *id)
{
    store_entry entry = {
        .bandit = 1, .event = {.kind = EVENT_DECISION, .id = words(id)}, .request = {1, 7}, .deferred = true};
    write_group(self, &entry);
    assert_int_equal(entry.verdict, ENTRY_DONE);
}

/* What became of it; nothing is logged where it is repeated. */
static event_outcome activate(play *self, const char *id)
{
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_ACTIVATED, .id = words(id)}};
    write_group(self, &entry);
    assert_int_equal(entry.verdict, entry.event.outcome == REWARD_REPEATED ? ENTRY_REPEATED : ENTRY_DONE);
    return entry.event.outcome;
}

TEST(deferred_ones_settle_when_they_are_active)
{
    play self = start(LOG_REWARD_FIRST, 0);
    defer(&self, "a");
    defer(&self, "b");
    assert_int_equal(reward(&self, "a", 5), REWARD_JOINED); /* counts from the activation on */
    assert_int_equal(reward(&self, "a", 6), REWARD_REPEATED);
    assert_int_equal(activate(&self, "a"), REWARD_JOINED);
    assert_int_equal(activate(&self, "a"), REWARD_REPEATED);
    assert_int_equal(activate(&self, "b"), REWARD_JOINED);
    assert_int_equal(reward(&self, "b", 7), REWARD_JOINED);
    self.now += 11 * SECOND;
    assert_int_equal(activate(&self, "a"), REWARD_REPEATED);
    assert_int_equal(settle(&self, 100), 0);
    assert_int_equal(self.counts.activated, 2);
    assert_int_equal(self.counts.waiting, 0);
    end(&self, "D a; D b; R a 5 joined 1; R a 6 repeated 1; A a joined 1; S 1 5 rewarded; A b joined 2; "
               "R b 7 joined 2; S 2 7 rewarded; ");
}

/* More rewards may come: the activation does not end the wait. */
TEST(an_activation_settles_only_where_the_first_counts)
{
    play self = start(LOG_REWARD_SUM, 0);
    defer(&self, "a");
    assert_int_equal(reward(&self, "a", 5), REWARD_JOINED);
    assert_int_equal(activate(&self, "a"), REWARD_JOINED);
    assert_int_equal(self.counts.waiting, 1);
    assert_int_equal(reward(&self, "a", 6), REWARD_JOINED);
    self.now += 11 * SECOND;
    assert_int_equal(settle(&self, 100), 1);
    end(&self, "D a; R a 5 joined 1; A a joined 1; R a 6 joined 1; S 1 11 rewarded; ");
}

TEST(nobody_saw_what_was_not_activated)
{
    const log_aggregation aggregations_of[] = {LOG_REWARD_FIRST, LOG_REWARD_SUM};
    for (size_t i = 0; i < 2; i++) {
        play self = start(aggregations_of[i], 1);
        defer(&self, "a");
        defer(&self, "b");
        defer(&self, "c");
        reward(&self, "a", 5);
        self.now += 10 * SECOND;
        assert_int_equal(settle(&self, 100), 0);
        assert_int_equal(activate(&self, "c"), REWARD_JOINED); /* in the last moment */
        self.now++;
        assert_int_equal(settle(&self, 100), 3);
        assert_int_equal(activate(&self, "b"), REWARD_LATE);
        bandit_of(&self)->rules.wait = 100 * SECOND;
        assert_int_equal(activate(&self, "a"), REWARD_LATE); /* it is settled */
        assert_int_equal(reward(&self, "b", 5), REWARD_LATE);
        assert_int_equal(self.counts.inactive, 2);
        assert_int_equal(self.counts.defaulted, 1);
        end(&self, "D a; D b; D c; R a 5 joined 1; A c joined 3; S 1 0 inactive; S 2 0 inactive; S 3 1 default; "
                   "A b late 2; A a late 1; R b 5 late 2; ");
    }
}

TEST(activations_may_come_first)
{
    play self = start(LOG_REWARD_FIRST, 0);
    assert_int_equal(activate(&self, "a"), REWARD_UNKNOWN);
    assert_int_equal(reward(&self, "a", 2), REWARD_UNKNOWN);
    assert_int_equal(activate(&self, "b"), REWARD_UNKNOWN);
    assert_int_equal(activate(&self, "b"), REWARD_UNKNOWN);
    defer(&self, "a");
    decide(&self, "b"); /* it is active anyway */
    assert_int_equal(activate(&self, "b"), REWARD_REPEATED);
    assert_int_equal(bandit_of(&self)->unclaimed, 0);
    end(&self, "A a unknown 0; R a 2 unknown 0; A b unknown 0; A b unknown 0; D a; A a claimed 5; R a 2 claimed 5; "
               "S 5 2 rewarded; D b; ");
}

/* ---- rounds of slots ---- */

enum { MOST_SLOTS = 3 };

/* slots as "tm": a slot for each letter. */
static entry_verdict decide_slots(play *self, const char *id, const char *slots, uint64_t request, bool deferred,
                                  uint64_t *first)
{
    store_entry entries[MOST_SLOTS] = {0};
    char ids[MOST_SLOTS][16];
    size_t count = strlen(slots);
    for (size_t i = 0; i < count; i++)
        entries[i] = (store_entry){
            .bandit = 1,
            .event = {.kind = EVENT_DECISION, .id = slot_decision_id(words(id), (json_text){slots + i, 1}, ids[i])},
            .request = {request, 7},
            .deferred = deferred,
            .slot_index = i,
            .slot_count = count,
            .with_next = i + 1 < count,
            .next = i + 1 < count ? &entries[i + 1] : NULL};
    write_group(self, entries);
    for (size_t i = 1; i < count; i++) {
        assert_int_equal(entries[i].verdict, entries[0].verdict);
        if (entries[i].verdict != ENTRY_CONFLICT)
            assert_int_equal(entries[i].event.number, entries[0].event.number + i);
    }
    if (first) *first = entries[0].event.number;
    return entries[0].verdict;
}

TEST(a_round_is_made_as_a_whole)
{
    play self = start(LOG_REWARD_FIRST, 0);
    uint64_t first;
    decide(&self, "x");
    assert_int_equal(decide_slots(&self, "x", "tm", 9, false, NULL), ENTRY_CONFLICT); /* another decision's id */
    assert_int_equal(decide_slots(&self, "r", "tme", 1, false, &first), ENTRY_DONE);
    assert_int_equal(first, 2);
    assert_int_equal(decide_slots(&self, "r", "tme", 1, false, &first), ENTRY_REPEATED);
    assert_int_equal(first, 2);
    assert_int_equal(decide_slots(&self, "r", "zm", 2, false, NULL), ENTRY_CONFLICT); /* nothing of it is written */
    assert_int_equal(decide_as(&self, "r", 3), ENTRY_CONFLICT);
    assert_int_equal(reward(&self, "r\037m", 2), REWARD_JOINED);
    assert_int_equal(reward(&self, "r", 1), REWARD_JOINED); /* the first slot's */
    assert_int_equal(reward(&self, "r\037t", 3), REWARD_REPEATED);
    end(&self, "D x; D r/t; D r/m; D r/e; R r/m 2 joined 3; S 3 2 rewarded; R r 1 joined 2; S 2 1 rewarded; "
               "R r/t 3 repeated 2; ");
}

TEST(a_round_is_activated_as_a_whole)
{
    play self = start(LOG_REWARD_FIRST, 0);
    decide_slots(&self, "r", "tm", 1, true, NULL);
    reward(&self, "r\037m", 2);
    assert_int_equal(activate(&self, "r\037t"), REWARD_JOINED); /* one alone */
    assert_int_equal(activate(&self, "r"), REWARD_JOINED);
    assert_int_equal(activate(&self, "r"), REWARD_REPEATED);
    decide_slots(&self, "q", "tm", 1, true, NULL);
    self.now += 11 * SECOND;
    assert_int_equal(settle(&self, 100), 3);
    assert_int_equal(activate(&self, "q"), REWARD_LATE);
    end(&self, "D r/t; D r/m; R r/m 2 joined 2; A r/t joined 1; A r joined 2; S 2 2 rewarded; D q/t; D q/m; "
               "S 1 0 default; S 7 0 inactive; S 8 0 inactive; A q late 7; A q late 8; ");
}

/* What came before a round is claimed after its last slot: the slots follow each other. */
TEST(what_comes_before_a_round)
{
    play self = start(LOG_REWARD_FIRST, 0);
    reward(&self, "r\037t", 2);
    activate(&self, "r");
    reward(&self, "r", 3);
    assert_int_equal(decide_slots(&self, "r", "tm", 1, true, NULL), ENTRY_DONE);
    assert_int_equal(bandit_of(&self)->unclaimed, 0);
    end(&self, "R r/t 2 unknown 0; A r unknown 0; R r 3 unknown 0; D r/t; D r/m; R r/t 2 claimed 4; A r claimed 4; "
               "S 4 2 rewarded; A r claimed 5; R r 3 repeated 4; ");
}

/* Retention takes a round whole or not at all, and its id with it. */
TEST(a_round_is_removed_as_a_whole)
{
    play self = start(LOG_REWARD_FIRST, 0);
    bool more;
    decide_slots(&self, "r", "tme", 1, false, NULL);
    reward(&self, "r\037t", 2);
    reward(&self, "r\037m", 2);
    self.now += SECOND;
    ok(store_remove(self.store, 1, self.now, 1000, 100, &more, NULL));
    assert_int_equal(decide_slots(&self, "r", "tme", 1, false, NULL), ENTRY_REPEATED); /* a slot waits */
    reward_as(&self, "r\037e", 2, "id");
    ok(store_remove(self.store, 1, self.now, 3, 100, &more, NULL)); /* a restart needs a slot */
    assert_int_equal(decide_slots(&self, "r", "tme", 1, false, NULL), ENTRY_REPEATED);
    ok(store_remove(self.store, 1, self.now, 1000, 1, &more, NULL));
    assert_true(more); /* more than one event, since three belong together */
    uint64_t first;
    assert_int_equal(decide_slots(&self, "r", "tm", 2, false, &first), ENTRY_DONE);
    assert_int_equal(first, 10);
    assert_int_equal(reward_as(&self, "r\037e", 3, "id").event.outcome, REWARD_UNKNOWN);
    stop(&self);
}

/* ---- groups ---- */

enum { STEPS = 160, IDS = 12 };

/* A made-up entry: few ids, so that all meet each other. */
typedef struct made_entry {
    char id[16], reward_id[4];
    store_entry entry;
} made_entry;

static uint64_t draw(uint64_t *chance, uint64_t below)
{
    *chance = *chance * 6364136223846793005u + 1442695040888963407u;
    return (*chance >> 33) % below;
}

static void make_entry(made_entry *made, uint64_t *chance)
{
    uint64_t kind = draw(chance, 10);
    snprintf(made->id, sizeof made->id, "%c", (char)('a' + draw(chance, IDS)));
    made->entry = (store_entry){.bandit = (uint32_t)draw(chance, 2) + 1, .request = {draw(chance, 4) == 0, 7}};
    event *what = &made->entry.event;
    what->id = words(made->id);
    what->kind = kind < 4 ? EVENT_DECISION : kind < 8 ? EVENT_REWARD : kind == 8 ? EVENT_ACTIVATED : EVENT_STEP;
    if (what->kind == EVENT_DECISION) made->entry.deferred = draw(chance, 3) == 0;
    if (what->kind == EVENT_STEP) what->id = words("");
    if (what->kind != EVENT_REWARD) return;
    what->value = (double)draw(chance, 3);
    if (draw(chance, 2)) return;
    snprintf(made->reward_id, sizeof made->reward_id, "%d", (int)draw(chance, 3));
    what->reward_id = words(made->reward_id);
}

static void add_line(void *context, const char *row)
{
    text_add(context, "%s\n", row);
}

/* Writes the made-up entries in groups of at most `together`; each starts a step of time. The store is opened again
 * after some of them. Returns the log with all tables that joining has, and the verdicts. */
static text write_made(uint64_t seed, size_t together, log_aggregation aggregation)
{
    static made_entry made[STEPS];
    play self = start(aggregation, 0.5);
    const char *where = self.place.where;
    joining_rules rules = bandit_of(&self)->rules;
    store_close(self.store);
    raw_log raw = raw_begin(where);
    raw_add_bandit(&raw, 2, "news");
    raw_commit(&raw);
    ok(store_open(where, &self.store, NULL));
    skip_syncs(self.store);
    uint64_t chance = seed;
    text out = text_start(NULL);
    for (size_t i = 0; i < STEPS; i++) make_entry(&made[i], &chance);
    for (size_t first = 0; first < STEPS; first += 8) { /* eight at the same time, however they are grouped */
        const uint32_t both[] = {1, 2};
        self.now += (int64_t)draw(&chance, 4) * SECOND;
        for (size_t i = first; i < first + 8; i += together) {
            size_t end_of_group = i + together < first + 8 ? i + together : first + 8;
            for (size_t k = i; k + 1 < end_of_group; k++) made[k].entry.next = &made[k + 1].entry;
            state_of(self.store, 1)->rules = state_of(self.store, 2)->rules = rules;
            store_group group = {.first = &made[i].entry, .now = self.now, .settle_each = 100, .settle_total = 100};
            if (end_of_group == first + 8) {
                group.due = both;
                group.due_count = 2;
            }
            ok(store_write(self.store, &group, NULL));
            if (draw(&seed, 8)) continue;
            store_close(self.store);
            ok(store_open(where, &self.store, NULL));
            skip_syncs(self.store);
        }
    }
    for (size_t i = 0; i < STEPS; i++)
        text_add(&out, "%d %d %d\n", (int)made[i].entry.verdict, (int)made[i].entry.event.outcome,
                 (int)made[i].entry.event.number);
    for (uint32_t i = 1; i <= 2; i++)
        text_add(&out, "%d waiting, %d unclaimed\n", (int)state_of(self.store, i)->waiting,
                 (int)state_of(self.store, i)->unclaimed);
    static const char *const tables[] = {"SELECT * FROM events ORDER BY 1",
                                         "SELECT * FROM decisions ORDER BY 1",
                                         "SELECT * FROM ids ORDER BY 1, 2",
                                         "SELECT * FROM reward_ids ORDER BY 1, 2, 3",
                                         "SELECT * FROM unclaimed ORDER BY 1, 2, 3",
                                         "SELECT number, name, archived, settled_to FROM bandits ORDER BY 1"};
    raw = raw_begin(where);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) raw_show(&raw, tables[i], add_line, &out);
    raw_commit(&raw);
    stop(&self);
    return out;
}

/* However entries are grouped, and whatever was in memory or in the store, the result is the same. */
TEST(groups_do_not_matter)
{
    const log_aggregation rules[] = {LOG_REWARD_FIRST, LOG_REWARD_SUM};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        text alone = write_made(seed, 1, rules[seed % 2]);
        for (size_t together = 3; together <= 8; together += 5) {
            text grouped = write_made(seed, together, rules[seed % 2]);
            assert_string_equal(grouped.bytes, alone.bytes);
            memory_free(grouped.bytes);
        }
        memory_free(alone.bytes);
    }
}

/* A group that fails leaves the store and what is known of the bandits as before. */
TEST(a_group_that_fails_changes_nothing)
{
    play self = start(LOG_REWARD_FIRST, 0);
    ee_error error = {0};
    decide(&self, "a");
    bandit_settings settings = bandit_settings_usual();
    store_entry made = {
        .event = {.kind = EVENT_SETTINGS, .body = "{}", .size = 2}, .settings = &settings, .name = words("new")};
    store_entry rewarded = {.bandit = 1, .event = {.kind = EVENT_REWARD, .id = words("a"), .value = 1}};
    store_entry early = {.bandit = 1, .event = {.kind = EVENT_REWARD, .id = words("b"), .value = 1}};
    made.next = &early;
    early.next = &rewarded;
    bandit_state before = *bandit_of(&self);
    store_group group = {.first = &made, .now = self.now - 1}; /* before the last event */
    assert_int_equal(store_write(self.store, &group, &error), EE_BAD_INPUT);
    assert_message_has(error.message, "cannot follow event 1");
    assert_memory_equal(bandit_of(&self), &before, sizeof before);
    assert_int_equal(store_bandit_count(self.store), 1);
    assert_int_equal(made.bandit, 0);
    for (const store_entry *entry = &made; entry; entry = entry->next) {
        assert_int_equal(entry->verdict, ENTRY_FAILED);
        assert_string_equal(entry->error.message, error.message);
    }
    group.now = self.now;
    ok(store_write(self.store, &group, &error));
    assert_int_equal(made.bandit, 2);
    assert_int_equal(store_bandit_count(self.store), 2);
    end(&self, "D a; R b 1 unknown 0; R a 1 joined 1; S 1 1 rewarded; ");
}
