/* Rewards: they go to the journal as they are, which knows what becomes of them. */
#include "answers.h"
#include "reward_request.h"
#include "service_inside.h"

static ee_status read_reward(call *self, call_item *item, json_reader *reader, const void *context, ee_error *error)
{
    (void)context;
    reward_request reward;
    ee_status status = reward_request_read(&reward, reader, &self->request.texts, error);
    item->entry.event =
        (event){.kind = EVENT_REWARD, .id = reward.id, .value = reward.value, .reward_id = reward.reward_id};
    return status;
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

static void reward_written(journal_entry *entry)
{
    call *self = entry->context;
    call_item *item = (call_item *)((char *)entry - offsetof(call_item, entry));
    bandit_counters *counters = service_counters(self->owner, entry->bandit);
    bool repeated = entry->verdict == JOURNAL_REPEATED;
    if (entry->verdict == JOURNAL_CONFLICT) {
        call_item_refuse(self, item, 409, "another reward has this reward_id: its value was different");
    } else if (entry->verdict == JOURNAL_FAILED) {
        call_item_failed(self, item);
    } else {
        count_outcome(counters, repeated ? REWARD_REPEATED : entry->event.outcome);
        call_begin_answer(self, item);
        answer_reward(&self->answers, entry->event.outcome, repeated);
        call_end_answer(self, item, 200);
    }
    call_item_done(self);
}

void api_reward(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)owner, (void)match;
    call *self = exchange->context;
    self->member = NULL;
    if (call_read_items(self, read_reward, NULL)) call_submit(self, reward_written);
}

void api_reward_batch(void *owner, http_exchange *exchange, const route_match *match)
{
    (void)owner, (void)match;
    call *self = exchange->context;
    self->member = "rewards";
    if (call_read_items(self, read_reward, NULL)) call_submit(self, reward_written);
}
