/* Live evaluation of one bandit on a log that the test writes: how far it goes, what a state that was saved is worth,
 * and whom a request may promote. */
#include "serve/live_play.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "serve/live/live_entry.h"

enum { ACTIONS = 2, DIM = 2 };

static const char challenged[] = "{\"policy\":\"uniform\",\"dim\":2,\"challengers\":[{\"name\":\"linear\",\"policy\":"
                                 "\"linucb\",\"number\":1}],\"tests\":1}";
static const char alone[] = "{\"policy\":\"uniform\",\"dim\":2,\"tests\":1}";

/* Action 1 earns, action 0 does not. */
static void decide_some(int from, int count, bool rewards)
{
    static const double probabilities[ACTIONS] = {0.5, 0.5};
    for (int i = from; i < from + count; i++) {
        char id[32];
        size_t action = (size_t)(i * 7 % 3 == 0);
        float values[ACTIONS * DIM] = {1, 0, 0, 1};
        decision_body body = {.count = ACTIONS,
                              .action = action,
                              .choice = action,
                              .probabilities = probabilities,
                              .dim = DIM,
                              .values = values};
        snprintf(id, sizeof id, "d%d", i);
        play.now += 1000;
        decide(id, &body);
        if (rewards) reward(id, (double)action);
    }
}

static int start_challenged(void **state)
{
    start(state);
    set_mode(challenged);
    return 0;
}

/* ---- the order ---- */

TEST_WITH(it_goes_up_to_the_first_that_waits, start_challenged, finish)
{
    decide_some(0, 5, true);
    decide_some(5, 1, false);
    decide_some(6, 5, true);
    watched = watch(challenged);
    assert_int_equal(live_track_events(watched.tracks[0]), 5);
    settle();
    take_all(&watched);
    for (size_t i = 0; i < watched.track_count; i++) assert_int_equal(live_track_events(watched.tracks[i]), 11);
}

/* What came after the settings were looked at may be decided under others. */
TEST_WITH(nothing_is_taken_above_the_event_that_is_named, start_challenged, finish)
{
    bool more = false;
    decide_some(0, 5, true);
    uint64_t last = state_of(play.store, 1)->events;
    decide_some(5, 5, true);
    watched = open_live(challenged);
    ok(live_bandit_turn(&watched, last, &more, NULL));
    assert_int_equal(live_track_events(watched.tracks[0]), 5);
    assert_true(more);
    take_all(&watched);
    assert_int_equal(live_track_events(watched.tracks[0]), 10);
}

/* What lies beyond the range counts as its nearest end, in slots too. */
TEST_WITH(rewards_lie_in_the_range, start_challenged, finish)
{
    static const double probabilities[2][ACTIONS] = {{0.5, 0.5}, {0, 1}};
    static const uint8_t excluded[2][ACTIONS] = {{0, 0}, {EXCLUDED_BY_SLOT, 0}};
    float values[ACTIONS * DIM] = {1, 0, 0, 1};
    decision_body slots[2];
    for (size_t i = 0; i < 2; i++)
        slots[i] = (decision_body){.count = ACTIONS,
                                   .action = i,
                                   .choice = i,
                                   .probabilities = probabilities[i],
                                   .excluded = excluded[i],
                                   .dim = DIM,
                                   .values = values,
                                   .slot = {i ? "b" : "a", 1},
                                   .slot_index = i,
                                   .slot_count = 2};
    decide("r", slots);
    reward("r\037a", 5);
    reward("r\037b", 7);
    decide_some(0, 1, false);
    reward("d0", 9);
    watched = watch(challenged);
    estimate now = live_track_estimate(watched.tracks[0]);
    assert_true(now.value == 1.0);
}

/* ---- limits ---- */

/* Decisions among three actions of which a rule excludes the last: the first has a share of 0.8 at least, or a boost
 * that outweighs every reward. */
typedef struct limited {
    const char *policy;
    bool boosts, slots, named;
} limited;

enum { LIMITED = 3 };
static const float limited_values[LIMITED * DIM] = {1, 0, 0, 1, 1, 1};

static decision_body limited_body(const limited *how, bool second)
{
    static const double shared[LIMITED] = {0.8, 0.2, 0}, boosted[LIMITED] = {0.9, 0.1, 0}, low = 0.8, high = 1;
    static const uint8_t excluded[LIMITED] = {0, 0, EXCLUDED_BY_RULE};
    static const float boosts[LIMITED] = {100, 0, 50};
    static const uint32_t shares[LIMITED] = {0, 1, 0};
    static const json_text names[LIMITED] = {{"a", 1}, {"b", 1}, {"c", 1}};
    static const char context[] = "{\"sun\":1,\"_multi\":[{\"_tag\":\"a\",\"x\":1},{\"_tag\":\"b\",\"x\":2},"
                                  "{\"_tag\":\"c\",\"x\":3}]}";
    static const decision_guard by_boost = {.present = true, .boosts = boosts},
                                by_share = {
                                    .present = true, .shares = shares, .share_count = 1, .low = &low, .high = &high};
    decision_body made = {.count = LIMITED,
                          .action = second,
                          .choice = second,
                          .probabilities = how->boosts ? boosted : shared,
                          .excluded = excluded,
                          .guard = how->boosts ? by_boost : by_share};
    if (how->named) {
        made.context = (json_text){context, sizeof context - 1};
        made.names = names;
    } else {
        made.dim = DIM;
        made.values = limited_values;
    }
    return made;
}

/* The second slot of a round gets what is left. */
static void decide_limited_slots(const char *id, const decision_body *first)
{
    static const double last[LIMITED] = {0, 0, 1};
    static const uint8_t excluded[LIMITED] = {EXCLUDED_BY_SLOT, EXCLUDED_BY_SLOT, 0};
    decision_body slots[2] = {*first, *first};
    for (size_t i = 0; i < 2; i++) {
        slots[i].slot = (json_text){i ? "t" : "s", 1};
        slots[i].slot_index = i;
        slots[i].slot_count = 2;
    }
    slots[1].action = slots[1].choice = slots[1].baseline = 2;
    slots[1].probabilities = last;
    slots[1].excluded = excluded;
    decide(id, slots);
}

static void decide_limited(const limited *how, int count)
{
    for (int i = 0; i < count; i++) {
        char id[32], reward_id[40];
        bool second = i % (how->boosts ? 10 : 5) == 0;
        decision_body body = limited_body(how, second);
        snprintf(id, sizeof id, "d%d", i);
        snprintf(reward_id, sizeof reward_id, "%s%s", id, how->slots ? "\037s" : "");
        play.now += 1000;
        if (how->slots)
            decide_limited_slots(id, &body);
        else
            decide(id, &body);
        reward(reward_id, second ? 1 : i % 3 / 2.0);
        if (!how->slots) continue;
        snprintf(reward_id, sizeof reward_id, "%s\037t", id);
        reward(reward_id, 0.5);
    }
}

/* A challenger that decides as the bandit does earns what the bandit earns, also if limits change what both would do.
 * Otherwise it would be promoted because it need not pay for them. */
TEST(challengers_decide_within_the_limits)
{
    static const char uniform[] = "\"uniform\"", draws[] = "\"linucb\",\"propensity\":\"floor:1\"",
                      greedy[] = "\"linucb\",\"propensity\":\"floor:0.2\"";
    static const limited ways[] = {{.policy = uniform},
                                   {.policy = draws},
                                   {.policy = draws, .slots = true},
                                   {.policy = draws, .named = true},
                                   {.policy = greedy, .boosts = true},
                                   {.policy = greedy, .boosts = true, .slots = true},
                                   {.policy = greedy, .boosts = true, .named = true}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char settings[400];
        snprintf(settings, sizeof settings,
                 "{\"policy\":%s,%s,\"challengers\":[{\"name\":\"copy\",\"policy\":%s,\"number\":1}],\"tests\":1}",
                 ways[i].policy, ways[i].named ? "\"features\":\"names=64\"" : "\"dim\":2", ways[i].policy);
        start(NULL);
        set_mode(settings);
        decide_limited(&ways[i], 200);
        watched = watch(settings);
        const live_track *copy = live_bandit_find(&watched, "copy");
        if (live_track_failure(copy)) fail_msg("%s", live_track_failure(copy)->message);
        estimate now = live_track_estimate(copy), online = live_track_estimate(watched.tracks[LIVE_ONLINE]);
        assert_int_equal(live_track_events(copy), ways[i].slots ? 400 : 200);
        assert_true(fabs(now.gain) < 1e-9 && fabs(now.value - online.value) < 1e-9);
        assert_true(copy->won == 0);
        finish(NULL);
    }
}

/* A bandit that decides so many times among the first, or the last, two of three actions; one earns, the other not. */
static live_bandit watch_two(const char *settings, bool last, int count)
{
    static const double probabilities[2][LIMITED] = {{0.5, 0.5, 0}, {0, 0.5, 0.5}};
    static const uint8_t excluded[2][LIMITED] = {{0, 0, EXCLUDED_BY_CAP}, {EXCLUDED_BY_RULE, 0, 0}};
    set_mode(settings);
    for (int i = 0; i < count; i++) {
        char id[32];
        size_t action = (size_t)(last + i % 2);
        decision_body body = {.count = LIMITED,
                              .action = action,
                              .choice = action,
                              .baseline = last,
                              .probabilities = probabilities[last],
                              .excluded = excluded[last],
                              .dim = DIM,
                              .values = limited_values};
        snprintf(id, sizeof id, "d%d", i);
        play.now += 1000;
        decide(id, &body);
        reward(id, i % 2);
    }
    return watch(settings);
}

/* As a cap excludes it: uniform choice is that among the others. */
TEST_WITH(uniform_choice_is_among_what_is_left, start, finish)
{
    watched = watch_two(challenged, false, 20);
    assert_true(fabs(live_track_estimate(watched.tracks[LIVE_UNIFORM]).value - 0.5) < 1e-9);
}

/* Without ids an arm is its place among those that are left, as for the bandit itself. */
TEST_WITH(challengers_learn_from_what_is_left, start, finish)
{
    static const char settings[] = "{\"policy\":\"uniform\",\"dim\":2,\"challengers\":[{\"name\":\"counting\","
                                   "\"policy\":\"ucb1\",\"propensity\":\"floor:0.2\",\"number\":1}],\"tests\":1}";
    watched = watch_two(settings, true, 200);
    const live_track *counting = live_bandit_find(&watched, "counting");
    if (live_track_failure(counting)) fail_msg("%s", live_track_failure(counting)->message);
    assert_true(live_track_estimate(counting).value > 0.8);
    assert_true(counting->won > 0);
}

/* ---- from when on ---- */

static void replace_model(void)
{
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_MODEL}};
    assert_int_equal(write_entry(play.store, &entry, play.now), ENTRY_DONE);
}

static uint64_t events_of(const live_bandit *of, const char *challenger)
{
    return live_track_events(live_bandit_find(of, challenger));
}

/* A challenger is judged from the decisions on after it was named, however late that is seen, and anew with another
 * number; all are where the model is another. */
TEST_WITH(who_is_judged_from_when_on, start, finish)
{
    static const char renumbered[] = "{\"policy\":\"uniform\",\"dim\":2,\"challengers\":[{\"name\":\"linear\","
                                     "\"policy\":\"linucb\",\"number\":2}],\"tests\":2}";
    set_mode(alone);
    decide_some(0, 10, true);
    set_mode(challenged);
    decide_some(10, 20, true);
    watched = watch(challenged);
    assert_int_equal(live_track_events(watched.tracks[0]), 30);
    assert_int_equal(events_of(&watched, "linear"), 20);
    assert_int_equal(live_bandit_find(&watched, "linear")->seen, 30); /* it has learned from all */
    set_mode(renumbered);
    decide_some(30, 5, true);
    take_all(&watched);
    assert_int_equal(live_track_events(watched.tracks[0]), 35);
    assert_int_equal(events_of(&watched, "linear"), 5);
    assert_true(live_bandit_find(&watched, "linear")->alpha < live_alpha(0.95, 1) / 2.5);
    replace_model();
    decide_some(35, 7, true);
    take_all(&watched);
    for (size_t i = 0; i < LIVE_FIXED; i++) assert_int_equal(live_track_events(watched.tracks[i]), 7);
}

/* ---- states that were saved ---- */

static void assert_same_tracks(const live_bandit *a, const live_bandit *b)
{
    assert_int_equal(a->track_count, b->track_count);
    for (size_t i = 0; i < a->track_count; i++) {
        estimate left = live_track_estimate(a->tracks[i]), right = live_track_estimate(b->tracks[i]);
        assert_string_equal(live_track_name(a->tracks[i]), live_track_name(b->tracks[i]));
        assert_memory_equal(&left, &right, sizeof left);
        assert_int_equal(a->tracks[i]->won, b->tracks[i]->won);
        double more = live_track_evidence(a->tracks[i]), less = live_track_evidence(b->tracks[i]);
        if (a->tracks[i]->kind == LIVE_CHALLENGER) assert_memory_equal(&more, &less, sizeof more);
    }
}

static char *state_path(void)
{
    char *path = NULL;
    ok(file_join(play.place.where, "live/1.state", &path, NULL));
    return path;
}

static void damage(void)
{
    char *path = state_path();
    uint8_t *bytes = NULL;
    size_t size = 0;
    ok(file_read(path, &bytes, &size, NULL));
    bytes[size / 2] ^= 1;
    ok(file_write(path, bytes, size, NULL));
    memory_free(bytes);
    memory_free(path);
}

TEST_WITH(a_state_is_as_if_the_log_had_been_taken, start_challenged, end)
{
    decide_some(0, 300, true);
    live_bandit saved = watch(challenged);
    ok(live_bandit_save(&saved, NULL));
    live_bandit_close(&saved);
    decide_some(300, 300, true);
    live_bandit loaded = open_live(challenged);
    assert_int_equal(live_track_events(loaded.tracks[0]), 300);
    take_all(&loaded);
    damage();
    live_bandit made = open_live(challenged);
    assert_int_equal(made.track_count, 0);
    take_all(&made);
    assert_int_equal(live_track_events(made.tracks[0]), 600);
    assert_true(live_bandit_find(&made, "linear")->won > 0);
    assert_same_tracks(&loaded, &made);
    live_bandit_close(&loaded);
    live_bandit_close(&made);
}

/* As of a folder in which an older copy of the store was put. */
TEST(a_state_that_has_more_than_the_log_is_made_again)
{
    static const int counts[] = {20, 50};
    struct play plays[2];
    for (size_t i = 0; i < 2; i++) {
        start_challenged(NULL);
        decide_some(0, counts[i], true);
        watched = watch(challenged);
        ok(live_bandit_save(&watched, NULL));
        live_bandit_close(&watched);
        plays[i] = play;
    }
    char *from = state_path();
    play = plays[0];
    char *to = state_path();
    assert_int_equal(rename(from, to), 0);
    memory_free(from);
    memory_free(to);
    watched = watch(challenged);
    assert_int_equal(live_track_events(watched.tracks[0]), 20);
    finish(NULL);
    play = plays[1];
    end(NULL);
}

/* The SETTINGS event that names nobody any more is removed before the state is read again. */
TEST_WITH(a_state_forgets_challengers_that_are_gone, start_challenged, end)
{
    bool more;
    decide_some(0, 20, true);
    live_bandit saved = watch(challenged);
    assert_int_equal(saved.track_count, LIVE_FIXED + 1);
    ok(live_bandit_save(&saved, NULL));
    live_bandit_close(&saved);
    set_mode(alone);
    uint64_t kept = state_of(play.store, 1)->events + 1;
    decide_some(20, 20, true);
    ok(store_remove(play.store, 1, INT64_MAX, kept, 1000, &more, NULL));
    live_bandit loaded = watch(alone);
    assert_int_equal(loaded.track_count, LIVE_FIXED);
    live_bandit_close(&loaded);
}

/* ---- who may be promoted ---- */

/* However many tests there are, all together are wrong as rarely as one may be. */
TEST(all_tests_share_one_alpha)
{
    double sum = 0.0;
    for (uint64_t j = 1; j <= 100000; j++) sum += live_alpha(0.95, j);
    assert_true(sum <= 0.05 + 1e-12 && sum > 0.0499);
}

TEST_WITH(a_request_promotes_nobody_who_lacks_much_of_the_log, start_challenged, end)
{
    ee_error error = {0};
    live_standing standing = {0};
    decide_some(0, 3000, true);
    live_entry entry = {.open = true, .state = open_live(challenged), .taken = state_of(play.store, 1)->events};
    if (live_bandit_turn(&entry.state, entry.taken, &entry.more, &error)) fail_msg("%s", error.message);
    assert_true(entry.more);
    assert_int_equal(live_entry_standing(&entry, "linear", 0, &standing, &error), EE_BAD_INPUT);
    assert_non_null(strstr(error.message, "has not learned the whole log yet"));
    assert_int_equal(live_entry_standing(&entry, "nobody", 0, &standing, &error), EE_BAD_INPUT);
    take_all(&entry.state);
    entry.more = false;
    if (live_entry_standing(&entry, "linear", 0, &standing, &error)) fail_msg("%s", error.message);
    assert_true(standing.won > 0 && standing.evidence > 1.0 && standing.now.gain > 0.0);
    assert_int_equal(standing.events, 3000);
    ee_bytes_free(standing.model);
    live_entry_put_away(&entry);
}
