/* The bodies of rank, of multi-slot rank, and of their rewards. */
#include <stdio.h>

#include "personalizer.h"

enum { WHERE_SIZE = 64 };

/* ---- actions and context ---- */

/* An array of objects; null is none. */
static ee_status read_features(decide_request *self, json_reader *reader, const decide_limits *limits,
                               const char *where, const json_token *token, json_text *span, ee_error *error)
{
    static const char *const taken[] = {NULL};
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    if (token->kind != JSON_KIND_ARRAY)
        return status_fail(error, EE_BAD_INPUT, "%s must be an array of objects", where);
    return decide_pass_features(self, reader, limits, where, taken, true, span, error);
}

static ee_status read_action(decide_request *self, json_reader *reader, const decide_limits *limits,
                             const json_token *first, ee_error *error)
{
    static const char *const names[] = {"id", "features"};
    char where[WHERE_SIZE], id[WHERE_SIZE + 8], features[WHERE_SIZE + 16];
    member_reader at = {.reader = reader, .names = names, .count = 2, .lenient = true};
    snprintf(where, sizeof where, "actions[%zu]", self->count);
    snprintf(id, sizeof id, "%s.id", where);
    snprintf(features, sizeof features, "%s.features", where);
    if (first->kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "%s must be an object", where);
    if (self->count == PERSONALIZER_MOST)
        return status_fail(error, EE_BAD_INPUT, "more than %d actions", PERSONALIZER_MOST);
    at.status = decide_room_for_action(self, error);
    if (!at.status) self->names[self->count] = (json_text){NULL, 0};
    while (member_next(&at, error)) {
        if (at.which == 0)
            at.status = decide_read_id(self, reader, &at.token, id, &self->names[self->count], error);
        else
            at.status = read_features(self, reader, limits, features, &at.token, &self->features[self->count], error);
    }
    if (!at.status && !self->names[self->count].bytes) return status_fail(error, EE_BAD_INPUT, "%s: missing id", where);
    return at.status;
}

static ee_status read_actions(decide_request *self, json_reader *reader, const decide_limits *limits,
                              const json_token *first, ee_error *error)
{
    json_token token;
    if (first->kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "actions must be an array");
    for (self->count = 0;; self->count++) {
        ee_status status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        status = read_action(self, reader, limits, &token, error);
        if (status) return status;
    }
}

static ee_status read_excludes(decide_request *self, json_reader *reader, const char *where, const json_token *token,
                               size_t *first, size_t *count, ee_error *error)
{
    static const decide_limits any = {.actions = SIZE_MAX};
    *first = self->exclude_count;
    ee_status status = decide_read_excludes(self, reader, &any, where, token, error);
    *count = self->exclude_count - *first;
    return status;
}

/* ---- slots ---- */

static ee_status read_slot(decide_request *self, json_reader *reader, const decide_limits *limits,
                           const json_token *first, ee_error *error)
{
    enum { ID, BASELINE, EXCLUDED, FEATURES, POSITION, MEMBERS };
    static const char *const names[] = {"id", "baselineAction", "excludedActions", "features", "positionFeatures"};
    char where[WHERE_SIZE];
    member_reader at = {.reader = reader, .names = names, .count = MEMBERS, .lenient = true};
    snprintf(where, sizeof where, "slots[%zu]", self->slot_count);
    if (first->kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "%s must be an object", where);
    if (self->slot_count == PERSONALIZER_MOST)
        return status_fail(error, EE_BAD_INPUT, "more than %d slots", PERSONALIZER_MOST);
    at.status = decide_room_for_slot(self, error);
    decide_slot *slot = at.status ? NULL : &self->slots[self->slot_count];
    while (member_next(&at, error)) {
        char place[2 * WHERE_SIZE];
        snprintf(place, sizeof place, "%s.%s", where, names[at.which]);
        if (at.which == ID) at.status = decide_read_id(self, reader, &at.token, place, &slot->id, error);
        if (at.which == BASELINE) at.status = decide_read_id(self, reader, &at.token, place, &slot->baseline, error);
        if (at.which == EXCLUDED)
            at.status =
                read_excludes(self, reader, place, &at.token, &slot->first_exclude, &slot->exclude_count, error);
        if (at.which == FEATURES || at.which == POSITION)
            at.status = read_features(self, reader, limits, place, &at.token, &slot->features, error);
    }
    if (at.status) return at.status;
    if (!slot->id.bytes) return status_fail(error, EE_BAD_INPUT, "%s: missing id", where);
    return slot->baseline.bytes ? EE_OK : status_fail(error, EE_BAD_INPUT, "%s: missing baselineAction", where);
}

static ee_status read_slots(decide_request *self, json_reader *reader, const decide_limits *limits,
                            const json_token *first, ee_error *error)
{
    json_token token;
    if (first->kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "slots must be an array");
    for (self->slot_count = 0;; self->slot_count++) {
        ee_status status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        status = read_slot(self, reader, limits, &token, error);
        if (status) return status;
    }
}

/* ---- the whole ---- */

static ee_status read_flag(bool *out, const json_token *token, const char *what, ee_error *error)
{
    if (token->kind != JSON_KIND_TRUE && token->kind != JSON_KIND_FALSE && token->kind != JSON_KIND_NULL)
        return status_fail(error, EE_BAD_INPUT, "%s must be true or false", what);
    *out = token->kind == JSON_KIND_TRUE;
    return EE_OK;
}

/* An id that is null, or empty, is none. */
static ee_status read_event_id(decide_request *self, json_reader *reader, const json_token *token, ee_error *error)
{
    bool none = token->kind == JSON_KIND_NULL || (token->kind == JSON_KIND_TEXT && !token->text.length);
    return none ? EE_OK : decide_read_id(self, reader, token, "eventId", &self->id, error);
}

ee_status rank_request_read(decide_request *self, json_reader *reader, const decide_limits *limits, bool of_slots,
                            ee_error *error)
{
    enum { ACTIONS, CONTEXT, EVENT, DEFER, SLOTS, EXCLUDED, MEMBERS };
    static const char *const names[] = {"actions",         "contextFeatures", "eventId",
                                        "deferActivation", "slots",           "excludedActions"};
    const char *from = reader->value;
    member_reader at = {.reader = reader, .names = names, .count = MEMBERS, .lenient = true};
    const json_token *token = &at.token;
    decide_request_clear(self);
    if (limits->dim)
        return status_fail(error, EE_BAD_INPUT, "the bandit takes vectors of %zu numbers, not named features",
                           limits->dim);
    self->named = true;
    while (member_next(&at, error)) {
        if (at.which == ACTIONS) at.status = read_actions(self, reader, limits, token, error);
        if (at.which == CONTEXT)
            at.status = read_features(self, reader, limits, "contextFeatures", token, &self->context, error);
        if (at.which == EVENT) at.status = read_event_id(self, reader, token, error);
        if (at.which == DEFER) at.status = read_flag(&self->deferred, token, "deferActivation", error);
        if (at.which == (of_slots ? EXCLUDED : SLOTS))
            at.status = json_skip(reader, token, NULL, error);
        else if (at.which == SLOTS)
            at.status = read_slots(self, reader, limits, token, error);
        else if (at.which == EXCLUDED)
            at.status = read_excludes(self, reader, "excludedActions", token, &self->first_exclude,
                                      &self->request_excludes, error);
    }
    if (at.status) return at.status;
    self->bytes = (json_text){from, (size_t)(reader->next - from)};
    if (of_slots && !self->slot_count) return status_fail(error, EE_BAD_INPUT, "slots: expected at least one");
    return decide_request_settle(self, true, error);
}

/* ---- rewards ---- */

static ee_status read_value(const json_token *token, double *out, ee_error *error)
{
    if (token->kind != JSON_KIND_NUMBER) return status_fail(error, EE_BAD_INPUT, "value must be a number");
    if (!(token->number >= -1 && token->number <= 1))
        return status_fail(error, EE_BAD_INPUT, "value must be -1 to 1, got %g", token->number);
    *out = token->number;
    return EE_OK;
}

ee_status rank_reward_read(json_reader *reader, double *value, ee_error *error)
{
    static const char *const names[] = {"value"};
    member_reader at = {.reader = reader, .names = names, .count = 1, .lenient = true};
    while (member_next(&at, error)) at.status = read_value(&at.token, value, error);
    return at.status || at.seen ? at.status : status_fail(error, EE_BAD_INPUT, "missing value");
}

static ee_status read_slot_reward(json_reader *reader, kept_texts *texts, take_slot_reward *take, void *context,
                                  ee_error *error)
{
    static const char *const names[] = {"slotId", "value"};
    member_reader at = {.reader = reader, .names = names, .count = 2, .lenient = true};
    json_text slot = {NULL, 0};
    double value = 0;
    while (member_next(&at, error)) {
        if (at.which == 1) {
            at.status = read_value(&at.token, &value, error);
            continue;
        }
        at.status = request_check_id(&at.token, "slotId", error);
        slot = at.token.text;
        if (!at.status) at.status = kept_texts_keep(texts, reader, &slot, error);
    }
    if (at.status) return at.status;
    if (at.seen != 3) return status_fail(error, EE_BAD_INPUT, "each reward needs a slotId and a value");
    return take(context, slot, value, error);
}

static ee_status read_slot_rewards(json_reader *reader, kept_texts *texts, take_slot_reward *take, void *context,
                                   size_t *count, ee_error *error)
{
    json_token token;
    for (;; ++*count) {
        ee_status status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        if (token.kind != JSON_KIND_OBJECT)
            return status_fail(error, EE_BAD_INPUT, "reward[%zu] must be an object", *count);
        if (*count == PERSONALIZER_MOST)
            return status_fail(error, EE_BAD_INPUT, "more than %d rewards", PERSONALIZER_MOST);
        status = read_slot_reward(reader, texts, take, context, error);
        if (status) return status;
    }
}

ee_status rank_slot_rewards_read(json_reader *reader, kept_texts *texts, take_slot_reward *take, void *context,
                                 ee_error *error)
{
    static const char *const names[] = {"reward"};
    member_reader at = {.reader = reader, .names = names, .count = 1, .lenient = true};
    size_t count = 0;
    while (member_next(&at, error)) {
        if (at.token.kind != JSON_KIND_ARRAY)
            return status_fail(error, EE_BAD_INPUT, "reward must be an array of {slotId, value}");
        at.status = read_slot_rewards(reader, texts, take, context, &count, error);
    }
    return at.status || count ? at.status : status_fail(error, EE_BAD_INPUT, "reward: expected at least one");
}
