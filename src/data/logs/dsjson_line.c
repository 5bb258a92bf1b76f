#include "dsjson_line.h"

#include <math.h>
#include <string.h>

#include "dsjson_slots.h"

dsjson_line dsjson_line_start(memory *owner)
{
    return (dsjson_line){.owner = owner, .room = {.owner = owner}};
}

/* "_label": {"Action": 1, "Cost": 0, "Probability": 0.5}; a number is a label of another task. */
static ee_status take_label(dsjson_line *self, const json_token *token, ee_error *error)
{
    if (token->kind != JSON_KIND_OBJECT) return line_skip(self, token, error);
    json_token item;
    ee_status status = EE_OK;
    while (line_next(self, &item, &status, error)) {
        if (line_is_word(item.key, "cost"))
            status = line_take_number(self, &item, &self->of.cost, "the cost in _label must be a number", error);
        else if (line_is_word(item.key, "probability"))
            status = line_take_number(self, &item, &self->of.probability, "the probability in _label must be a number",
                                      error);
        else if (line_is_word(item.key, "action"))
            status = line_take_number(self, &item, &self->of.action, "the action in _label must be a number", error);
        else
            status = line_skip(self, &item, error);
    }
    return status;
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

/* Parses the key of a sparse vector: only digits, below dim. */
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
    if (self->vector_count && sparse != self->sparse) line_set_problem(self, "vectors must be all sparse or all dense");
    self->sparse = sparse;
    self->starts[self->vector_count++] = first;
    json_token item;
    while (line_next(self, &item, &status, error)) {
        uint32_t index = 0;
        bool follows = !sparse || (read_index(item.key, self->of.dim.value, &index) &&
                                   (self->value_count == first || index > self->indices[self->value_count - 1]));
        if (!follows) line_set_problem(self, "the indices of a sparse vector must ascend and be below _dim");
        if (item.kind != JSON_KIND_NUMBER || !(fabs(item.number) <= 1e9))
            line_set_problem(self, "a vector may hold only numbers from -1e9 to 1e9");
        status = line_skip(self, &item, error);
        if (!status) status = add_value(self, item.number, index, error);
    }
    if (!status && !sparse && (double)(self->value_count - first) != self->of.dim.value)
        line_set_problem(self, "a vector must have _dim numbers");
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
    json_token item;
    while (line_next(self, &item, &status, error)) {
        bool vector = self->of.dim.known && json_is(item.key, "x") &&
                      (item.kind == JSON_KIND_ARRAY || item.kind == JSON_KIND_OBJECT);
        if (vector) {
            status = take_vector(self, &item, error);
        } else {
            if (item.kind == JSON_KIND_TEXT && json_is(item.key, "_tag")) *name = line_keep_text(self, item.text);
            if (json_is(item.key, "_slot_id")) self->of.slate = true;
            status = line_skip(self, &item, error);
        }
        self->named = self->named || name->length;
    }
    return status;
}

static ee_status take_actions(dsjson_line *self, const json_token *token, ee_error *error)
{
    self->action_count = 0;
    if (token->kind != JSON_KIND_ARRAY) return line_skip(self, token, error);
    json_token item;
    ee_status status = EE_OK;
    while (line_next(self, &item, &status, error)) {
        bool object = item.kind == JSON_KIND_OBJECT;
        if (!object) line_set_problem(self, "an action in _multi must be an object");
        status = object ? take_action(self, error) : line_skip(self, &item, error);
    }
    return status;
}

static ee_status take_context(dsjson_line *self, const json_token *token, ee_error *error)
{
    self->action_count = self->vector_count = self->value_count = self->slot_count = 0;
    self->named = self->of.slate = false;
    self->of.context = (json_text){0};
    if (token->kind != JSON_KIND_OBJECT) return line_skip(self, token, error);
    const char *start = self->reader.next - 1; /* its brace */
    self->of.vectors_read = self->of.dim.known;
    json_token item;
    ee_status status = EE_OK;
    while (line_next(self, &item, &status, error)) {
        if (json_is(item.key, "_multi"))
            status = take_actions(self, &item, error);
        else if (json_is(item.key, "_slots"))
            status = line_take_slots(self, &item, error);
        else
            status = line_skip(self, &item, error);
    }
    if (status) return status;
    self->of.context = (json_text){start, (size_t)(self->reader.next - start)};
    return EE_OK;
}

/* ---- the line ---- */

static ee_status take_dim(dsjson_line *self, const json_token *item, ee_error *error)
{
    ee_status status = line_take_number(self, item, &self->of.dim, "_dim must be a number", error);
    double dim = self->of.dim.value;
    if (self->of.dim.known && !(dim >= 1 && dim < 0x1p32 && dim == floor(dim))) {
        line_set_problem(self, "_dim must be a whole number from 1 to 2^32 - 1");
        self->of.dim.known = false;
    }
    return status;
}

/* ---- guardrails and metrics ---- */

static ee_status take_text(dsjson_line *self, const json_token *item, json_text *into, const char *wrong,
                           ee_error *error)
{
    bool known = item->kind == JSON_KIND_TEXT;
    *into = known ? line_keep_text(self, item->text) : (json_text){0};
    if (!known && item->kind != JSON_KIND_NULL) line_set_problem(self, wrong);
    return line_skip(self, item, error);
}

static ee_status take_group(dsjson_line *self, const json_token *item, ee_error *error)
{
    static const char wrong[] = "_group must be treated, control, waiting or fallback";
    json_text name;
    ee_status status = take_text(self, item, &name, wrong, error);
    if (!status && !log_group_find(name, &self->of.guard.group)) line_set_problem(self, wrong);
    return status;
}

static ee_status take_rules(dsjson_line *self, const json_token *token, ee_error *error)
{
    static const char wrong[] = "_rules must be an array of names";
    const char *start = self->reader.next - 1; /* its bracket */
    size_t count = 0;
    self->of.guard.rules = (json_text){0};
    if (token->kind != JSON_KIND_ARRAY) {
        if (token->kind != JSON_KIND_NULL) line_set_problem(self, wrong);
        return line_skip(self, token, error);
    }
    json_token item;
    ee_status status = EE_OK;
    for (; line_next(self, &item, &status, error); count++) {
        if (item.kind != JSON_KIND_TEXT || !item.text.length) line_set_problem(self, wrong);
        status = line_skip(self, &item, error);
    }
    if (count) self->of.guard.rules = (json_text){start, (size_t)(self->reader.next - start)};
    return status;
}

/* "_metrics": {"refund": 1}. null counts as absent. */
static ee_status take_metrics(dsjson_line *self, const json_token *token, ee_error *error)
{
    static const char wrong[] = "_metrics must be an object with numbers";
    self->metric_count = 0;
    if (token->kind != JSON_KIND_OBJECT) {
        if (token->kind != JSON_KIND_NULL) line_set_problem(self, wrong);
        return line_skip(self, token, error);
    }
    json_token item;
    ee_status status = EE_OK;
    while (line_next(self, &item, &status, error)) {
        if (item.kind != JSON_KIND_NUMBER && item.kind != JSON_KIND_NULL) line_set_problem(self, wrong);
        if (item.kind == JSON_KIND_NUMBER) {
            status = memory_grow(self->owner, &self->metrics, &self->metric_capacity, self->metric_count + 1,
                                 sizeof *self->metrics, error);
            if (status) return status;
            self->metrics[self->metric_count++] = (log_metric){line_keep_text(self, item.key), item.number};
        }
        status = line_skip(self, &item, error);
    }
    return status;
}

static ee_status take_guard(dsjson_line *self, const json_token *item, ee_error *error)
{
    log_guard *guard = &self->of.guard;
    maybe share;
    if (json_is(item->key, "_group")) return take_group(self, item, error);
    if (json_is(item->key, "_key")) return take_text(self, item, &guard->key, "_key must be a string", error);
    if (json_is(item->key, "_segment"))
        return take_text(self, item, &guard->segment, "_segment must be a string", error);
    if (json_is(item->key, "_repeats"))
        return take_text(self, item, &guard->repeats, "_repeats must be a string", error);
    if (json_is(item->key, "_rules")) return take_rules(self, item, error);
    if (json_is(item->key, "_metrics")) return take_metrics(self, item, error);
    if (json_is(item->key, "_baseline_uniform")) guard->uniform = item->kind == JSON_KIND_TRUE;
    if (!json_is(item->key, "_treated_share")) return line_skip(self, item, error);
    ee_status status = line_take_number(self, item, &share, "_treated_share must be a number", error);
    guard->treated_share = share.known ? share.value : 0.0;
    return status;
}

static ee_status take_underscored(dsjson_line *self, const json_token *item, ee_error *error)
{
    facts *of = &self->of;
    if (line_is_word(item->key, "_label_cost"))
        return line_take_number(self, item, &of->cost, "_label_cost must be a number", error);
    if (line_is_word(item->key, "_label_probability"))
        return line_take_number(self, item, &of->probability, "_label_probability must be a number", error);
    if (line_is_word(item->key, "_label_action"))
        return line_take_number(self, item, &of->action, "_label_Action must be a number", error);
    if (line_is_word(item->key, "_labelindex"))
        return line_take_number(self, item, &of->index, "_labelIndex must be a number", error);
    if (json_is(item->key, "_original_label_cost"))
        return line_take_number(self, item, &of->original, "_original_label_cost must be a number", error);
    if (json_is(item->key, "_label")) return take_label(self, item, error);
    if (json_is(item->key, "_outcomes")) return line_take_outcomes(self, item, error);
    if (json_is(item->key, "_dim")) return take_dim(self, item, error);
    if (json_is(item->key, "_ba")) {
        self->baselines.count = 0;
        return line_take_numbers(self, item, &self->baselines, "_ba must be an array of numbers", error);
    }
    if (json_is(item->key, "_skipLearn")) of->skip = item->kind == JSON_KIND_TRUE;
    if (json_is(item->key, "_deferred")) of->deferred = item->kind == JSON_KIND_TRUE;
    if (json_is(item->key, "_label_ca")) of->continuous = true;
    return take_guard(self, item, error);
}

static ee_status take_member(dsjson_line *self, const json_token *item, ee_error *error)
{
    facts *of = &self->of;
    json_text key = item->key;
    if (key.length && key.bytes[0] == '_') return take_underscored(self, item, error);
    if (json_is(key, "c")) return take_context(self, item, error);
    if (json_is(key, "o")) return line_take_observations(self, item, &of->seen, error);
    if (json_is(key, "pdrop")) return line_take_number(self, item, &of->drop, "pdrop must be a number", error);
    if (json_is(key, "a")) {
        self->actions.count = 0;
        return line_take_numbers(self, item, &self->actions, "a must be an array of numbers", error);
    }
    if (json_is(key, "p")) {
        self->probabilities.count = 0;
        return line_take_numbers(self, item, &self->probabilities, "p must be an array of numbers", error);
    }
    if (item->kind == JSON_KIND_TEXT && json_is(key, "EventId")) of->id = line_keep_text(self, item->text);
    if (item->kind == JSON_KIND_TEXT && json_is(key, "Timestamp")) of->time = line_keep_text(self, item->text);
    if (json_is(key, "DeferredAction")) of->deferred = item->kind == JSON_KIND_TRUE;
    if (json_is(key, "RewardValue") || json_is(key, "Observations")) of->dangling = true;
    if (json_is(key, "pdf")) of->continuous = true;
    return line_skip(self, item, error);
}

static ee_status take_line(dsjson_line *self, bool *object, ee_error *error)
{
    json_token token;
    ee_status status = json_next(&self->reader, &token, error);
    if (status) return status;
    *object = token.kind == JSON_KIND_OBJECT;
    if (!*object) status = line_skip(self, &token, error);
    while (*object && line_next(self, &token, &status, error)) status = take_member(self, &token, error);
    return status ? status : json_next(&self->reader, &token, error); /* only white space may follow */
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
    self->slot_count = self->allowed.count = self->metric_count = 0;
    self->action_count = self->vector_count = self->value_count = 0;
    self->named = self->sparse = false;
    self->reader = json_start(bytes, size, &self->room);
}

/* The slots were removed from the context; the rest is shared. */
static ee_status cut_slots(dsjson_line *self, ee_error *error)
{
    static const char *const slots[] = {"_slots"};
    if (!self->outcome_count || !self->slot_count) return EE_OK;
    json_text whole = self->of.context;
    return line_copy_without(self, whole, slots, 1, &self->of.context, error);
}

ee_status dsjson_line_gather(dsjson_line *self, const char *bytes, size_t size, bool *object, ee_error *error)
{
    /* Unescaped texts and reduced objects together are at most as long as the line; twice that if the context is read
     * twice. */
    ee_status status = memory_grow(self->owner, &self->texts, &self->texts_capacity, 4 * size, 1, error);
    if (status) return status;
    clear(self, bytes, size);
    status = take_line(self, object, error);
    if (!status) status = read_vectors(self, error);
    return status ? status : cut_slots(self, error);
}
