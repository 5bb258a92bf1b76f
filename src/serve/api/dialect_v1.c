/* The dialect of /v1. */
#include "call_items.h"
#include "serve/requests/reward_request.h"

static ee_status read_decision(call *self, json_reader *reader, const decide_limits *limits, ee_error *error)
{
    return decide_request_read(&self->request, reader, limits, error);
}

static ee_status keep_metrics(call *self, call_item *item, const reward_request *reward, ee_error *error)
{
    joining_rules rules = served_bandit_joining(self->bandit);
    ee_status status = reward_request_check(reward, &rules, error);
    if (!status)
        status = memory_grow(&self->memory, &self->bodies, &self->bodies_capacity,
                             self->bodies_size + METRIC_VALUES_SIZE, 1, error);
    if (status) return status;
    item->metrics_only = !reward->has_value;
    item->body_at = self->bodies_size;
    item->body_size = metric_values_write(&reward->metrics, self->bodies + item->body_at);
    self->bodies_size += item->body_size;
    return EE_OK;
}

static ee_status read_reward(call *self, call_item *item, json_reader *reader, ee_error *error)
{
    reward_request reward;
    ee_status status = reward_request_read(&reward, reader, &self->request.texts, error);
    item->entry.event =
        (event){.kind = EVENT_REWARD, .id = reward.id, .value = reward.value, .reward_id = reward.reward_id};
    if (!status && reward.metrics.count) status = keep_metrics(self, item, &reward, error);
    if (status || !reward.slot.bytes) return status;
    return call_name_slot(self, item, reward.id, reward.slot, error);
}

static void write_slot(text *into, const decide_slot *slot)
{
    if (slot->features.bytes) text_bytes(into, slot->features.bytes, slot->features.length);
}

static void answer_event(text *into, uint64_t number)
{
    text_add(into, "{\"event\":%llu}", (unsigned long long)number);
}

const dialect dialect_v1 = {.read_decision = read_decision,
                            .read_reward = read_reward,
                            .write_context = decide_request_context,
                            .write_slot = write_slot,
                            .answer_decision = answer_decision,
                            .begin_round = answer_begin_round,
                            .end_round = answer_end_round,
                            .answer_reward = answer_reward,
                            .answer_activation = answer_activation,
                            .answer_spooled = answer_spooled,
                            .answer_event = answer_event,
                            .decided = 200,
                            .noted = 200};
