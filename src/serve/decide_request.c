#include "decide_request.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "data/id_set.h"

enum { WHERE_SIZE = 48 };

json_reader decide_request_start(decide_request *self, json_text body)
{
    self->room.owner = self->texts.owner = self->owner;
    self->texts.size = 0;
    return json_start(body.bytes, body.length, &self->room);
}

/* A limit was passed. */
__attribute__((format(printf, 3, 4))) static ee_status refuse_size(decide_request *self, ee_error *error,
                                                                   const char *format, ...)
{
    va_list list;
    char message[sizeof error->message];
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    self->too_large = true;
    return status_fail(error, EE_BAD_INPUT, "%s", message);
}

/* ---- features ---- */

/* Members that the stored context, or Vowpal Wabbit, has a meaning for. */
static bool is_taken(json_text key, const char *const *taken)
{
    for (; *taken; taken++)
        if (json_is(key, *taken)) return true;
    return false;
}

/* Passes over an object of named features, whose { was read last, and counts them. */
static ee_status pass_features(decide_request *self, json_reader *reader, const decide_limits *limits,
                               const char *where, const char *const *taken, size_t *features, json_text *span,
                               ee_error *error)
{
    const char *from = reader->value;
    unsigned outside = reader->depth - 1;
    json_token token;
    while (reader->depth > outside) {
        ee_status status = json_next(reader, &token, error);
        if (status) return status;
        bool opens = token.kind == JSON_KIND_OBJECT || token.kind == JSON_KIND_ARRAY;
        if (token.key.bytes && reader->depth - opens == outside + 1 && is_taken(token.key, taken))
            return status_fail(error, EE_BAD_INPUT, "%s may not have a member \"%.*s\"", where,
                               request_shown(token.key), token.key.bytes);
        bool scalar = token.kind == JSON_KIND_NUMBER || token.kind == JSON_KIND_TEXT || token.kind == JSON_KIND_TRUE;
        if (scalar && ++*features > limits->features)
            return refuse_size(self, error, "more than %zu features, which this server does not take of a decision",
                               limits->features);
    }
    *span = (json_text){from, (size_t)(reader->next - from)};
    return EE_OK;
}

static ee_status read_number(const json_token *token, const char *where, size_t place, float *out, ee_error *error)
{
    if (token->kind != JSON_KIND_NUMBER)
        return status_fail(error, EE_BAD_INPUT, "%s[%zu] must be a number", where, place);
    if (!(fabs(token->number) <= 1e9))
        return status_fail(error, EE_BAD_INPUT, "%s[%zu] must be -1e9 to 1e9, got %g", where, place, token->number);
    *out = (float)token->number;
    return EE_OK;
}

/* The numbers of the next action, whose [ was read last. where is as "actions[3]"; member ".vector" or "". */
static ee_status read_vector(decide_request *self, json_reader *reader, const decide_limits *limits, const char *where,
                             const char *member, ee_error *error)
{
    json_token token;
    size_t dim = limits->dim, count = 0;
    char place[WHERE_SIZE + 8];
    if (!dim)
        return status_fail(error, EE_BAD_INPUT, "%s is a vector, but the bandit takes named features: %s", where,
                           "{\"id\": ..., \"features\": {...}}");
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
                                    const char *where, size_t which, const json_token *token, size_t *features,
                                    ee_error *error)
{
    static const char *const taken[] = {"_tag", "_multi", "_slots", NULL};
    char place[WHERE_SIZE + 16];
    snprintf(place, sizeof place, "%s.%s", where, which == 0 ? "id" : which == 1 ? "features" : "vector");
    if (which == 0) {
        ee_status status = request_check_id(token, place, error);
        self->names[self->count] = token->text;
        return status ? status : kept_texts_keep(&self->texts, reader, &self->names[self->count], error);
    }
    if (which == 2) {
        if (token->kind == JSON_KIND_ARRAY) return read_vector(self, reader, limits, where, ".vector", error);
        return status_fail(error, EE_BAD_INPUT, "%s must be an array of numbers", place);
    }
    if (limits->dim)
        return status_fail(error, EE_BAD_INPUT, "%s: the bandit takes vectors of %zu numbers, no named features", place,
                           limits->dim);
    if (token->kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "%s must be an object", place);
    return pass_features(self, reader, limits, place, taken, features, &self->features[self->count], error);
}

/* {"id": ..., "features": ...} or with "vector". The { was read last. */
static ee_status read_named_action(decide_request *self, json_reader *reader, const decide_limits *limits,
                                   const char *where, size_t *features, ee_error *error)
{
    static const char *const names[] = {"id", "features", "vector"};
    static const member_names known = {names, 3};
    unsigned seen = 0;
    size_t which = 0;
    ee_status status =
        memory_grow(self->owner, &self->names, &self->name_capacity, self->count + 1, sizeof *self->names, error);
    if (!status)
        status = memory_grow(self->owner, &self->features, &self->feature_capacity, self->count + 1,
                             sizeof *self->features, error);
    json_token token;
    while (!status) {
        status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_OBJECT_END) break;
        status = request_member(token.key, &known, where, &seen, &which, error);
        if (!status) status = read_action_member(self, reader, limits, where, which, &token, features, error);
    }
    if (status) return status;
    if (!(seen & 1)) return status_fail(error, EE_BAD_INPUT, "%s has no \"id\"", where);
    size_t wanted = limits->dim ? 2 : 1;
    if (!(seen & 1u << wanted)) return status_fail(error, EE_BAD_INPUT, "%s has no \"%s\"", where, names[wanted]);
    return EE_OK;
}

static ee_status read_action(decide_request *self, json_reader *reader, const decide_limits *limits,
                             const json_token *token, size_t *features, ee_error *error)
{
    char where[WHERE_SIZE];
    bool named = token->kind == JSON_KIND_OBJECT;
    snprintf(where, sizeof where, "actions[%zu]", self->count);
    if (!named && token->kind != JSON_KIND_ARRAY)
        return status_fail(error, EE_BAD_INPUT, "%s must be an object, or an array of numbers", where);
    if (self->count == limits->actions)
        return refuse_size(self, error, "more than %zu actions, which this server does not take of a decision",
                           limits->actions);
    if (self->count && named != self->named)
        return status_fail(error, EE_BAD_INPUT, "%s is %s, but those before it are not", where,
                           named ? "an object" : "an array");
    self->named = named;
    if (named) return read_named_action(self, reader, limits, where, features, error);
    return read_vector(self, reader, limits, where, "", error);
}

static ee_status read_actions(decide_request *self, json_reader *reader, const decide_limits *limits,
                              const json_token *first, size_t *features, ee_error *error)
{
    json_token token;
    if (first->kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "actions must be an array");
    for (;; self->count++) {
        ee_status status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        status = read_action(self, reader, limits, &token, features, error);
        if (status) return status;
    }
}

/* ---- exclusion ---- */

static ee_status read_excludes(decide_request *self, json_reader *reader, const decide_limits *limits,
                               const json_token *first, ee_error *error)
{
    json_token token;
    if (first->kind == JSON_KIND_NULL) return EE_OK;
    if (first->kind != JSON_KIND_ARRAY) return status_fail(error, EE_BAD_INPUT, "exclude must be an array of ids");
    for (;; self->exclude_count++) {
        ee_status status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        if (token.kind != JSON_KIND_TEXT)
            return status_fail(error, EE_BAD_INPUT, "exclude[%zu] must be the id of an action", self->exclude_count);
        if (self->exclude_count == limits->actions)
            return refuse_size(self, error, "exclude has more than %zu ids", limits->actions);
        status = memory_grow(self->owner, &self->excludes, &self->exclude_capacity, self->exclude_count + 1,
                             sizeof *self->excludes, error);
        if (status) return status;
        json_text *entry = &self->excludes[self->exclude_count];
        *entry = token.text;
        status = kept_texts_keep(&self->texts, reader, entry, error);
        if (status) return status;
    }
}

/* Where a name is, or would be, in the table of places, whose size is a power of two. */
static size_t place_of(const decide_request *self, size_t size, json_text name)
{
    size_t at = (size_t)id_hash(name.bytes, name.length) & (size - 1);
    for (; self->places[at]; at = (at + 1) & (size - 1)) {
        json_text other = self->names[self->places[at] - 1];
        if (other.length == name.length && memcmp(other.bytes, name.bytes, name.length) == 0) break;
    }
    return at;
}

/* Finds out whether all names differ, and where each is. */
static ee_status place_names(decide_request *self, size_t *size, ee_error *error)
{
    for (*size = 16; *size < 2 * self->count; *size *= 2) {
    }
    ee_status status =
        memory_grow(self->owner, &self->places, &self->place_capacity, *size, sizeof *self->places, error);
    if (status) return status;
    memset(self->places, 0, *size * sizeof *self->places);
    for (size_t i = 0; i < self->count; i++) {
        size_t at = place_of(self, *size, self->names[i]);
        if (self->places[at])
            return status_fail(error, EE_BAD_INPUT, "actions[%zu] and actions[%u] have the same id, \"%.*s\"", i,
                               self->places[at] - 1, request_shown(self->names[i]), self->names[i].bytes);
        self->places[at] = (uint32_t)(i + 1);
    }
    return EE_OK;
}

/* The action that is called so; count where none is. */
static size_t find_action(const decide_request *self, size_t size, json_text name)
{
    if (self->named) {
        uint32_t place = self->places[place_of(self, size, name)];
        return place ? place - 1 : self->count;
    }
    size_t index = 0;
    if (name.length == 0 || name.length > 9 || (name.bytes[0] == '0' && name.length > 1)) return self->count;
    for (size_t i = 0; i < name.length; i++) {
        if (name.bytes[i] < '0' || name.bytes[i] > '9') return self->count;
        index = index * 10 + (size_t)(name.bytes[i] - '0');
    }
    return index < self->count ? index : self->count;
}

static ee_status settle(decide_request *self, ee_error *error)
{
    size_t size = 0;
    ee_status status = self->named ? place_names(self, &size, error) : EE_OK;
    if (!status) status = memory_grow(self->owner, &self->excluded, &self->excluded_capacity, self->count, 1, error);
    if (status) return status;
    memset(self->excluded, 0, self->count);
    for (size_t i = 0; i < self->exclude_count; i++) {
        json_text name = self->excludes[i];
        size_t found = find_action(self, size, name);
        if (found == self->count)
            return status_fail(error, EE_BAD_INPUT, "exclude[%zu]: no action has the id \"%.*s\"", i,
                               request_shown(name), name.bytes);
        self->excluded_count += !self->excluded[found];
        self->excluded[found] = 1;
    }
    if (self->excluded_count == self->count)
        return status_fail(error, EE_BAD_INPUT, "all %zu actions are excluded", self->count);
    return EE_OK;
}

/* ---- the whole ---- */

static ee_status read_context(decide_request *self, json_reader *reader, const decide_limits *limits,
                              const json_token *token, size_t *features, ee_error *error)
{
    static const char *const taken[] = {"_multi", "_slots", NULL};
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    if (limits->dim) return status_fail(error, EE_BAD_INPUT, "context: the bandit takes vectors, and nothing besides");
    if (token->kind != JSON_KIND_OBJECT) return status_fail(error, EE_BAD_INPUT, "context must be an object");
    return pass_features(self, reader, limits, "context", taken, features, &self->context, error);
}

static ee_status read_id(decide_request *self, json_reader *reader, const json_token *token, ee_error *error)
{
    if (token->kind == JSON_KIND_NULL) return EE_OK;
    ee_status status = request_check_id(token, "id", error);
    self->id = token->text;
    return status ? status : kept_texts_keep(&self->texts, reader, &self->id, error);
}

static void forget_last(decide_request *self)
{
    self->id = self->context = (json_text){NULL, 0};
    self->count = self->excluded_count = self->exclude_count = 0;
    self->named = self->too_large = false;
}

ee_status decide_request_read(decide_request *self, json_reader *reader, const decide_limits *limits, ee_error *error)
{
    enum { ID, CONTEXT, ACTIONS, EXCLUDE };
    static const char *const names[] = {"id", "context", "actions", "exclude"};
    static const member_names known = {names, 4};
    const char *from = reader->value;
    unsigned seen = 0;
    size_t which = 0, features = 0;
    json_token token;
    forget_last(self);
    for (;;) {
        ee_status status = json_next(reader, &token, error);
        if (!status && token.kind == JSON_KIND_OBJECT_END) break;
        if (!status) status = request_member(token.key, &known, "", &seen, &which, error);
        if (!status && which == ID) status = read_id(self, reader, &token, error);
        if (!status && which == CONTEXT) status = read_context(self, reader, limits, &token, &features, error);
        if (!status && which == ACTIONS) status = read_actions(self, reader, limits, &token, &features, error);
        if (!status && which == EXCLUDE) status = read_excludes(self, reader, limits, &token, error);
        if (status) return status;
    }
    self->bytes = (json_text){from, (size_t)(reader->next - from)};
    if (self->count == 0) return status_fail(error, EE_BAD_INPUT, "there are no actions to decide among");
    return settle(self, error);
}

/* ---- the context as it is stored ---- */

/* The members of an object that was read, without its braces and the white space within them. */
static json_text inside(json_text object)
{
    const char *at = object.bytes + 1, *end = object.bytes + object.length - 1;
    while (at < end && (unsigned char)*at <= ' ') at++;
    while (at < end && (unsigned char)end[-1] <= ' ') end--;
    return (json_text){at, (size_t)(end - at)};
}

static char *add(char *out, const char *bytes, size_t length)
{
    memcpy(out, bytes, length);
    return out + length;
}

/* An end of line stands between values alone, where a blank means the same. */
static char *add_members(char *out, json_text members)
{
    char *end = add(out, members.bytes, members.length);
    for (; out < end; out++)
        if (*out == '\n' || *out == '\r') *out = ' ';
    return end;
}

ee_status decide_request_context(const decide_request *self, memory *owner, char **bytes, size_t *size,
                                 size_t *capacity, ee_error *error)
{
    json_text context = self->context.bytes ? inside(self->context) : (json_text){"", 0};
    size_t most = context.length + 16;
    for (size_t i = 0; i < self->count; i++) most += self->features[i].length + 6 * self->names[i].length + 16;
    ee_status status = memory_grow(owner, bytes, capacity, *size + most, 1, error);
    if (status) return status;
    char *out = add(*bytes + *size, "{", 1);
    out = add_members(out, context);
    if (context.length) *out++ = ',';
    out = add(out, "\"_multi\":[", 10);
    for (size_t i = 0; i < self->count; i++) {
        json_text members = inside(self->features[i]);
        if (i) *out++ = ',';
        out = add(out, "{\"_tag\":", 8);
        out += json_quote(self->names[i], out, 6 * self->names[i].length + 2);
        if (members.length) *out++ = ',';
        out = add_members(out, members);
        *out++ = '}';
    }
    out = add(out, "]}", 2);
    *size = (size_t)(out - *bytes);
    return EE_OK;
}
