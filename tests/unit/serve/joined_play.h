/* What the tests of the settled log share: a store with a bandit whose decisions and rewards are joined as the journal
 * does it, at a time that the test sets. */
#ifndef EENET_JOINED_PLAY_H
#define EENET_JOINED_PLAY_H

#include "serve/log/settled_reader.h"
#include "serve/store_writer.h"

static const int64_t START = 1700000000000000; /* microseconds: 14 November 2023 */

static struct play {
    test_place place;
    store *store;
    int64_t now;
} play;

static inline int start(void **state)
{
    (void)state;
    play = (struct play){.place = test_place_make(), .now = START};
    play.store = open_bare(play.place.where, &(joining_rules){.wait = 10000000, .aggregation = LOG_REWARD_FIRST});
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    store_close(play.store);
    test_place_remove(&play.place);
    return 0;
}

static inline void set_mode(const char *json)
{
    bandit_settings settings = bandit_settings_usual();
    settings.joining = state_of(play.store, 1)->rules;
    store_entry entry = {
        .bandit = 1, .event = {.kind = EVENT_SETTINGS, .body = json, .size = strlen(json)}, .settings = &settings};
    assert_int_equal(write_entry(play.store, &entry, play.now), ENTRY_DONE);
}

/* bodies: of all slots, if it has some. */
static inline void decide(const char *id, const decision_body *bodies)
{
    write_decision(play.store, 1, id, bodies, play.now);
}

static inline void reward(const char *id, double value)
{
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_REWARD, .id = words(id), .value = value}};
    write_entry(play.store, &entry, play.now);
}

static inline void settle(void)
{
    play.now += 11000000;
    settle_some(play.store, 1, play.now, 1000000);
}

static const log_range everything = {.from = INT64_MIN, .until = INT64_MAX};

#endif
