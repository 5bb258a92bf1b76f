#include "dsjson_line.h"

#include <math.h>
#include <string.h>
#include <strings.h>

dsjson_line dsjson_line_start(memory *owner)
{
    return (dsjson_line){.owner = owner, .room = {.owner = owner}};
}

static void say_wrong(dsjson_line *self, const char *what)
{
    if (!self->of.wrong) self->of.wrong = what;
}

static bool is_word(json_text key, const char *word)
{
    return key.length == strlen(word) && strncasecmp(key.bytes, word, key.length) == 0;
}

/* A text that stays until the next line: those with escapes lie in the reader's room only until the next token. All of
 * them together are no longer than the line, or twice that where the context is read twice. */
static json_text keep(dsjson_line *self, json_text words)
{
    if (words.bytes >= self->bytes && words.bytes <= self->bytes + self->size) return words;
    char *copy = self->texts + self->texts_size;
    memcpy(copy, words.bytes, words.length);
    self->texts_size += words.length;
    return (json_text){copy, words.length};
}

static ee_status skip(dsjson_line *self, const json_token *token, ee_error *error)
{
    return json_skip(&self->reader, token, NULL, error);
}

/* Null is as if it were not there. */
static ee_status take_number(dsjson_line *self, const json_token *token, maybe *into, const char *wrong,
                             ee_error *error)
{
    *into = (maybe){token->kind == JSON_KIND_NUMBER, token->number};
    if (!into->known && token->kind != JSON_KIND_NULL) say_wrong(self, wrong);
    return skip(self, token, error);
}

static ee_status add_number(dsjson_line *self, number_list *list, double number, ee_error *error)
{
    ee_status status =
        memory_grow(self->owner, &list->values, &list->capacity, list->count + 1, sizeof *list->values, error);
    if (!status) list->values[list->count++] = number;
    return status;
}

/* Adds the numbers of an array to the list. */
static ee_status take_numbers(dsjson_line *self, const json_token *token, number_list *list, const char *wrong,
                              ee_error *error)
{
    if (token->kind != JSON_KIND_ARRAY) {
        if (token->kind != JSON_KIND_NULL) say_wrong(self, wrong);
        return skip(self, token, error);
    }
    for (;;) {
        json_token item;
        ee_status status = json_next(&self->reader, &item, error);
        if (status || item.kind == JSON_KIND_ARRAY_END) return status;
        if (item.kind == JSON_KIND_NUMBER) {
            status = add_number(self, list, item.number, error);
        } else {
            say_wrong(self, wrong);
            status = skip(self, &item, error);
        }
        if (status) return status;
    }
}

static void observe(observations *seen, double reward)
{
    if (!seen->count++)
        *seen = (observations){1, reward, reward, reward, reward, seen->activated};
    else {
        seen->last = reward;
        seen->sum += reward;
        seen->max = reward > seen->max ? reward : seen->max;
    }
}

/* One of `o`: {"v": 1, "ActionTaken": true}. v may be anything, but only a number is a reward. */
static ee_status take_observation(dsjson_line *self, observations *seen, ee_error *error)
{
    for (;;) {
        json_token item;
        ee_status status = json_next(&self->reader, &item, error);
        if (status || item.kind == JSON_KIND_OBJECT_END) return status;
        if (item.kind == JSON_KIND_NUMBER && json_is(item.key, "v")) observe(seen, item.number);
        if (item.kind == JSON_KIND_TRUE && json_is(item.key, "ActionTaken")) seen->activated = true;
        status = skip(self, &item, error);
        if (status) return status;
    }
}

static ee_status take_observations(dsjson_line *self, const json_token *token, observations *seen, ee_error *error)
{
    *seen = (observations){0};
    if (token->kind != JSON_KIND_ARRAY) return skip(self, token, error);
    for (;;) {
        json_token item;
        ee_status status = json_next(&self->reader, &item, error);
        if (status || item.kind == JSON_KIND_ARRAY_END) return status;
        status = item.kind == JSON_KIND_OBJECT ? take_observation(self, seen, error) : skip(self, &item, error);
        if (status) return status;
    }
}

/* "_label": {"Action": 1, "Cost": 0, "Probability": 0.5}; a number is a label of another task. */
static ee_status take_label(dsjson_line *self, const json_token *token, ee_error *error)
{
    if (token->kind != JSON_KIND_OBJECT) return skip(self, token, error);
    for (;;) {
        json_token item;
        ee_status status = json_next(&self->reader, &item, error);
        if (status || item.kind == JSON_KIND_OBJECT_END) return status;
        if (is_word(item.key, "cost"))
            status = take_number(self, &item, &self->of.cost, "the cost of _label is no number", error);
        else if (is_word(item.key, "probability"))
            status = take_number(self, &item, &self->of.probability, "the probability of _label is no number", error);
        else if (is_word(item.key, "action"))
            status = take_number(self, &item, &self->of.action, "the action of _label is no number", error);
        else
            status = skip(self, &item, error);
        if (status) return status;
    }
}

/* ---- slots ---- */

static ee_status take_slot_member(dsjson_line *self, const json_token *item, slot_facts *slot, ee_error *error)
{
    if (is_word(item->key, "_label_cost"))
        return take_number(self, item, &slot->cost, "the _label_cost of a slot is no number", error);
    if (json_is(item->key, "_original_label_cost"))
        return take_number(self, item, &slot->original, "the _original_label_cost of a slot is no number", error);
    if (json_is(item->key, "_o")) return take_observations(self, item, &slot->seen, error);
    if (json_is(item->key, "_a")) {
        self->slot_actions.count = slot->first_action;
        ee_status status = take_numbers(self, item, &self->slot_actions, "the _a of a slot are no numbers", error);
        slot->action_count = self->slot_actions.count - slot->first_action;
        return status;
    }
    if (json_is(item->key, "_p")) {
        self->slot_probabilities.count = slot->first_probability;
        ee_status status =
            take_numbers(self, item, &self->slot_probabilities, "the _p of a slot are no numbers", error);
        slot->probability_count = self->slot_probabilities.count - slot->first_probability;
        return status;
    }
    if (json_is(item->key, "_id") && item->kind == JSON_KIND_TEXT) slot->id = keep(self, item->text);
    return skip(self, item, error);
}

static ee_status take_slot(dsjson_line *self, ee_error *error)
{
    ee_status status = memory_grow(self->owner, &self->outcomes, &self->outcome_capacity, self->outcome_count + 1,
                                   sizeof *self->outcomes, error);
    if (status) return status;
    slot_facts *slot = &self->outcomes[self->outcome_count++];
    *slot = (slot_facts){.first_action = self->slot_actions.count, .first_probability = self->slot_probabilities.count};
    for (;;) {
        json_token item;
        status = json_next(&self->reader, &item, error);
        if (status || item.kind == JSON_KIND_OBJECT_END) return status;
        status = take_slot_member(self, &item, slot, error);
        if (status) return status;
    }
}

static ee_status take_outcomes(dsjson_line *self, const json_token *token, ee_error *error)
{
    self->outcome_count = self->slot_actions.count = self->slot_probabilities.count = 0;
    if (token->kind != JSON_KIND_ARRAY) return skip(self, token, error);
    for (;;) {
        json_token item;
        ee_status status = json_next(&self->reader, &item, error);
        if (status || item.kind == JSON_KIND_ARRAY_END) return status;
        status = item.kind == JSON_KIND_OBJECT ? take_slot(self, error) : skip(self, &item, error);
        if (status) return status;
    }
}

/* ---- the context ---- */

static ee_status add_value(dsjson_line *self, double value, uint32_t index, ee_error *error)
{
    size_t wanted = self->value_count + 1;
    ee_status status =
        memory_grow(self->owner, &self->values, &self->values_capacity, wanted, sizeof *self->values, error);
    if (!status)
        status =
            memory_grow(self->owner, &self->indices, &self->indices_capacity, wanted, sizeof *self->indices, error);
    if (status) return status;
    self->values[self->value_count] = (float)value;
    self->indices[self->value_count++] = index;
    return EE_OK;
}

/* The number that a key of a sparse vector is: digits alone, below dim. */
static bool read_index(json_text key, double dim, uint32_t *index)
{
    uint64_t number = 0;
    if (!key.length || key.length > 10) return false;
    for (size_t i = 0; i < key.length; i++) {
        if (key.bytes[i] < '0' || key.bytes[i] > '9') return false;
        number = 10 * number + (uint64_t)(key.bytes[i] - '0');
    }
    *index = (uint32_t)number;
    return (double)number < dim;
}

/* An arm: "x": [0.5, 1], or "x": {"3": 0.5}. */
static ee_status take_vector(dsjson_line *self, const json_token *token, ee_error *error)
{
    bool sparse = token->kind == JSON_KIND_OBJECT;
    size_t first = self->value_count;
    ee_status status = memory_grow(self->owner, &self->starts, &self->starts_capacity, self->vector_count + 2,
                                   sizeof *self->starts, error);
    if (status) return status;
    if (self->vector_count && sparse != self->sparse) say_wrong(self, "some of the vectors are sparse, some are not");
    self->sparse = sparse;
    self->starts[self->vector_count++] = first;
    for (;;) {
        json_token item;
        status = json_next(&self->reader, &item, error);
        if (status || item.kind == (sparse ? JSON_KIND_OBJECT_END : JSON_KIND_ARRAY_END)) break;
        uint32_t index = 0;
        bool follows = !sparse || (read_index(item.key, self->of.dim.value, &index) &&
                                   (self->value_count == first || index > self->indices[self->value_count - 1]));
        if (!follows) say_wrong(self, "the places of a sparse vector do not ascend below _dim");
        if (item.kind != JSON_KIND_NUMBER || !(fabs(item.number) <= 1e9))
            say_wrong(self, "a vector has what is no number from -1e9 to 1e9");
        status = skip(self, &item, error);
        if (!status) status = add_value(self, item.number, index, error);
        if (status) break;
    }
    if (!status && !sparse && (double)(self->value_count - first) != self->of.dim.value)
        say_wrong(self, "a vector has not _dim numbers");
    self->starts[self->vector_count] = self->value_count;
    return status;
}

static ee_status take_action(dsjson_line *self, ee_error *error)
{
    ee_status status = memory_grow(self->owner, &self->names, &self->names_capacity, self->action_count + 1,
                                   sizeof *self->names, error);
    if (status) return status;
    json_text *name = &self->names[self->action_count++];
    *name = (json_text){"", 0};
    for (;;) {
        json_token item;
        status = json_next(&self->reader, &item, error);
        if (status || item.kind == JSON_KIND_OBJECT_END) return status;
        bool vector = self->of.dim.known && json_is(item.key, "x") &&
                      (item.kind == JSON_KIND_ARRAY || item.kind == JSON_KIND_OBJECT);
        if (vector) {
            status = take_vector(self, &item, error);
        } else {
            if (item.kind == JSON_KIND_TEXT && json_is(item.key, "_tag")) *name = keep(self, item.text);
            if (json_is(item.key, "_slot_id")) self->of.slate = true;
            status = skip(self, &item, error);
        }
        if (status) return status;
        self->named = self->named || name->length;
    }
}

static ee_status take_actions(dsjson_line *self, const json_token *token, ee_error *error)
{
    self->action_count = 0;
    if (token->kind != JSON_KIND_ARRAY) return skip(self, token, error);
    for (;;) {
        json_token item;
        ee_status status = json_next(&self->reader, &item, error);
        if (status || item.kind == JSON_KIND_ARRAY_END) return status;
        if (item.kind != JSON_KIND_OBJECT) {
            say_wrong(self, "an action in _multi is no object");
            status = skip(self, &item, error);
        } else {
            status = take_action(self, error);
        }
        if (status) return status;
    }
}

static ee_status take_context(dsjson_line *self, const json_token *token, ee_error *error)
{
    self->action_count = self->vector_count = self->value_count = 0;
    self->named = self->of.slate = false;
    self->of.context = (json_text){0};
    if (token->kind != JSON_KIND_OBJECT) return skip(self, token, error);
    const char *start = self->reader.next - 1; /* its brace */
    self->of.vectors_read = self->of.dim.known;
    for (;;) {
        json_token item;
        ee_status status = json_next(&self->reader, &item, error);
        if (status) return status;
        if (item.kind == JSON_KIND_OBJECT_END) break;
        status = json_is(item.key, "_multi") ? take_actions(self, &item, error) : skip(self, &item, error);
        if (status) return status;
    }
    self->of.context = (json_text){start, (size_t)(self->reader.next - start)};
    return EE_OK;
}

/* ---- the line ---- */

static ee_status take_dim(dsjson_line *self, const json_token *item, ee_error *error)
{
    ee_status status = take_number(self, item, &self->of.dim, "_dim is no number", error);
    double dim = self->of.dim.value;
    if (self->of.dim.known && !(dim >= 1 && dim < 0x1p32 && dim == floor(dim))) {
        say_wrong(self, "_dim is not a whole number from 1 to 2^32 - 1");
        self->of.dim.known = false;
    }
    return status;
}

static ee_status take_underscored(dsjson_line *self, const json_token *item, ee_error *error)
{
    facts *of = &self->of;
    if (is_word(item->key, "_label_cost")) return take_number(self, item, &of->cost, "_label_cost is no number", error);
    if (is_word(item->key, "_label_probability"))
        return take_number(self, item, &of->probability, "_label_probability is no number", error);
    if (is_word(item->key, "_label_action"))
        return take_number(self, item, &of->action, "_label_Action is no number", error);
    if (is_word(item->key, "_labelindex"))
        return take_number(self, item, &of->index, "_labelIndex is no number", error);
    if (json_is(item->key, "_original_label_cost"))
        return take_number(self, item, &of->original, "_original_label_cost is no number", error);
    if (json_is(item->key, "_label")) return take_label(self, item, error);
    if (json_is(item->key, "_outcomes")) return take_outcomes(self, item, error);
    if (json_is(item->key, "_dim")) return take_dim(self, item, error);
    if (json_is(item->key, "_ba")) {
        self->baselines.count = 0;
        return take_numbers(self, item, &self->baselines, "_ba are no numbers", error);
    }
    if (json_is(item->key, "_skipLearn")) of->skip = item->kind == JSON_KIND_TRUE;
    if (json_is(item->key, "_deferred")) of->deferred = item->kind == JSON_KIND_TRUE;
    if (json_is(item->key, "_label_ca")) of->continuous = true;
    return skip(self, item, error);
}

static ee_status take_member(dsjson_line *self, const json_token *item, ee_error *error)
{
    facts *of = &self->of;
    json_text key = item->key;
    if (key.length && key.bytes[0] == '_') return take_underscored(self, item, error);
    if (json_is(key, "c")) return take_context(self, item, error);
    if (json_is(key, "o")) return take_observations(self, item, &of->seen, error);
    if (json_is(key, "pdrop")) return take_number(self, item, &of->drop, "pdrop is no number", error);
    if (json_is(key, "a")) {
        self->actions.count = 0;
        return take_numbers(self, item, &self->actions, "a are no numbers", error);
    }
    if (json_is(key, "p")) {
        self->probabilities.count = 0;
        return take_numbers(self, item, &self->probabilities, "p are no numbers", error);
    }
    if (item->kind == JSON_KIND_TEXT && json_is(key, "EventId")) of->id = keep(self, item->text);
    if (item->kind == JSON_KIND_TEXT && json_is(key, "Timestamp")) of->time = keep(self, item->text);
    if (json_is(key, "DeferredAction")) of->deferred = item->kind == JSON_KIND_TRUE;
    if (json_is(key, "RewardValue") || json_is(key, "Observations")) of->dangling = true;
    if (json_is(key, "pdf")) of->continuous = true;
    return skip(self, item, error);
}

static ee_status take_line(dsjson_line *self, bool *object, ee_error *error)
{
    json_token token;
    ee_status status = json_next(&self->reader, &token, error);
    if (status) return status;
    *object = token.kind == JSON_KIND_OBJECT;
    if (!*object) {
        status = skip(self, &token, error);
    } else {
        for (;;) {
            status = json_next(&self->reader, &token, error);
            if (status) return status;
            if (token.kind == JSON_KIND_OBJECT_END) break;
            status = take_member(self, &token, error);
            if (status) return status;
        }
    }
    return status ? status : json_next(&self->reader, &token, error); /* what may follow is white space alone */
}

/* _dim came after the vectors: once more. */
static ee_status read_vectors(dsjson_line *self, ee_error *error)
{
    if (!self->of.dim.known || self->of.vectors_read || !self->of.context.bytes) return EE_OK;
    json_token token;
    self->reader = json_start(self->of.context.bytes, self->of.context.length, &self->room);
    ee_status status = json_next(&self->reader, &token, error);
    return status ? status : take_context(self, &token, error);
}

static void clear(dsjson_line *self, const char *bytes, size_t size)
{
    self->bytes = bytes;
    self->size = size;
    self->texts_size = 0;
    self->of = (facts){0};
    self->actions.count = self->probabilities.count = self->baselines.count = 0;
    self->slot_actions.count = self->slot_probabilities.count = self->outcome_count = 0;
    self->action_count = self->vector_count = self->value_count = 0;
    self->named = self->sparse = false;
    self->reader = json_start(bytes, size, &self->room);
}

ee_status dsjson_line_gather(dsjson_line *self, const char *bytes, size_t size, bool *object, ee_error *error)
{
    ee_status status = memory_grow(self->owner, &self->texts, &self->texts_capacity, 2 * size, 1, error);
    if (status) return status;
    clear(self, bytes, size);
    status = take_line(self, object, error);
    return status ? status : read_vectors(self, error);
}
