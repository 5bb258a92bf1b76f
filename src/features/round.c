#include "round.h"

#include <string.h>

#include "feature_names.h"

/* The longest path and key: each feature has them in full, so longer ones would let a small text take much memory. */
enum { LONGEST_NAME = 512 };
/* Larger values would overflow a sum of squares. */
static const double LARGEST_NUMBER = 1e100;

typedef struct parser {
    ee_round *round;
    json_reader reader;
    feature_list *list;      /* receives features */
    char path[LONGEST_NAME]; /* of the open namespaces */
    size_t path_bytes, inner;
    bool reads_multi; /* at the top level, where "_multi" has the actions */
    bool identified;  /* the current action has an id: feature number id_at of the list */
    size_t id_at;
    const char *verb; /* begins messages */
    ee_error *error;
} parser;

/* ---- JSON ---- */

static ee_status say_where(const parser *self, ee_status status)
{
    if (!status || !self->error) return status;
    ee_error found = *self->error;
    return status_fail(self->error, status, "%s: %.200s", self->verb, found.message);
}

static ee_status next_token(parser *self, json_token *token)
{
    return say_where(self, json_next(&self->reader, token, self->error));
}

/* ---- names ---- */

static ee_status fail_long(const parser *self)
{
    return status_fail(self->error, EE_BAD_INPUT, "features: a name that begins with '%.*s' is longer than %d bytes",
                       (int)(self->path_bytes < 60 ? self->path_bytes : 60), self->path, LONGEST_NAME);
}

/* Opens the namespace of a key; the caller saves and restores path_bytes and inner. */
static ee_status enter(parser *self, json_text key)
{
    size_t start = self->path_bytes + (self->path_bytes > 0);
    if (start + key.length > LONGEST_NAME) return fail_long(self);
    if (start) self->path[start - 1] = '.';
    memcpy(self->path + start, key.bytes, key.length);
    self->path_bytes = start + key.length;
    self->inner = start;
    return EE_OK;
}

/* Returns the position of the next byte. */
static size_t append(char *text, size_t at, const char *bytes, size_t count)
{
    if (count) memcpy(text + at, bytes, count);
    return at + count;
}

/* "user" "." "plan" "=" "free" */
typedef struct name_parts {
    const char *joint; /* between path and key */
    json_text key;
    bool has_word; /* the value of a text, after the sign */
    json_text word;
} name_parts;

/* Adds a feature of this name under the path. */
static ee_status add(parser *self, const name_parts *name, round_feature feature)
{
    ee_round *round = self->round;
    size_t joint = strlen(name->joint), most = self->path_bytes + joint + name->key.length + 1 + name->word.length;
    if (self->path_bytes + joint + name->key.length > LONGEST_NAME) return fail_long(self);
    if (most > UINT32_MAX - round->text_used)
        return status_fail(self->error, EE_BAD_INPUT, "features: the names of a round exceed 4 GB");
    ee_status status =
        memory_grow(&round->memory, &round->text, &round->text_capacity, round->text_used + most, 1, self->error);
    feature_list *list = self->list;
    if (!status)
        status = memory_grow(&round->memory, &list->items, &list->capacity, list->count + 1, sizeof *list->items,
                             self->error);
    if (status) return status;
    char *text = round->text + round->text_used;
    size_t at = append(text, 0, self->path, self->path_bytes);
    at = append(text, at, name->joint, joint);
    feature.key = (uint32_t)at;
    feature.key_bytes = (uint32_t)name->key.length;
    feature.has_word = name->has_word;
    at = append(text, at, name->key.bytes, name->key.length);
    if (name->has_word) at = append(text, at, "=", 1);
    feature.word = (uint32_t)at;
    at = append(text, at, name->word.bytes, name->word.length);
    feature.text = (uint32_t)round->text_used;
    feature.bytes = (uint32_t)at;
    feature.path = (uint32_t)self->path_bytes;
    feature.inner = (uint32_t)self->inner;
    feature.hash = names_hash(text, at);
    round->text_used += at;
    list->items[list->count++] = feature;
    return EE_OK;
}

static const round_feature indicator = {.value = 1};

static const char *joint_of(const parser *self)
{
    return self->path_bytes ? "." : "";
}

/* ---- values ---- */

static ee_status add_number(parser *self, const name_parts *name, double value, round_feature feature)
{
    if (!(value >= -LARGEST_NUMBER && value <= LARGEST_NUMBER))
        return status_fail(self->error, EE_BAD_INPUT, "features: %.*s is %g; expected -1e100 to 1e100",
                           (int)(name->key.length < 60 ? name->key.length : 60), name->key.bytes, value);
    feature.value = value;
    feature.is_number = true;
    return add(self, name, feature);
}

/* Adds the words of a text as indicators. */
static ee_status add_words(parser *self, json_text text)
{
    ee_status status = EE_OK;
    for (size_t i = 0, start = 0; i <= text.length && !status; i++) {
        bool blank = i == text.length || strchr(" \t\r\n", text.bytes[i]);
        if (!blank) continue;
        name_parts name = {.joint = joint_of(self), .word = {text.bytes + start, i - start}};
        if (i > start) status = add(self, &name, indicator);
        start = i + 1;
    }
    return status;
}

static ee_status parse_members(parser *self);

/* A number or true in an array whose namespace is open: "[0]", "[1]", ...; numbers: the numbers before it. */
static ee_status add_element(parser *self, const json_token *token, size_t element, size_t numbers)
{
    char place[24], *start = place + sizeof place;
    size_t digits = element;
    *--start = ']';
    do *--start = (char)('0' + digits % 10);
    while (digits /= 10);
    *--start = '[';
    name_parts name = {.joint = "", .key = {start, (size_t)(place + sizeof place - start)}};
    round_feature feature = {.value = 1, .is_element = true, .element = (uint32_t)numbers};
    if (token->kind == JSON_KIND_TRUE) return add(self, &name, feature);
    return add_number(self, &name, token->number, feature);
}

static ee_status parse_element(parser *self, const json_token *token, size_t element, size_t *numbers)
{
    name_parts worded = {.joint = "", .has_word = true, .word = token->text};
    switch (token->kind) {
    case JSON_KIND_NUMBER:
    case JSON_KIND_TRUE:
        return add_element(self, token, element, (*numbers)++);
    case JSON_KIND_TEXT:
        return add(self, &worded, indicator);
    case JSON_KIND_OBJECT:
        return parse_members(self);
    case JSON_KIND_ARRAY:
        return status_fail(self->error, EE_BAD_INPUT,
                           "features: %.*s is an array within an array; flatten it into one array",
                           (int)(self->path_bytes < 60 ? self->path_bytes : 60), self->path);
    default:
        return EE_OK;
    }
}

static ee_status parse_array(parser *self)
{
    json_token token;
    size_t numbers = 0;
    for (size_t element = 0;; element++) {
        ee_status status = next_token(self, &token);
        if (status || token.kind == JSON_KIND_ARRAY_END) return status;
        status = parse_element(self, &token, element, &numbers);
        if (status) return status;
    }
}

/* An object or array under a key, which is its namespace. */
static ee_status parse_within(parser *self, const json_token *token)
{
    size_t path_bytes = self->path_bytes, inner = self->inner;
    ee_status status = enter(self, token->key);
    if (!status) status = token->kind == JSON_KIND_OBJECT ? parse_members(self) : parse_array(self);
    self->path_bytes = path_bytes;
    self->inner = inner;
    return status;
}

/* ---- actions ---- */

/* The id of an action is the feature "_id=a7", a name that no JSON key gives. */
static ee_status add_id(parser *self, json_text id)
{
    static const char key[] = "_id";
    if (self->identified) return status_fail(self->error, EE_BAD_INPUT, "%s: the action has two ids", self->verb);
    if (!id.length) return status_fail(self->error, EE_BAD_INPUT, "%s: the id of an action is empty", self->verb);
    name_parts name = {.joint = "", .key = {key, sizeof key - 1}, .has_word = true, .word = id};
    self->identified = true;
    self->id_at = self->list->count;
    return add(self, &name, (round_feature){.value = 1, .is_id = true, .is_implied = true});
}

static json_text word_of(const ee_round *round, const round_feature *feature)
{
    return (json_text){round->text + feature->text + feature->word, feature->bytes - feature->word};
}

/* Whether a feature has the value of the id: "item.id=a7". */
static bool says_id(const ee_round *round, const round_feature *feature, json_text id)
{
    json_text word = word_of(round, feature);
    return feature->has_word && feature->key_bytes == 2 && word.length == id.length &&
           memcmp(round->text + feature->text + feature->key, "id", 2) == 0 &&
           memcmp(word.bytes, id.bytes, id.length) == 0;
}

/* Gives the action its id. If one of its features, from number `start` on, has the same value, that is the feature of
 * the id. */
static void settle_id(parser *self, size_t start)
{
    ee_round *round = self->round;
    feature_list *list = &round->actions;
    json_text id = word_of(round, &list->items[self->id_at]);
    round->ids[round->arms] = ee_arm_id(id.bytes, id.length);
    round->identified++;
    for (size_t i = start; i < list->count; i++) {
        if (!says_id(round, &list->items[i], id)) continue;
        list->items[i].is_id = true;
        list->count--;
        memmove(list->items + self->id_at, list->items + self->id_at + 1,
                (list->count - self->id_at) * sizeof *list->items);
        return;
    }
}

static ee_status end_action(parser *self)
{
    ee_round *round = self->round;
    ee_status status = memory_grow(&round->memory, &round->ends, &round->end_capacity, round->arms + 1,
                                   sizeof *round->ends, self->error);
    if (!status)
        status = memory_grow(&round->memory, &round->ids, &round->id_capacity, round->arms + 1, sizeof *round->ids,
                             self->error);
    if (status) return status;
    round->ids[round->arms] = round->arms;
    if (self->identified) settle_id(self, round->arms ? round->ends[round->arms - 1] : 0);
    self->identified = false;
    round->ends[round->arms++] = round->actions.count;
    return EE_OK;
}

/* The array "_multi": an object for each action. */
static ee_status parse_multi(parser *self)
{
    json_token token;
    ee_status status = EE_OK;
    self->list = &self->round->actions;
    while (!status) {
        status = next_token(self, &token);
        if (status || token.kind == JSON_KIND_ARRAY_END) break;
        if (token.kind != JSON_KIND_OBJECT)
            return status_fail(self->error, EE_BAD_INPUT, "features: _multi must hold objects, one per action");
        status = parse_members(self);
        if (!status) status = end_action(self);
    }
    self->list = &self->round->context;
    return status;
}

/* A member whose key begins with _. */
static ee_status parse_reserved(parser *self, const json_token *token, bool at_top)
{
    bool of_action = self->list == &self->round->actions && self->path_bytes == 0;
    if (token->kind == JSON_KIND_TEXT && json_is(token->key, "_text")) return add_words(self, token->text);
    if (of_action && json_is(token->key, "_tag") && token->kind != JSON_KIND_NULL) {
        if (token->kind != JSON_KIND_TEXT)
            return say_where(self,
                             status_fail(self->error, EE_BAD_INPUT, "_tag, the id of an action, must be a string"));
        return token->text.length ? add_id(self, token->text) : EE_OK;
    }
    if (!at_top || !json_is(token->key, "_multi"))
        return say_where(self, json_skip(&self->reader, token, NULL, self->error));
    if (token->kind == JSON_KIND_ARRAY) return parse_multi(self);
    return status_fail(self->error, EE_BAD_INPUT, "features: _multi must be an array of objects, one per action");
}

static ee_status parse_member(parser *self, const json_token *token, bool at_top)
{
    name_parts name = {.joint = joint_of(self), .key = token->key};
    if (token->key.length && token->key.bytes[0] == '_') return parse_reserved(self, token, at_top);
    switch (token->kind) {
    case JSON_KIND_NUMBER:
        return add_number(self, &name, token->number, indicator);
    case JSON_KIND_TRUE:
        return add(self, &name, indicator);
    case JSON_KIND_TEXT:
        name.has_word = true;
        name.word = token->text;
        return add(self, &name, indicator);
    case JSON_KIND_OBJECT:
    case JSON_KIND_ARRAY:
        return parse_within(self, token);
    default:
        return EE_OK;
    }
}

/* The members of an open object, to its end. */
static ee_status parse_members(parser *self)
{
    json_token token;
    bool at_top = self->reads_multi; /* not in nested objects */
    ee_status status = EE_OK;
    self->reads_multi = false;
    while (!status) {
        status = next_token(self, &token);
        if (status || token.kind == JSON_KIND_OBJECT_END) break;
        status = parse_member(self, &token, at_top);
    }
    return status;
}

/* ---- the calls ---- */

static ee_status parse(parser *self)
{
    json_token token;
    ee_status status = next_token(self, &token);
    if (status) return status;
    if (token.kind != JSON_KIND_OBJECT)
        return status_fail(self->error, EE_BAD_INPUT, "%s: expected a JSON object like {\"user\": {\"age\": 31}}",
                           self->verb);
    status = parse_members(self);
    return status ? status : next_token(self, &token); /* the end */
}

/* Adds the parsed bytes; on failure the round is unchanged. */
static ee_status read_object(ee_round *round, const char *json, size_t size, const char *verb, bool is_action,
                             bool reads_multi, ee_error *error)
{
    if (!round || !json) return status_fail(error, EE_BAD_INPUT, "%s: round and json must not be NULL", verb);
    size_t text_used = round->text_used, context = round->context.count, actions = round->actions.count;
    size_t arms = round->arms, identified = round->identified;
    parser self = {.round = round, .reads_multi = reads_multi, .verb = verb, .error = error};
    self.list = is_action ? &round->actions : &round->context;
    self.reader = json_start(json, size, &round->json);
    ee_status status = parse(&self);
    if (!status && is_action) status = end_action(&self);
    if (!status) return EE_OK;
    round->text_used = text_used;
    round->context.count = context;
    round->actions.count = actions;
    round->arms = arms;
    round->identified = identified;
    return status;
}

ee_status ee_round_context(ee_round *round, const char *json, size_t size, ee_error *error)
{
    return read_object(round, json, size, "context", false, false, error);
}

ee_status ee_round_action(ee_round *round, const char *json, size_t size, ee_error *error)
{
    return read_object(round, json, size, "action", true, false, error);
}

ee_status ee_round_action_id(ee_round *round, const char *id, size_t size, ee_error *error)
{
    if (!round || !id || !round->arms)
        return status_fail(error, EE_BAD_INPUT,
                           "id: round and id must not be NULL, and the round needs an action first");
    parser self = {.round = round, .list = &round->actions, .verb = "id", .error = error};
    size_t count;
    const round_feature *features = round_action(round, round->arms - 1, &count);
    for (size_t i = 0; i < count; i++) self.identified = self.identified || features[i].is_id;
    ee_status status = add_id(&self, (json_text){id, size});
    if (status) return status;
    round->arms--; /* the action now ends after its id; memory is reserved */
    return end_action(&self);
}

ee_status ee_round_read(ee_round *round, const char *json, size_t size, ee_error *error)
{
    return read_object(round, json, size, "round", false, true, error);
}

ee_status ee_round_create(const ee_allocator *allocator, ee_round **out, ee_error *error)
{
    if (!out) return status_fail(error, EE_BAD_INPUT, "round: out must not be NULL");
    *out = NULL;
    if (allocator && (!allocator->allocate || !allocator->release))
        return status_fail(error, EE_BAD_INPUT, "round: the allocator must have both allocate and release");
    ee_round *self;
    ee_status status = memory_create_owner(allocator, &self, sizeof *self, error);
    if (status) return status;
    self->json.owner = &self->memory;
    *out = self;
    return EE_OK;
}

void ee_round_free(ee_round *round)
{
    if (round) memory_release(&round->memory);
}

void ee_round_clear(ee_round *round)
{
    if (!round) return;
    round->text_used = 0;
    round->context.count = 0;
    round->actions.count = 0;
    round->arms = 0;
    round->identified = 0;
    round->limits = NULL;
}

void ee_round_set_limits(ee_round *round, const ee_limits *limits)
{
    if (round) round->limits = limits;
}

size_t ee_round_count(const ee_round *round)
{
    return round ? round->arms : 0;
}

/* ---- packing ---- */

/* A packed round: this, then the arrays in the order of list_parts. */
typedef struct packed_round {
    size_t context, actions, arms, identified, text;
} packed_round;

typedef struct round_part {
    void *bytes;
    size_t size;
} round_part;

enum { PARTS = 5 };

static void list_parts(const ee_round *self, round_part *parts)
{
    parts[0] = (round_part){self->context.items, self->context.count * sizeof *self->context.items};
    parts[1] = (round_part){self->actions.items, self->actions.count * sizeof *self->actions.items};
    parts[2] = (round_part){self->ends, self->arms * sizeof *self->ends};
    parts[3] = (round_part){self->ids, self->arms * sizeof *self->ids};
    parts[4] = (round_part){self->text, self->text_used};
}

size_t round_packed_size(const ee_round *self)
{
    round_part parts[PARTS];
    size_t size = sizeof(packed_round);
    list_parts(self, parts);
    for (size_t i = 0; i < PARTS; i++) size += parts[i].size;
    return size;
}

void round_pack(const ee_round *self, void *to)
{
    packed_round head = {self->context.count, self->actions.count, self->arms, self->identified, self->text_used};
    round_part parts[PARTS];
    char *at = to;
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    list_parts(self, parts);
    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].size) memcpy(at, parts[i].bytes, parts[i].size);
        at += parts[i].size;
    }
}

static ee_status grow_list(ee_round *self, feature_list *list, size_t count, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &list->items, &list->capacity, count, sizeof *list->items, error);
    if (!status) list->count = count;
    return status;
}

ee_status round_unpack(ee_round *self, const void *from, ee_error *error)
{
    packed_round head;
    round_part parts[PARTS];
    const char *at = from;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    ee_round_clear(self);
    ee_status status = grow_list(self, &self->context, head.context, error);
    if (!status) status = grow_list(self, &self->actions, head.actions, error);
    if (!status)
        status = memory_grow(&self->memory, &self->ends, &self->end_capacity, head.arms, sizeof *self->ends, error);
    if (!status)
        status = memory_grow(&self->memory, &self->ids, &self->id_capacity, head.arms, sizeof *self->ids, error);
    if (!status) status = memory_grow(&self->memory, &self->text, &self->text_capacity, head.text, 1, error);
    if (status) {
        ee_round_clear(self);
        return status;
    }
    self->arms = head.arms;
    self->identified = head.identified;
    self->text_used = head.text;
    list_parts(self, parts);
    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].size) memcpy(parts[i].bytes, at, parts[i].size);
        at += parts[i].size;
    }
    return EE_OK;
}
