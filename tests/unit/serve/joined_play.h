/* What the tests of the settled log share: a store with a bandit whose decisions and rewards are joined as the journal
 * does it, at a time that the test sets. */
#ifndef EENET_JOINED_PLAY_H
#define EENET_JOINED_PLAY_H

#include "serve/log/settled_reader.h"
#include "serve/store_writer.h"

static const int64_t START = 1700000000000000; /* microseconds: 14 November 2023 */

typedef struct play {
    test_place place;
    store *store;
    int64_t now;
} play;

static inline play start(void)
{
    play self = {.place = test_place_make(), .now = START};
    self.store = open_bare(self.place.where, &(joining_rules){.wait = 10000000, .aggregation = LOG_REWARD_FIRST});
    return self;
}

static inline void end(play *self)
{
    store_close(self->store);
    test_place_remove(&self->place);
}

static inline void set_mode(play *self, const char *json)
{
    bandit_settings settings = bandit_settings_usual();
    settings.joining = state_of(self->store, 1)->rules;
    store_entry entry = {
        .bandit = 1, .event = {.kind = EVENT_SETTINGS, .body = json, .size = strlen(json)}, .settings = &settings};
    assert_int_equal(write_entry(self->store, &entry, self->now), ENTRY_DONE);
}

static inline void decide(play *self, const char *id, const decision_body *body)
{
    uint8_t *bytes = NULL;
    size_t size = 0, capacity = 0;
    ok(decision_body_write(body, NULL, &bytes, &size, &capacity, NULL));
    store_entry entry = {.bandit = 1,
                         .event = {.kind = EVENT_DECISION, .id = words(id), .body = bytes, .size = size},
                         .deferred = body->deferred,
                         .slot_index = body->slot_index,
                         .slot_count = body->slot_count};
    write_entry(self->store, &entry, self->now);
    memory_free(bytes);
}

/* The slots of a round, whose ids are made of the round's. */
static inline void decide_slots(play *self, const char *id, const decision_body *bodies)
{
    enum { MOST = 8 };
    store_entry entries[MOST] = {0};
    char ids[MOST][64];
    size_t count = bodies[0].slot_count;
    for (size_t i = 0; i < count; i++) {
        uint8_t *bytes = NULL;
        size_t size = 0, capacity = 0;
        ok(decision_body_write(&bodies[i], NULL, &bytes, &size, &capacity, NULL));
        entries[i] = (store_entry){
            .bandit = 1,
            .event = {.kind = EVENT_DECISION,
                      .id = slot_decision_id(words(id), bodies[i].slot, ids[i]),
                      .body = bytes,
                      .size = size},
            .deferred = bodies[i].deferred,
            .slot_index = i,
            .slot_count = count,
            .with_next = i + 1 < count,
            .next = i + 1 < count ? &entries[i + 1] : NULL,
        };
    }
    write_entries(self->store, entries, self->now);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(entries[i].verdict, ENTRY_DONE);
        memory_free((void *)entries[i].event.body);
    }
}

static inline void reward(play *self, const char *id, double value)
{
    store_entry entry = {.bandit = 1, .event = {.kind = EVENT_REWARD, .id = words(id), .value = value}};
    write_entry(self->store, &entry, self->now);
}

static inline void settle(play *self)
{
    self->now += 11000000;
    settle_some(self->store, 1, self->now, 1000000);
}

static const log_range everything = {.from = INT64_MIN, .until = INT64_MAX};

#endif
