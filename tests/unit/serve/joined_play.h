/* What the tests of the settled log share: a store with a bandit whose decisions and rewards are joined as the journal
 * does it, at a time that the test sets, in one transaction that the test commits. */
#ifndef EENET_JOINED_PLAY_H
#define EENET_JOINED_PLAY_H

#include "serve/journal/joining.h"
#include "serve/log/settled_reader.h"
#include "support_files.h"

static const int64_t START = 1700000000000000; /* microseconds: 14 November 2023 */

typedef struct play {
    test_folder folder;
    store *store;
    joined_bandit bandit;
    journal_counts counts;
    int64_t now;
} play;

static inline play start(void)
{
    play self = {.folder = folder_make(), .now = START};
    ee_error error = {0};
    if (store_open(folder_path(&self.folder, "store"), &self.store, &error)) fail_msg("%s", error.message);
    assert_int_equal(store_begin(self.store, NULL), EE_OK);
    assert_int_equal(store_add_bandit(self.store, (json_text){"shop", 4}, &self.bandit.number, NULL), EE_OK);
    self.bandit.deadline = INT64_MAX;
    self.bandit.rules = (joining_rules){10000000, 0, LOG_REWARD_FIRST};
    return self;
}

static inline void end(play *self)
{
    store_close(self->store);
    folder_remove(&self->folder);
}

static inline void set_mode(play *self, const char *json)
{
    event settings = {.kind = EVENT_SETTINGS, .body = json, .size = strlen(json)};
    assert_int_equal(joining_append(self->store, &self->bandit, &settings, self->now, NULL), EE_OK);
}

static inline void decide(play *self, const char *id, const decision_body *body)
{
    uint8_t *bytes = NULL;
    size_t size = 0, capacity = 0;
    assert_int_equal(decision_body_write(body, NULL, &bytes, &size, &capacity, NULL), EE_OK);
    journal_entry entry = {.event = {.kind = EVENT_DECISION, .id = {id, strlen(id)}, .body = bytes, .size = size},
                           .deferred = body->deferred,
                           .slot_index = body->slot_index,
                           .slot_count = body->slot_count};
    assert_int_equal(joining_decision(self->store, &self->bandit, &entry, self->now, &self->counts, NULL), EE_OK);
    memory_free(bytes);
}

/* The slots of a round, whose ids are made of the round's. */
static inline void decide_slots(play *self, const char *id, const decision_body *bodies)
{
    enum { MOST = 8 };
    journal_entry entries[MOST] = {0};
    char ids[MOST][64];
    size_t count = bodies[0].slot_count;
    for (size_t i = 0; i < count; i++) {
        uint8_t *bytes = NULL;
        size_t size = 0, capacity = 0;
        assert_int_equal(decision_body_write(&bodies[i], NULL, &bytes, &size, &capacity, NULL), EE_OK);
        entries[i] = (journal_entry){
            .event = {.kind = EVENT_DECISION,
                      .id = slot_decision_id((json_text){id, strlen(id)}, bodies[i].slot, ids[i]),
                      .body = bytes,
                      .size = size},
            .deferred = bodies[i].deferred,
            .slot_index = i,
            .slot_count = count,
            .with_next = i + 1 < count,
            .next = i + 1 < count ? &entries[i + 1] : NULL,
        };
    }
    assert_int_equal(joining_decision(self->store, &self->bandit, entries, self->now, &self->counts, NULL), EE_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(entries[i].verdict, JOURNAL_DONE);
        memory_free((void *)entries[i].event.body);
    }
}

static inline void reward(play *self, const char *id, double value)
{
    journal_entry entry = {.event = {.kind = EVENT_REWARD, .id = {id, strlen(id)}, .value = value}};
    assert_int_equal(joining_reward(self->store, &self->bandit, &entry, self->now, &self->counts, NULL), EE_OK);
}

static inline void settle(play *self)
{
    size_t settled;
    self->now += 11000000;
    assert_int_equal(joining_settle(self->store, &self->bandit, self->now, 1000000, &settled, &self->counts, NULL),
                     EE_OK);
}

static const log_range everything = {.from = INT64_MIN, .until = INT64_MAX};

#endif
