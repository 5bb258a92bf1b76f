/* The bodies of rank, of multi-slot rank, and of their rewards. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <strings.h>

#include "personalizer.h"

enum { WHERE_SIZE = 64 };

bool personalizer_member(json_text key, const char *const *names, size_t count, size_t *which)
{
    for (*which = 0; *which < count; ++*which)
        if (strlen(names[*which]) == key.length && strncasecmp(names[*which], key.bytes, key.length) == 0) return true;
    return false;
}

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
    json_token token;
    size_t which;
    snprintf(where, sizeof where, "actions[%zu]", self->count);
    snprintf(id, sizeof id, "%s.id", where);
    snprintf(features, sizeof features, "%s.features", where);
    if (first->kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "%s must be an object", where);
    if (self->count == PERSONALIZER_MOST)
        return status_fail(error, EE_BAD_INPUT, "more than %d actions", PERSONALIZER_MOST);
    ee_status status = decide_room_for_action(self, error);
    if (!status) self->names[self->count] = (json_text){NULL, 0};
    while (!status) {
        status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_OBJECT_END) break;
        if (!personalizer_member(token.key, names, 2, &which))
            status = json_skip(reader, &token, NULL, error);
        else if (which == 0)
            status = decide_read_id(self, reader, &token, id, &self->names[self->count], error);
        else
            status = read_features(self, reader, limits, features, &token, &self->features[self->count], error);
    }
    if (!status && !self->names[self->count].bytes) return status_fail(error, EE_BAD_INPUT, "%s: missing id", where);
    return status;
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
    json_token token;
    size_t which;
    snprintf(where, sizeof where, "slots[%zu]", self->slot_count);
    if (first->kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "%s must be an object", where);
    if (self->slot_count == PERSONALIZER_MOST)
        return status_fail(error, EE_BAD_INPUT, "more than %d slots", PERSONALIZER_MOST);
    ee_status status = decide_room_for_slot(self, error);
    decide_slot *slot = status ? NULL : &self->slots[self->slot_count];
    while (!status) {
        char place[2 * WHERE_SIZE];
        status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_OBJECT_END) break;
        if (!personalizer_member(token.key, names, MEMBERS, &which)) {
            status = json_skip(reader, &token, NULL, error);
            continue;
        }
        snprintf(place, sizeof place, "%s.%s", where, names[which]);
        if (which == ID) status = decide_read_id(self, reader, &token, place, &slot->id, error);
        if (which == BASELINE) status = decide_read_id(self, reader, &token, place, &slot->baseline, error);
        if (which == EXCLUDED)
            status = read_excludes(self, reader, place, &token, &slot->first_exclude, &slot->exclude_count, error);
        if (which == FEATURES || which == POSITION)
            status = read_features(self, reader, limits, place, &token, &slot->features, error);
    }
    if (!status && !slot->id.bytes) return status_fail(error, EE_BAD_INPUT, "%s: missing id", where);
    if (!status && !slot->baseline.bytes) return status_fail(error, EE_BAD_INPUT, "%s: missing baselineAction", where);
    return status;
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
    json_token token;
    size_t which;
    decide_request_clear(self);
    if (limits->dim)
        return status_fail(error, EE_BAD_INPUT, "the bandit takes vectors of %zu numbers, not named features",
                           limits->dim);
    self->named = true;
    for (;;) {
        ee_status status = json_next(reader, &token, error);
        if (status) return status;
        if (token.kind == JSON_KIND_OBJECT_END) break;
        bool known = personalizer_member(token.key, names, MEMBERS, &which);
        if (known && which == (of_slots ? EXCLUDED : SLOTS)) known = false;
        if (!known) status = json_skip(reader, &token, NULL, error);
        if (known && which == ACTIONS) status = read_actions(self, reader, limits, &token, error);
        if (known && which == CONTEXT)
            status = read_features(self, reader, limits, "contextFeatures", &token, &self->context, error);
        if (known && which == EVENT) status = read_event_id(self, reader, &token, error);
        if (known && which == DEFER) status = read_flag(&self->deferred, &token, "deferActivation", error);
        if (known && which == SLOTS) status = read_slots(self, reader, limits, &token, error);
        if (known && which == EXCLUDED)
            status = read_excludes(self, reader, "excludedActions", &token, &self->first_exclude, &self->own_excludes,
                                   error);
        if (status) return status;
    }
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
    json_token token;
    bool found = false;
    size_t which;
    for (;;) {
        ee_status status = json_next(reader, &token, error);
        if (status) return status;
        if (token.kind == JSON_KIND_OBJECT_END) break;
        bool known = personalizer_member(token.key, names, 1, &which);
        status = known ? read_value(&token, value, error) : json_skip(reader, &token, NULL, error);
        if (status) return status;
        found = found || known;
    }
    return found ? EE_OK : status_fail(error, EE_BAD_INPUT, "missing value");
}

static ee_status read_slot_reward(json_reader *reader, kept_texts *texts, take_slot_reward *take, void *context,
                                  ee_error *error)
{
    static const char *const names[] = {"slotId", "value"};
    json_token token;
    json_text slot = {NULL, 0};
    double value = 0;
    size_t which;
    unsigned seen = 0;
    for (;;) {
        ee_status status = json_next(reader, &token, error);
        if (status) return status;
        if (token.kind == JSON_KIND_OBJECT_END) break;
        bool known = personalizer_member(token.key, names, 2, &which);
        if (!known) {
            status = json_skip(reader, &token, NULL, error);
        } else if (which == 0) {
            status = request_check_id(&token, "slotId", error);
            slot = token.text;
            if (!status) status = kept_texts_keep(texts, reader, &slot, error);
        } else {
            status = read_value(&token, &value, error);
        }
        if (status) return status;
        if (known) seen |= 1u << which;
    }
    if (seen != 3) return status_fail(error, EE_BAD_INPUT, "each reward needs a slotId and a value");
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
    json_token token;
    size_t which, count = 0;
    for (;;) {
        ee_status status = json_next(reader, &token, error);
        if (status) return status;
        if (token.kind == JSON_KIND_OBJECT_END) break;
        if (!personalizer_member(token.key, names, 1, &which))
            status = json_skip(reader, &token, NULL, error);
        else if (token.kind != JSON_KIND_ARRAY)
            status = status_fail(error, EE_BAD_INPUT, "reward must be an array of {slotId, value}");
        else
            status = read_slot_rewards(reader, texts, take, context, &count, error);
        if (status) return status;
    }
    return count ? EE_OK : status_fail(error, EE_BAD_INPUT, "reward: expected at least one");
}
