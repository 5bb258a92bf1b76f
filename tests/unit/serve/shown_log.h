/* The log of a bandit as words, to compare with: "D a; R a 1 joined 1; S 1 1 rewarded; ". A decision with its id; a
 * reward with the id that it is for, value, outcome and the number of its decision (0: not known); what was settled,
 * with the number of the decision, value and outcome; A as a reward, without a value; P, C, = and M for steps,
 * checkpoints, settings and models, ! for promotions. The mark within the id of a slot is shown as /. */
#ifndef EENET_TEST_SHOWN_LOG_H
#define EENET_TEST_SHOWN_LOG_H

#include "support.h"

#include "data/values/text.h"
#include "serve/store/store.h"

typedef struct shown_log {
    text words;
    uint64_t number;
    int64_t time;
} shown_log;

static inline void show_event(shown_log *self, const event *found)
{
    static const char *const outcomes[] = {"none",    "joined",   "repeated", "late",    "unknown",
                                           "claimed", "rewarded", "default",  "nothing", "inactive"};
    assert_int_equal(found->number, ++self->number);
    assert_true(found->time >= self->time);
    self->time = found->time;
    text_add(&self->words, "%c", " DRSPC=MA!"[found->kind]);
    if (found->kind == EVENT_DECISION || found->kind == EVENT_REWARD || found->kind == EVENT_ACTIVATED) {
        json_text slot, round_id = slot_round_id(found->id, &slot);
        text_add(&self->words, " %.*s", (int)round_id.length, round_id.bytes);
        if (slot.length) text_add(&self->words, "/%.*s", (int)slot.length, slot.bytes);
    }
    if (found->kind == EVENT_ACTIVATED)
        text_add(&self->words, " %s %d", outcomes[found->outcome], (int)found->decision);
    if (found->kind == EVENT_REWARD)
        text_add(&self->words, " %g %s %d", found->value, outcomes[found->outcome], (int)found->decision);
    if (found->kind == EVENT_SETTLED)
        text_add(&self->words, " %d %g %s", (int)found->decision, found->value, outcomes[found->outcome]);
    text_add(&self->words, "; ");
}

/* Compares the whole log. */
static inline void assert_log_is(store *kept, uint32_t bandit, const char *expected)
{
    store_reader *reader;
    shown_log shown = {.words = text_start(NULL)};
    event_batch batch = {0};
    text_add(&shown.words, "%s", "");
    ok(store_reader_create(kept, &reader, NULL));
    do {
        ok(store_read(reader, bandit, shown.number, ~0u, 1000, &batch, NULL));
        for (size_t i = 0; i < batch.count; i++) show_event(&shown, &batch.events[i]);
    } while (batch.count);
    event_batch_free(&batch);
    assert_string_equal(shown.words.bytes, expected);
    store_reader_free(reader);
    memory_free(shown.words.bytes);
}

#endif
