#include "guard_facts.h"

#include <stdio.h>

enum {
    PATH_SIZE = GUARD_PATH_SIZE,
    MOST_SEGMENT = 256 /* bytes: what is longer is cut, so that the log can always be read */
};

/* A value that was read, and where. */
typedef struct reading {
    guard_facts *into;
    const guard_settings *of;
    json_reader *reader;
    size_t actions; /* of the decision */
    size_t action;  /* the one that is read; SIZE_MAX: the context */
    uint64_t terms; /* that hold, of the part that is read */
    char path[PATH_SIZE];
    size_t length;
} reading;

/* ---- values ---- */

static bool value_matches(const guard_value *value, const json_token *token)
{
    if (token->kind == JSON_KIND_NUMBER && !value->words)
        return value->low == value->high ? token->number == value->low
                                         : token->number >= value->low && token->number < value->high;
    if (!value->words) return false;
    if (token->kind == JSON_KIND_TEXT) return json_is(token->text, value->words);
    if (token->kind == JSON_KIND_TRUE) return strcmp(value->words, "true") == 0;
    return token->kind == JSON_KIND_FALSE && strcmp(value->words, "false") == 0;
}

static bool term_matches(const guard_term *term, const json_token *token)
{
    for (size_t i = 0; i < term->value_count; i++)
        if (value_matches(&term->values[i], token)) return true;
    return false;
}

/* The bytes of the text that a segment keeps, which end where a character ends. */
static size_t segment_length(json_text words)
{
    size_t length = words.length < MOST_SEGMENT ? words.length : MOST_SEGMENT;
    while (length < words.length && length && ((unsigned char)words.bytes[length] & 0xc0) == 0x80) length--;
    return length;
}

static void set_segment(text *into, const json_token *token)
{
    into->length = 0;
    if (token->kind == JSON_KIND_TEXT)
        text_bytes(into, token->text.bytes, segment_length(token->text));
    else if (token->kind == JSON_KIND_NUMBER)
        text_double(into, token->number);
    else if (token->kind == JSON_KIND_TRUE || token->kind == JSON_KIND_FALSE)
        text_add(into, token->kind == JSON_KIND_TRUE ? "true" : "false");
}

/* A value at the current path. */
static void take_value(reading *self, const json_token *token)
{
    const guard_settings *of = self->of;
    json_text path = {self->path, self->length};
    bool of_action = self->action != SIZE_MAX;
    for (size_t i = 0; i < of->term_count; i++) {
        const guard_term *term = &of->terms[i];
        if (term->of_action == of_action && json_is(path, term->path) && term_matches(term, token))
            self->terms |= (uint64_t)1 << i;
    }
    if (!of_action && of->segment && json_is(path, of->segment)) set_segment(&self->into->segment, token);
    for (size_t i = 0; of_action && i < of->budget_count; i++)
        if (of->budgets[i].cost_path && json_is(path, of->budgets[i].cost_path))
            self->into->costs[i * self->actions + self->action] = token->kind == JSON_KIND_NUMBER ? token->number : -1;
}

/* ---- objects ---- */

/* Adds a key to the path; a path that is too long matches nothing. Returns the length before. */
static size_t enter(reading *self, json_text key)
{
    size_t before = self->length, dot = before > 0;
    if (before + dot + key.length >= PATH_SIZE) {
        self->length = PATH_SIZE - 1;
        memset(self->path + before, 0, PATH_SIZE - before);
        return before;
    }
    if (dot) self->path[self->length++] = '.';
    if (key.length) memcpy(self->path + self->length, key.bytes, key.length);
    self->length += key.length;
    return before;
}

/* The members of an object, or the elements of an array, after its first token. */
static ee_status read_children(reading *self, ee_error *error);

static ee_status read_child(reading *self, const json_token *token, ee_error *error)
{
    if (token->kind == JSON_KIND_OBJECT || token->kind == JSON_KIND_ARRAY) return read_children(self, error);
    take_value(self, token);
    return EE_OK;
}

static ee_status read_children(reading *self, ee_error *error)
{
    json_token token;
    ee_status status;
    while (!(status = json_next(self->reader, &token, error))) {
        if (token.kind == JSON_KIND_OBJECT_END || token.kind == JSON_KIND_ARRAY_END) return EE_OK;
        size_t before = token.key.bytes ? enter(self, token.key) : self->length;
        status = read_child(self, &token, error);
        self->length = before;
        if (status) return status;
    }
    return status;
}

/* ---- the decision ---- */

/* The name of an action is its "_id". */
static void take_name(reading *self, const decision_body *body)
{
    char digits[24];
    json_text name = body->names ? body->names[self->action]
                                 : (json_text){digits, (size_t)snprintf(digits, sizeof digits, "%zu", self->action)};
    json_token token = {.kind = JSON_KIND_TEXT, .text = name};
    self->length = 0;
    size_t before = enter(self, (json_text){"_id", 3});
    take_value(self, &token);
    self->length = before;
}

static ee_status read_actions(reading *self, const decision_body *body, ee_error *error)
{
    json_token token;
    ee_status status;
    uint64_t *matches = self->into->matches;
    self->length = 0;
    for (self->action = 0; !(status = json_next(self->reader, &token, error)); self->action++) {
        if (token.kind == JSON_KIND_ARRAY_END) break;
        if (self->action >= body->count) {
            status = json_skip(self->reader, &token, NULL, error);
        } else {
            self->terms = 0;
            status = read_child(self, &token, error);
            matches[self->action] |= self->terms;
        }
        if (status) return status;
    }
    self->action = SIZE_MAX;
    return status;
}

static ee_status read_context(reading *self, const decision_body *body, uint64_t *context, ee_error *error)
{
    json_token token;
    ee_status status = json_next(self->reader, &token, error);
    self->action = SIZE_MAX;
    while (!status && !(status = json_next(self->reader, &token, error)) && token.kind != JSON_KIND_OBJECT_END) {
        if (json_is(token.key, "_multi") && token.kind == JSON_KIND_ARRAY) {
            status = read_actions(self, body, error);
            continue;
        }
        self->terms = 0;
        self->length = 0;
        enter(self, token.key);
        status = read_child(self, &token, error);
        *context |= self->terms;
    }
    return status;
}

/* Of actions that say nothing else. */
static void start_costs(guard_facts *self, const guard_settings *of, size_t count)
{
    for (size_t i = 0; i < of->budget_count * count; i++) self->costs[i] = of->budgets[i / count].cost;
}

static void complete_costs(guard_facts *self, const guard_settings *of, size_t count)
{
    for (size_t b = 0; b < of->budget_count; b++) {
        const guard_budget *budget = &of->budgets[b];
        for (size_t i = 0; i < count; i++) {
            double *cost = &self->costs[b * count + i];
            bool is_about = (self->matches[i] & budget->terms) == budget->terms;
            if (!is_about) *cost = 0;
        }
    }
}

ee_status guard_facts_read(guard_facts *self, const guard_settings *of, const decision_body *body, ee_error *error)
{
    size_t count = body->count, costs = of->budget_count * count;
    uint64_t context = 0;
    ee_status status =
        memory_grow(&self->memory, &self->matches, &self->match_capacity, count, sizeof *self->matches, error);
    if (!status)
        status = memory_grow(&self->memory, &self->costs, &self->cost_capacity, costs, sizeof *self->costs, error);
    if (status) return status;
    self->json.owner = &self->memory;
    self->segment.owner = &self->memory;
    self->segment.length = 0;
    memset(self->matches, 0, count * sizeof *self->matches);
    start_costs(self, of, count);
    json_reader reader = json_start(body->context.bytes, body->context.length, &self->json);
    reading r = {.into = self, .of = of, .reader = &reader, .actions = count};
    if (body->context.length) status = read_context(&r, body, &context, error);
    if (status) return status;
    for (r.action = 0; r.action < count; r.action++) {
        r.terms = 0;
        take_name(&r, body);
        self->matches[r.action] |= r.terms | context;
    }
    complete_costs(self, of, count);
    return self->segment.status;
}

ee_status guard_facts_check_costs(const guard_facts *self, const guard_settings *of, const decision_body *body,
                                  ee_error *error)
{
    for (size_t i = 0; i < of->budget_count * body->count; i++) {
        const guard_budget *budget = &of->budgets[i / body->count];
        size_t action = i % body->count;
        if (self->costs[i] >= 0) continue;
        return status_fail(
            error, EE_BAD_INPUT,
            "actions[%zu].features: the budget '%s' needs the cost of each action, '%s', a number from 0; "
            "add it, or set the budget's default_cost",
            action, budget->name, budget->cost_path);
    }
    return EE_OK;
}

void guard_facts_release(guard_facts *self)
{
    memory_release(&self->memory);
}
