#include "decide_request.h"

#include <math.h>
#include <stdio.h>

enum { WHERE_SIZE = 48 };

/* ---- features ---- */

static ee_status read_number(const json_token *token, const char *where, size_t place, float *out, ee_error *error)
{
    if (token->kind != JSON_KIND_NUMBER)
        return status_fail(error, EE_BAD_INPUT, "%s[%zu] must be a number", where, place);
    if (!(fabs(token->number) <= 1e9))
        return status_fail(error, EE_BAD_INPUT, "%s[%zu] must be -1e9 to 1e9, got %g", where, place, token->number);
    *out = (float)token->number;
    return EE_OK;
}

ee_status decide_read_vector(decide_request *self, json_reader *reader, const decide_limits *limits, const char *where,
                             const char *member, ee_error *error)
{
    json_token token;
    size_t dim = limits->dim, count = 0;
    char place[WHERE_SIZE + 8];
    if (!dim)
        return status_fail(error, EE_BAD_INPUT, "%s is a vector, but the bandit takes named features; expected %s",
                           where, "{\"id\": ..., \"features\": {...}}");
    ee_status status =
        memory_grow(self->owner, &self->values, &self->value_capacity, (self->count + 1) * dim, sizeof(float), error);
    float *row = self->values + self->count * dim, rest;
    if (status) return status;
    for (;; count++) {
        status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) break;
        if (token.kind == JSON_KIND_NUMBER && fabs(token.number) <= 1e9 && count < dim) {
            row[count] = (float)token.number;
            continue;
        }
        snprintf(place, sizeof place, "%s%s", where, member);
        status = read_number(&token, place, count, &rest, error);
        if (status) break;
    }
    if (!status && count != dim)
        return status_fail(error, EE_BAD_INPUT, "%s%s has %zu numbers, but the bandit takes %zu", where, member, count,
                           dim);
    return status;
}

/* ---- actions ---- */

static ee_status read_action_member(decide_request *self, json_reader *reader, const decide_limits *limits,
                                    const char *where, size_t which, const json_token *token, ee_error *error)
{
    static const char *const taken[] = {"_tag", "_multi", "_slots", NULL};
    char place[WHERE_SIZE + 16];
    snprintf(place, sizeof place, "%s.%s", where, which == 0 ? "id" : which == 1 ? "features" : "vector");
    if (which == 0) return decide_read_id(self, reader, token, place, &self->names[self->count], error);
    if (which == 2) {
        if (token->kind == JSON_KIND_ARRAY) return decide_read_vector(self, reader, limits, where, ".vector", error);
        return status_fail(error, EE_BAD_INPUT, "%s must be an array of numbers", place);
    }
    if (limits->dim)
        return status_fail(error, EE_BAD_INPUT, "%s: the bandit takes vectors of %zu numbers, not named features",
                           place, limits->dim);
    if (token->kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "%s must be an object", place);
    return decide_pass_features(self, reader, limits, place, taken, false, &self->features[self->count], error);
}

/* {"id": ..., "features": ...} or with "vector". The { was read last. */
static ee_status read_named_action(decide_request *self, json_reader *reader, const decide_limits *limits,
                                   const char *where, ee_error *error)
{
    static const char *const names[] = {"id", "features", "vector"};
    member_reader at = {.reader = reader, .names = names, .count = 3, .where = where};
    at.status = decide_room_for_action(self, error);
    while (member_next(&at, error))
        at.status = read_action_member(self, reader, limits, where, at.which, &at.token, error);
    if (at.status) return at.status;
    if (!(at.seen & 1)) return status_fail(error, EE_BAD_INPUT, "%s: missing \"id\"", where);
    if (limits->dim && !(at.seen & 1u << 2)) return status_fail(error, EE_BAD_INPUT, "%s: missing \"vector\"", where);
    return EE_OK;
}

static ee_status read_action(decide_request *self, json_reader *reader, const decide_limits *limits,
                             const json_token *token, ee_error *error)
{
    char where[WHERE_SIZE];
    bool named = token->kind == JSON_KIND_OBJECT;
    snprintf(where, sizeof where, "actions[%zu]", self->count);
    if (token->kind == JSON_KIND_TEXT)
        return status_fail(error, EE_BAD_INPUT, "%s must be an object: write {\"id\": \"%.*s\"}", where,
                           request_shown(token->text), token->text.bytes);
    if (!named && token->kind != JSON_KIND_ARRAY)
        return status_fail(error, EE_BAD_INPUT, "%s must be an object, or an array of numbers", where);
    if (self->count == limits->actions)
        return decide_refuse_size(self, error, "more than %zu actions in one decision (setting 'actions')",
                                  limits->actions);
    if (self->count && named != self->named)
        return status_fail(error, EE_BAD_INPUT, "%s is %s, but the actions before it are not", where,
                           named ? "an object" : "an array");
    self->named = named;
    if (named) return read_named_action(self, reader, limits, where, error);
    return decide_read_vector(self, reader, limits, where, "", error);
}

ee_status decide_read_actions(decide_request *self, json_reader *reader, const decide_limits *limits,
                              const json_token *first, ee_error *error)
{
    json_token token;
    if (first->kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "actions must be an array");
    for (;; self->count++) {
        ee_status status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        status = read_action(self, reader, limits, &token, error);
        if (status) return status;
    }
}

/* ---- context and exclusion ---- */

ee_status decide_read_context(decide_request *self, json_reader *reader, const decide_limits *limits,
                              const json_token *token, ee_error *error)
{
    static const char *const taken[] = {"_multi", "_slots", NULL};
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    if (limits->dim)
        return status_fail(error, EE_BAD_INPUT,
                           "context: the bandit takes vectors only; put the context into each action's vector");
    if (token->kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "context must be an object");
    return decide_pass_features(self, reader, limits, "context", taken, false, &self->context, error);
}

ee_status decide_read_request_excludes(decide_request *self, json_reader *reader, const decide_limits *limits,
                                       const json_token *token, ee_error *error)
{
    self->first_exclude = self->exclude_count;
    ee_status status = decide_read_excludes(self, reader, limits, "exclude", token, error);
    self->request_excludes = self->exclude_count - self->first_exclude;
    return status;
}

/* ---- slots ---- */

static ee_status read_slot_member(decide_request *self, json_reader *reader, const decide_limits *limits,
                                  const char *where, size_t which, const json_token *token, ee_error *error)
{
    static const char *const names[] = {"id", "features", "exclude", "baseline"};
    static const char *const taken[] = {"_multi", "_slots", "_id", "_inc", NULL};
    decide_slot *slot = &self->slots[self->slot_count];
    char place[WHERE_SIZE + 16];
    snprintf(place, sizeof place, "%s.%s", where, names[which]);
    if (which == 0) return decide_read_id(self, reader, token, place, &slot->id, error);
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    if (which == 3) return decide_read_id(self, reader, token, place, &slot->baseline, error);
    if (which == 2) {
        slot->first_exclude = self->exclude_count;
        ee_status status = decide_read_excludes(self, reader, limits, place, token, error);
        slot->exclude_count = self->exclude_count - slot->first_exclude;
        return status;
    }
    if (limits->dim) return status_fail(error, EE_BAD_INPUT, "%s: the bandit takes vectors only", place);
    if (token->kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "%s must be an object", place);
    return decide_pass_features(self, reader, limits, place, taken, false, &slot->features, error);
}

static ee_status read_slot(decide_request *self, json_reader *reader, const decide_limits *limits,
                           const json_token *first, ee_error *error)
{
    static const char *const names[] = {"id", "features", "exclude", "baseline"};
    char where[WHERE_SIZE];
    member_reader at = {.reader = reader, .names = names, .count = 4, .where = where};
    snprintf(where, sizeof where, "slots[%zu]", self->slot_count);
    if (first->kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "%s must be an object", where);
    if (self->slot_count == limits->actions)
        return decide_refuse_size(self, error, "more than %zu slots in one decision (setting 'actions')",
                                  limits->actions);
    at.status = decide_room_for_slot(self, error);
    while (member_next(&at, error))
        at.status = read_slot_member(self, reader, limits, where, at.which, &at.token, error);
    if (!at.status && !(at.seen & 1)) return status_fail(error, EE_BAD_INPUT, "%s: missing \"id\"", where);
    return at.status;
}

static ee_status read_slots(decide_request *self, json_reader *reader, const decide_limits *limits,
                            const json_token *first, ee_error *error)
{
    json_token token;
    if (first->kind == JSON_KIND_NULL) return EE_OK;
    if (first->kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "slots must be an array");
    for (;; self->slot_count++) {
        ee_status status = json_next(reader, &token, error);
        if (status) return status;
        if (token.kind == JSON_KIND_ARRAY_END) break;
        status = read_slot(self, reader, limits, &token, error);
        if (status) return status;
    }
    return self->slot_count ? EE_OK : status_fail(error, EE_BAD_INPUT, "slots: expected at least one");
}

/* ---- the whole ---- */

static ee_status read_flag(const json_token *token, const char *name, bool *flag, ee_error *error)
{
    if (token->kind != JSON_KIND_TRUE && token->kind != JSON_KIND_FALSE && token->kind != JSON_KIND_NULL)
        return status_fail(error, EE_BAD_INPUT, "%s must be true or false", name);
    *flag = token->kind == JSON_KIND_TRUE;
    return EE_OK;
}

ee_status decide_request_read(decide_request *self, json_reader *reader, const decide_limits *limits, ee_error *error)
{
    enum { ID, KEY, CONTEXT, ACTIONS, EXCLUDE, SLOTS, DEFER, DRY_RUN, MEMBERS };
    static const char *const names[] = {"id", "key", "context", "actions", "exclude", "slots", "defer", "dry_run"};
    const char *from = reader->value;
    member_reader at = {.reader = reader, .names = names, .count = MEMBERS};
    const json_token *token = &at.token;
    decide_request_clear(self);
    while (member_next(&at, error)) {
        if (at.which == ID && token->kind != JSON_KIND_NULL)
            at.status = decide_read_id(self, reader, token, "id", &self->id, error);
        if (at.which == KEY && token->kind != JSON_KIND_NULL)
            at.status = decide_read_id(self, reader, token, "key", &self->key, error);
        if (at.which == CONTEXT) at.status = decide_read_context(self, reader, limits, token, error);
        if (at.which == ACTIONS) at.status = decide_read_actions(self, reader, limits, token, error);
        if (at.which == EXCLUDE) at.status = decide_read_request_excludes(self, reader, limits, token, error);
        if (at.which == SLOTS) at.status = read_slots(self, reader, limits, token, error);
        if (at.which == DEFER) at.status = read_flag(token, "defer", &self->deferred, error);
        if (at.which == DRY_RUN) at.status = read_flag(token, "dry_run", &self->dry_run, error);
    }
    if (at.status) return at.status;
    self->bytes = (json_text){from, (size_t)(reader->next - from)};
    return decide_request_settle(self, false, error);
}
