/* Shared by the readers of decide requests. */
#include <stdarg.h>
#include <stdio.h>

#include "data/values/id_set.h"
#include "decide_request.h"

json_reader decide_request_start(decide_request *self, json_text body)
{
    self->room.owner = self->texts.owner = self->owner;
    self->texts.size = 0;
    return json_start(body.bytes, body.length, &self->room);
}

void decide_request_clear(decide_request *self)
{
    self->id = self->key = self->context = (json_text){NULL, 0};
    self->count = self->excluded_count = self->exclude_count = self->first_exclude = self->request_excludes = 0;
    self->slot_count = self->feature_count = 0;
    self->named = self->deferred = self->dry_run = self->too_large = false;
}

ee_status decide_refuse_size(decide_request *self, ee_error *error, const char *format, ...)
{
    va_list list;
    char message[sizeof error->message];
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    self->too_large = true;
    return status_fail(error, EE_BAD_INPUT, "%s", message);
}

ee_status decide_room_for_action(decide_request *self, ee_error *error)
{
    ee_status status =
        memory_grow(self->owner, &self->names, &self->name_capacity, self->count + 1, sizeof *self->names, error);
    if (!status)
        status = memory_grow(self->owner, &self->features, &self->feature_capacity, self->count + 1,
                             sizeof *self->features, error);
    if (!status) self->features[self->count] = (json_text){NULL, 0};
    return status;
}

ee_status decide_room_for_slot(decide_request *self, ee_error *error)
{
    ee_status status =
        memory_grow(self->owner, &self->slots, &self->slot_capacity, self->slot_count + 1, sizeof *self->slots, error);
    if (!status) self->slots[self->slot_count] = (decide_slot){.exclude_count = 0};
    return status;
}

ee_status decide_read_id(decide_request *self, json_reader *reader, const json_token *token, const char *what,
                         json_text *out, ee_error *error)
{
    ee_status status = request_check_id(token, what, error);
    if (status) return status;
    *out = token->text;
    return kept_texts_keep(&self->texts, reader, out, error);
}

/* ---- features ---- */

/* Members that the stored context, or Vowpal Wabbit, has a meaning for. */
static bool is_taken(json_text key, const char *const *taken)
{
    for (; *taken; taken++)
        if (json_is(key, *taken)) return true;
    return false;
}

ee_status decide_pass_features(decide_request *self, json_reader *reader, const decide_limits *limits,
                               const char *where, const char *const *taken, bool of_array, json_text *span,
                               ee_error *error)
{
    const char *from = reader->value;
    unsigned outside = reader->depth - 1;
    json_token token;
    while (reader->depth > outside) {
        ee_status status = json_next(reader, &token, error);
        if (status) return status;
        bool opens = token.kind == JSON_KIND_OBJECT || token.kind == JSON_KIND_ARRAY;
        bool closes = token.kind == JSON_KIND_OBJECT_END || token.kind == JSON_KIND_ARRAY_END;
        bool at_top = reader->depth - opens == outside + 1 && !closes;
        if (at_top && token.key.bytes && is_taken(token.key, taken))
            return status_fail(error, EE_BAD_INPUT, "%s: the key \"%.*s\" is reserved", where, request_shown(token.key),
                               token.key.bytes);
        if (at_top && of_array && token.kind != JSON_KIND_OBJECT)
            return status_fail(error, EE_BAD_INPUT, "%s must be an array of objects", where);
        bool scalar = token.kind == JSON_KIND_NUMBER || token.kind == JSON_KIND_TEXT || token.kind == JSON_KIND_TRUE;
        if (scalar && ++self->feature_count > limits->features)
            return decide_refuse_size(self, error, "more than %zu features in one decision (setting 'features')",
                                      limits->features);
    }
    *span = (json_text){from, (size_t)(reader->next - from)};
    return EE_OK;
}

/* ---- exclusion ---- */

ee_status decide_read_excludes(decide_request *self, json_reader *reader, const decide_limits *limits,
                               const char *where, const json_token *first, ee_error *error)
{
    json_token token;
    if (first->kind == JSON_KIND_NULL) return EE_OK;
    if (first->kind != JSON_KIND_ARRAY)
        return status_fail(error, EE_BAD_INPUT, "%s must be an array of action ids", where);
    for (size_t place = 0;; place++, self->exclude_count++) {
        ee_status status = json_next(reader, &token, error);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        if (token.kind != JSON_KIND_TEXT)
            return status_fail(error, EE_BAD_INPUT, "%s[%zu] must be the id of an action", where, place);
        if (place == limits->actions)
            return decide_refuse_size(self, error, "%s has more than %zu ids", where, limits->actions);
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
static size_t place_of(const decide_request *self, json_text name)
{
    size_t last = self->place_count - 1, at = (size_t)id_hash(name.bytes, name.length) & last;
    for (; self->places[at]; at = (at + 1) & last) {
        json_text other = self->names[self->places[at] - 1];
        if (other.length == name.length && memcmp(other.bytes, name.bytes, name.length) == 0) break;
    }
    return at;
}

/* Checks that all names differ, and indexes them. */
static ee_status place_names(decide_request *self, ee_error *error)
{
    size_t size = 16;
    while (size < 2 * self->count) size *= 2;
    ee_status status =
        memory_grow(self->owner, &self->places, &self->place_capacity, size, sizeof *self->places, error);
    if (status) return status;
    self->place_count = size;
    memset(self->places, 0, size * sizeof *self->places);
    for (size_t i = 0; i < self->count; i++) {
        size_t at = place_of(self, self->names[i]);
        if (self->places[at])
            return status_fail(error, EE_BAD_INPUT, "actions[%zu] and actions[%u] have the same id, \"%.*s\"", i,
                               self->places[at] - 1, request_shown(self->names[i]), self->names[i].bytes);
        self->places[at] = (uint32_t)(i + 1);
    }
    return EE_OK;
}

/* The action of this name; count: there is none. */
static size_t find_action(const decide_request *self, json_text name)
{
    if (self->named) {
        uint32_t place = self->places[place_of(self, name)];
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

/* Marks those that are named from number `first` on in the row of excluded ones. */
static ee_status mark_excluded(decide_request *self, size_t first, size_t count, const char *where, bool lenient,
                               uint8_t *row, ee_error *error)
{
    for (size_t i = 0; i < count; i++) {
        json_text name = self->excludes[first + i];
        size_t found = find_action(self, name);
        if (found < self->count)
            row[found] = 1;
        else if (!lenient)
            return status_fail(error, EE_BAD_INPUT, "%s[%zu]: no action has the id \"%.*s\"", where, i,
                               request_shown(name), name.bytes);
    }
    return EE_OK;
}

static size_t count_marked(const uint8_t *row, size_t count)
{
    size_t marked = 0;
    for (size_t i = 0; i < count; i++) marked += row[i];
    return marked;
}

/* ---- slots ---- */

static ee_status settle_baseline(decide_request *self, size_t slot, const uint8_t *row, ee_error *error)
{
    decide_slot *of = &self->slots[slot];
    of->baseline_action = self->count;
    if (!of->baseline.bytes) return EE_OK;
    of->baseline_action = find_action(self, of->baseline);
    const char *trouble = of->baseline_action == self->count ? "no action has this id"
                          : row[of->baseline_action]         ? "this action is excluded"
                                                             : NULL;
    for (size_t i = 0; i < slot && !trouble; i++)
        if (self->slots[i].baseline_action == of->baseline_action) trouble = "an earlier slot has the same baseline";
    if (!trouble) return EE_OK;
    return status_fail(error, EE_BAD_INPUT, "slots[%zu]: the baseline is \"%.*s\", but %s", slot,
                       request_shown(of->baseline), of->baseline.bytes, trouble);
}

/* Whether an action is left for the slot whatever those before it take. The row behind the last one has what they may
 * take; this slot's is added to it. */
static bool is_something_left(decide_request *self, size_t slot, const uint8_t *row)
{
    uint8_t *reached = self->excluded + self->slot_count * self->count;
    size_t free = 0, contested = 0;
    if (!slot) memset(reached, 0, self->count);
    for (size_t i = 0; i < self->count; i++) {
        free += !row[i];
        contested += !row[i] && reached[i];
        if (!row[i]) reached[i] = 1;
    }
    return free > (contested < slot ? contested : slot);
}

static ee_status settle_slot(decide_request *self, size_t slot, bool lenient, ee_error *error)
{
    char where[48];
    const decide_slot *of = &self->slots[slot];
    uint8_t *row = self->excluded + slot * self->count;
    for (size_t i = 0; i < slot; i++) {
        json_text other = self->slots[i].id;
        if (other.length == of->id.length && memcmp(other.bytes, of->id.bytes, other.length) == 0)
            return status_fail(error, EE_BAD_INPUT, "slots[%zu] and slots[%zu] have the same id, \"%.*s\"", slot, i,
                               request_shown(other), other.bytes);
    }
    snprintf(where, sizeof where, "slots[%zu].exclude", slot);
    ee_status status = mark_excluded(self, of->first_exclude, of->exclude_count, where, lenient, row, error);
    if (!status) status = settle_baseline(self, slot, row, error);
    if (!status && !is_something_left(self, slot, row))
        return status_fail(
            error, EE_BAD_INPUT,
            "slots[%zu]: the slots before it may take every action it allows; add actions, or exclude fewer", slot);
    return status;
}

ee_status decide_request_settle(decide_request *self, bool lenient, ee_error *error)
{
    size_t rows = self->slot_count ? self->slot_count : 1; /* and one for is_something_left */
    if (self->count == 0) return status_fail(error, EE_BAD_INPUT, "actions: expected at least one");
    ee_status status = self->named ? place_names(self, error) : EE_OK;
    if (!status)
        status =
            memory_grow(self->owner, &self->excluded, &self->excluded_capacity, (rows + 1) * self->count, 1, error);
    if (status) return status;
    memset(self->excluded, 0, self->count);
    status =
        mark_excluded(self, self->first_exclude, self->request_excludes, "exclude", lenient, self->excluded, error);
    if (status) return status;
    self->excluded_count = self->request_excludes ? count_marked(self->excluded, self->count) : 0;
    if (self->excluded_count == self->count)
        return status_fail(error, EE_BAD_INPUT, "no action is left: all %zu are excluded", self->count);
    for (size_t i = 1; i < rows; i++) memcpy(self->excluded + i * self->count, self->excluded, self->count);
    for (size_t i = 0; i < self->slot_count && !status; i++) status = settle_slot(self, i, lenient, error);
    return status;
}
