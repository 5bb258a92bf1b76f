#include "answers.h"

static void add_string(text *into, const char *string)
{
    text_bytes(into, string, strlen(string));
}

static void add_whole(text *into, uint64_t number)
{
    char digits[24], *end = digits + sizeof digits, *at = end;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    text_bytes(into, at, (size_t)(end - at));
}

void answer_action(text *into, const decision_body *body)
{
    if (body->names) {
        text_json(into, body->names[body->action]);
        return;
    }
    add_string(into, "\"");
    add_whole(into, body->action);
    add_string(into, "\"");
}

void answer_probabilities(text *into, const decision_body *body)
{
    add_string(into, "\"probability\":");
    text_number(into, body->probabilities[body->action]);
    add_string(into, ",\"probabilities\":[");
    for (size_t i = 0; i < body->count; i++) {
        if (i) text_bytes(into, ",", 1);
        text_number(into, body->probabilities[i]);
    }
    add_string(into, "]");
}

void answer_decision(text *into, json_text id, const decision_body *body)
{
    add_string(into, "{\"id\":");
    text_json(into, body->slot_count ? body->slot : id);
    add_string(into, ",\"action\":");
    answer_action(into, body);
    add_string(into, ",\"index\":");
    add_whole(into, body->action);
    add_string(into, ",");
    answer_probabilities(into, body);
    if (!body->slot_count) {
        add_string(into, ",\"version\":");
        add_whole(into, body->version);
    }
    add_string(into, "}");
}

void answer_begin_round(text *into, json_text id)
{
    add_string(into, "{\"id\":");
    text_json(into, id);
    add_string(into, ",\"slots\":[");
}

void answer_end_round(text *into, uint64_t version)
{
    add_string(into, "],\"version\":");
    add_whole(into, version);
    add_string(into, "}");
}

static const char *outcome_name(event_outcome outcome)
{
    if (outcome == REWARD_JOINED || outcome == REWARD_CLAIMED) return "joined";
    if (outcome == REWARD_REPEATED) return "repeated";
    return outcome == REWARD_LATE ? "late" : "unknown";
}

void answer_reward(text *into, event_outcome outcome, bool repeated)
{
    text_add(into, "{\"outcome\":\"%s\"%s}", outcome_name(outcome), repeated ? ",\"repeated\":true" : "");
}

void answer_activation(text *into, event_outcome outcome)
{
    text_add(into, "{\"outcome\":\"%s\"}", outcome == REWARD_JOINED ? "activated" : outcome_name(outcome));
}

void answer_spooled(text *into)
{
    add_string(into, "{\"outcome\":\"spooled\"}");
}
