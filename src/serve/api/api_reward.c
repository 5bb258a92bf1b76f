/* Rewards and activations: the journal decides their outcome. */
#include "call_items.h"
#include "handlers.h"

/* Refuses or counts rewards outside the range that the bandit's settings state. The log keeps a clipped reward as it
 * came: what is learned is the nearest end of the range. */
static ee_status check_rewards(call *self, ee_error *error)
{
    double low, high;
    bandit_counters *counters = service_counters(self->owner, served_bandit_number(self->bandit));
    outside_rule rule = served_bandit_rewards(self->bandit, &low, &high);
    if (rule == OUTSIDE_ACCEPT) return EE_OK;
    for (size_t i = self->first_item; i < self->item_count; i++) {
        double value = self->items[i].entry.event.value;
        if (self->items[i].metrics_only) continue;
        if (value >= low && value <= high) continue;
        if (counters)
            atomic_fetch_add_explicit(rule == OUTSIDE_REJECT ? &counters->rejected : &counters->clipped, 1,
                                      memory_order_relaxed);
        if (rule == OUTSIDE_REJECT)
            return status_fail(
                error, EE_BAD_INPUT,
                "the reward %.9g is outside the bandit's \"rewards\", %.9g to %.9g; correct it, or change "
                "\"rewards\" or \"outside\" in the bandit's settings",
                value, low, high);
    }
    return EE_OK;
}

static ee_status read_reward(call *self, call_item *item, json_reader *reader, const void *context, ee_error *error)
{
    (void)context;
    ee_status status = self->dialect->read_reward(self, item, reader, error);
    return status ? status : check_rewards(self, error);
}

static void count_outcome(bandit_counters *counters, event_outcome outcome)
{
    if (!counters) return;
    atomic_uint_fast64_t *counter = outcome == REWARD_JOINED     ? &counters->joined
                                    : outcome == REWARD_REPEATED ? &counters->repeated
                                    : outcome == REWARD_LATE     ? &counters->late
                                                                 : &counters->unknown;
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* For the dashboard. A reward that names no slot is not counted for one. */
static void count_activity(activity *into, const call_item *item)
{
    const journal_entry *entry = &item->entry;
    json_text slot;
    activity_rewarded(into, entry->bandit, entry->event.time / 1000000);
    slot_round_id(entry->event.id, &slot);
    if (slot.length && entry->event.outcome == REWARD_JOINED && !item->metrics_only)
        activity_slot_rewarded(into, entry->bandit, slot, entry->event.value);
}

/* Its outcome is known once it is delivered to the database. */
static void item_spooled(call *self, call_item *item)
{
    call_begin_answer(self, item);
    self->dialect->answer_spooled(&self->answers);
    call_end_answer(self, item, self->dialect->noted);
}

static void reward_written(journal_entry *entry)
{
    call *self = entry->context;
    call_item *item = (call_item *)((char *)entry - offsetof(call_item, entry));
    bandit_counters *counters = service_counters(self->owner, entry->bandit);
    bool repeated = entry->verdict == ENTRY_REPEATED;
    if (entry->verdict == ENTRY_CONFLICT) {
        call_item_refuse(self, item, 409,
                         "this reward_id was used with another value or other metrics; send a new reward_id");
    } else if (entry->verdict == ENTRY_FAILED || entry->verdict == ENTRY_MOVED) {
        call_item_failed(self, item);
    } else if (entry->verdict == ENTRY_SPOOLED) {
        activity_rewarded(self->owner->activity, entry->bandit, entry->event.time / 1000000);
        item_spooled(self, item);
    } else {
        count_outcome(counters, repeated ? REWARD_REPEATED : entry->event.outcome);
        if (!repeated) count_activity(self->owner->activity, item);
        call_begin_answer(self, item);
        self->dialect->answer_reward(&self->answers, entry->event.outcome, repeated);
        call_end_answer(self, item, self->dialect->noted);
    }
    call_item_done(self);
}

ee_status api_reward(call *self)
{
    self->member = NULL;
    ee_status status = call_read_items(self, read_reward, NULL);
    return status ? status : call_submit(self, reward_written);
}

ee_status api_reward_batch(call *self)
{
    self->member = "rewards";
    ee_status status = call_read_items(self, read_reward, NULL);
    return status ? status : call_submit(self, reward_written);
}

/* ---- activation ---- */

/* {"id": "a1"} */
static ee_status read_activation(call *self, call_item *item, json_reader *reader, const void *context, ee_error *error)
{
    (void)context;
    static const char *const names[] = {"id"};
    member_reader at = {.reader = reader, .names = names, .count = 1};
    item->entry.event = (event){.kind = EVENT_ACTIVATED};
    while (member_next(&at, error))
        at.status = decide_read_id(&self->request, reader, &at.token, "id", &item->entry.event.id, error);
    return at.status || at.seen ? at.status : status_fail(error, EE_BAD_INPUT, "missing \"id\"");
}

static void activation_written(journal_entry *entry)
{
    call *self = entry->context;
    call_item *item = (call_item *)((char *)entry - offsetof(call_item, entry));
    if (entry->verdict == ENTRY_FAILED || entry->verdict == ENTRY_MOVED) {
        call_item_failed(self, item);
    } else if (entry->verdict == ENTRY_SPOOLED) {
        item_spooled(self, item);
    } else {
        call_begin_answer(self, item);
        self->dialect->answer_activation(&self->answers, entry->event.outcome);
        call_end_answer(self, item, self->dialect->noted);
    }
    call_item_done(self);
}

/* Personalizer has the id in the path, and no body. */
static ee_status read_path(call *self)
{
    call_item *item;
    ee_status status = call_only_item(self, &item, &self->error);
    if (!status) item->entry.event.kind = EVENT_ACTIVATED;
    return status ? status : personalizer_event_id(self, &item->entry.event.id, &self->error);
}

ee_status api_activate(call *self)
{
    self->member = NULL;
    ee_status status = self->base.generation ? read_path(self) : call_read_items(self, read_activation, NULL);
    return status ? status : call_submit(self, activation_written);
}
