/* Random groups of entries for a store, with few ids so that all meet each other: decisions, rounds of slots, rewards
 * with metrics, activations, settings, steps and checkpoints. The same seed draws the same. */
#ifndef EENET_RANDOM_LOG_H
#define EENET_RANDOM_LOG_H

#include <math.h>

#include "base/random.h"
#include "serve/store_writer.h"

enum { TOGETHER = 12 };

typedef struct random_log {
    random_stream chance;
    int64_t now;
    uint32_t bandits;
    uint64_t ids;
} random_log;

typedef struct drawn {
    store_entry entries[TOGETHER];
    size_t count;
    char ids[TOGETHER][80], reward_ids[TOGETHER][16];
    uint8_t metrics[TOGETHER][METRIC_VALUES_SIZE];
    bandit_settings settings[TOGETHER];
    memory owner; /* of bodies */
} drawn;

static inline uint64_t draw(random_log *self, uint64_t below)
{
    return random_below(&self->chance, below);
}

static inline void draw_decision(random_log *self, drawn *into, const char *id, size_t slots)
{
    static const double probabilities[] = {0.25, 0.75};
    static const float values[] = {1, 2, 3, 4};
    static const uint8_t record[2000] = {1, 2, 3};
    size_t first = into->count, record_size = draw(self, 10) ? 6 : draw(self, sizeof record);
    uint32_t bandit = 1 + (uint32_t)draw(self, self->bandits);
    bool deferred = draw(self, 4) == 0;
    uint64_t request = 1 + (draw(self, 10) == 0);
    for (size_t i = 0; i < (slots ? slots : 1); i++, into->count++) {
        uint8_t *bytes = NULL;
        size_t size = 0, capacity = 0, at = first + i;
        decision_body body = {.request = {request, 7},
                              .count = 2,
                              .probabilities = probabilities,
                              .dim = 2,
                              .values = values,
                              .record = record,
                              .record_size = record_size,
                              .deferred = deferred,
                              .slot = {&"xyz"[i], slots > 0},
                              .slot_index = i,
                              .slot_count = slots};
        ok(decision_body_write(&body, &into->owner, &bytes, &size, &capacity, NULL));
        snprintf(into->ids[at], sizeof into->ids[at], "%s", id);
        into->entries[at] = (store_entry){
            .bandit = bandit,
            .event = {.kind = EVENT_DECISION,
                      .id = slots ? slot_decision_id(words(id), body.slot, into->ids[at]) : words(into->ids[at]),
                      .body = bytes,
                      .size = size},
            .request = {request, 7},
            .deferred = deferred,
            .slot_index = i,
            .slot_count = slots,
            .with_next = i + 1 < slots};
    }
}

static inline void draw_reward(random_log *self, drawn *into, store_entry *entry)
{
    char *reward_id = into->reward_ids[into->count];
    entry->event.value = draw(self, 10) ? (double)draw(self, 9) / 4 - 1 : -0.0;
    snprintf(reward_id, sizeof into->reward_ids[0], "%d", (int)draw(self, 4));
    if (draw(self, 2)) entry->event.reward_id = words(reward_id);
    if (draw(self, 2)) return;
    metric_values metrics = {.reward = draw(self, 2) ? entry->event.value : NAN,
                             .count = 2,
                             .list = {{"r", 1, (double)draw(self, 3)}, {"other", 1, 1}}};
    entry->event.body = into->metrics[into->count];
    entry->event.size = metric_values_write(&metrics, into->metrics[into->count]);
}

static inline void draw_settings(random_log *self, drawn *into, store_entry *entry)
{
    static const char *const json[] = {"{\"dim\":2,\"wait\":20}", "{\"dim\":2,\"wait\":30,\"aggregation\":\"sum\"}",
                                       "{\"dim\":2,\"wait\":30,\"metrics\":[{\"name\":\"r\",\"weight\":0.5}]}"};
    const char *chosen = json[draw(self, 3)];
    bandit_settings *settings = &into->settings[into->count];
    *settings = bandit_settings_usual();
    ok(bandit_settings_read(settings, chosen, strlen(chosen), SETTINGS_STORED, NULL));
    entry->event = (event){.kind = EVENT_SETTINGS, .body = chosen, .size = strlen(chosen)};
    entry->settings = settings;
}

static inline void draw_entry(random_log *self, drawn *into)
{
    char *id = into->ids[into->count], name[32];
    uint64_t kind = draw(self, 100), slots = kind < 8 ? 2 + draw(self, 2) : 0;
    if (into->count + slots > TOGETHER) slots = 0;
    bool of_round = slots || (kind >= 40 && draw(self, 4) == 0);
    snprintf(name, sizeof name, "%s-%d", of_round ? "round" : "id", (int)draw(self, self->ids));
    if (kind < 40) {
        draw_decision(self, into, name, slots);
        return;
    }
    store_entry *entry = &into->entries[into->count];
    snprintf(id, sizeof into->ids[0], "%s%s", name, of_round && draw(self, 2) ? "\x1fx" : "");
    *entry = (store_entry){.bandit = 1 + (uint32_t)draw(self, self->bandits), .event = {.id = words(id)}};
    entry->event.kind = kind < 75 ? EVENT_REWARD : EVENT_ACTIVATED;
    if (kind < 75) draw_reward(self, into, entry);
    if (kind == 92) draw_settings(self, into, entry);
    if (kind >= 96)
        *entry = (store_entry){.bandit = entry->bandit, .event = {.kind = EVENT_STEP, .body = "step", .size = 4}};
    into->count++;
}

/* A chain of 1 to `most` entries, a while after the last. */
static inline void draw_group(random_log *self, drawn *into, size_t most)
{
    into->count = 0;
    self->now += (int64_t)draw(self, 4000000);
    do draw_entry(self, into);
    while (into->count < most && draw(self, 12));
}

static inline void drawn_chain(drawn *self)
{
    for (size_t i = 0; i < self->count; i++) self->entries[i].next = i + 1 < self->count ? &self->entries[i + 1] : NULL;
}

static inline void drawn_release(drawn *self)
{
    memory_release(&self->owner);
    self->owner = (memory){0};
}

/* A step and a checkpoint, with a model of so many bytes. Returns the model's number. */
static inline uint64_t write_checkpoint(store *kept, uint32_t bandit, int64_t now, size_t size)
{
    store_entry step = {.bandit = bandit, .event = {.kind = EVENT_STEP, .body = "0123456701234567", .size = 16}};
    assert_int_equal(write_entry(kept, &step, now), ENTRY_DONE);
    uint8_t *model = malloc(size), *body;
    size_t body_size;
    for (size_t i = 0; i < size; i++) model[i] = (uint8_t)(i * i >> 3);
    uint64_t checksum = archive_checksum(model, size - 8);
    for (size_t i = 0; i < 8; i++) model[size - 8 + i] = (uint8_t)(checksum >> 8 * i);
    checkpoint_body about = {.version = step.event.number,
                             .upto = step.event.number - 1,
                             .checksum = checkpoint_checksum(model, size),
                             .size = size,
                             .state = "state",
                             .state_size = 5};
    ok(blob_put(store_blobs(kept), blob_model(bandit, about.version), model, size, NULL));
    ok(checkpoint_body_write(&about, NULL, &body, &body_size, NULL));
    store_entry entry = {.bandit = bandit, .event = {.kind = EVENT_CHECKPOINT, .body = body, .size = body_size}};
    assert_int_equal(write_entry(kept, &entry, now), ENTRY_DONE);
    memory_free(body);
    free(model);
    return about.version;
}

#endif
