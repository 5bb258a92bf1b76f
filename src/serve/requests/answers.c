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

/* ---- guardrails ---- */

static const char *const group_names[] = {[GROUP_NONE] = "none",
                                          [GROUP_TREATED] = "treated",
                                          [GROUP_CONTROL] = "control",
                                          [GROUP_WAITING] = "waiting",
                                          [GROUP_FALLBACK] = "fallback"};

static void add_text_member(text *into, const char *before, json_text value)
{
    if (!value.length) return;
    add_string(into, before);
    text_json(into, value);
}

static void add_excluded(text *into, const decision_body *body)
{
    static const char *const reasons[] = {[EXCLUDED_BY_REQUEST] = "request",
                                          [EXCLUDED_BY_SLOT] = "slot",
                                          [EXCLUDED_BY_RULE] = "rule",
                                          [EXCLUDED_BY_CAP] = "cap",
                                          [EXCLUDED_BY_BUDGET] = "budget"};
    bool any = false;
    add_string(into, ",\"excluded\":{");
    for (size_t i = 0; body->excluded && i < body->count; i++) {
        if (!body->excluded[i]) continue;
        if (any) add_string(into, ",");
        any = true;
        if (body->names)
            text_json(into, body->names[i]);
        else
            text_add(into, "\"%zu\"", i);
        text_add(into, ":\"%s\"", reasons[body->excluded[i]]);
    }
    add_string(into, "}");
}

void answer_guardrails(text *into, const decision_body *body)
{
    const decision_guard *guard = &body->guard;
    text_add(into, "{\"group\":\"%s\"", group_names[guard->group]);
    add_text_member(into, ",\"segment\":", guard->segment);
    add_text_member(into, ",\"repeats\":", guard->repeats);
    add_string(into, ",\"rules\":[");
    for (size_t i = 0; i < guard->rule_count; i++) {
        if (i) add_string(into, ",");
        text_json(into, guard->rules[i]);
    }
    add_string(into, "]");
    add_excluded(into, body);
    add_string(into, "}");
}

/* ---- decisions ---- */

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
    if (body->guard.group) text_add(into, ",\"group\":\"%s\"", group_names[body->guard.group]);
    add_text_member(into, ",\"repeats\":", slot_round_id(body->guard.repeats, NULL));
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
