/* Reading. A line is taken in one pass, whatever the order of its keys: first what it says is gathered (struct facts),
 * then it is judged what that means. The features are passed over, but for the number of actions and their names.
 *
 * Two traps of the format: actions are counted from 1 at the top of a line (though some writers count from 0, which a 0
 * among them shows), but from 0 in slots; and the probabilities are in the order of the actions beside them, of which
 * the chosen one is mostly the first. */
#include "dsjson.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "log_time.h"

typedef struct number_list {
    double *values;
    size_t count, capacity;
} number_list;

/* A number that a line may or may not have. */
typedef struct maybe {
    bool known;
    double value;
} maybe;

typedef struct observations {
    size_t count;
    double first, last, sum, max;
    bool activated;
} observations;

typedef struct slot_facts {
    json_text id;
    maybe cost, original;
    observations seen;
    size_t first_action, action_count; /* in `slot_actions` */
    size_t first_probability, probability_count;
} slot_facts;

typedef struct facts {
    maybe cost, original, probability, index, action, drop, dim;
    bool skip, deferred, continuous, dangling, slate;
    observations seen;
    json_text id, time;
    json_text context;
    bool vectors_read; /* of the context */
    const char *wrong; /* what is, of a value; NULL for nothing */
} facts;

struct dsjson {
    memory *owner;
    json_room room;
    json_reader reader;
    const char *line; /* (size) */
    size_t size;
    char *texts; /* those that had escapes */
    size_t texts_size, texts_capacity;

    facts of;
    number_list actions, probabilities, baselines; /* of the line */
    number_list slot_actions, slot_probabilities;  /* of all slots */
    slot_facts *outcomes;
    size_t outcome_count, outcome_capacity;

    size_t action_count; /* in _multi */
    json_text *names;    /* (action_count) */
    size_t names_capacity;
    bool named;
    size_t vector_count; /* of the actions that have one */
    float *values;
    size_t value_count, values_capacity;
    uint32_t *indices;
    size_t indices_capacity;
    size_t *starts;
    size_t starts_capacity;
    bool sparse;

    double *by_action; /* probabilities by the action's number */
    size_t by_action_capacity;
    log_slot *slots;
    size_t slots_capacity;
    size_t *slot_numbers;
    size_t slot_numbers_capacity;
};

ee_status dsjson_create(memory *owner, dsjson **out, ee_error *error)
{
    ee_status status = memory_create(owner, out, 1, sizeof **out, error);
    if (status) return status;
    (*out)->owner = owner;
    (*out)->room.owner = owner;
    return EE_OK;
}

/* ---- gathering ---- */

static void say_wrong(dsjson *self, const char *what)
{
    if (!self->of.wrong) self->of.wrong = what;
}

static bool is_word(json_text key, const char *word)
{
    return key.length == strlen(word) && strncasecmp(key.bytes, word, key.length) == 0;
}

/* A text that stays until the next line: those with escapes lie in the reader's room only until the next token. All of
 * them together are no longer than the line, or twice that where the context is read twice. */
static json_text keep(dsjson *self, json_text words)
{
    if (words.bytes >= self->line && words.bytes <= self->line + self->size) return words;
    char *copy = self->texts + self->texts_size;
    memcpy(copy, words.bytes, words.length);
    self->texts_size += words.length;
    return (json_text){copy, words.length};
}

static ee_status skip(dsjson *self, const json_token *token, ee_error *error)
{
    return json_skip(&self->reader, token, NULL, error);
}

/* Null is as if it were not there. */
static ee_status take_number(dsjson *self, const json_token *token, maybe *into, const char *wrong, ee_error *error)
{
    *into = (maybe){token->kind == JSON_KIND_NUMBER, token->number};
    if (!into->known && token->kind != JSON_KIND_NULL) say_wrong(self, wrong);
    return skip(self, token, error);
}

static ee_status add_number(dsjson *self, number_list *list, double number, ee_error *error)
{
    ee_status status =
        memory_grow(self->owner, &list->values, &list->capacity, list->count + 1, sizeof *list->values, error);
    if (!status) list->values[list->count++] = number;
    return status;
}

/* Adds the numbers of an array to the list. */
static ee_status take_numbers(dsjson *self, const json_token *token, number_list *list, const char *wrong,
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
static ee_status take_observation(dsjson *self, observations *seen, ee_error *error)
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

static ee_status take_observations(dsjson *self, const json_token *token, observations *seen, ee_error *error)
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
static ee_status take_label(dsjson *self, const json_token *token, ee_error *error)
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

static ee_status take_slot_member(dsjson *self, const json_token *item, slot_facts *slot, ee_error *error)
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

static ee_status take_slot(dsjson *self, ee_error *error)
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

static ee_status take_outcomes(dsjson *self, const json_token *token, ee_error *error)
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

static ee_status add_value(dsjson *self, double value, uint32_t index, ee_error *error)
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
static ee_status take_vector(dsjson *self, const json_token *token, ee_error *error)
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

static ee_status take_action(dsjson *self, ee_error *error)
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

static ee_status take_actions(dsjson *self, const json_token *token, ee_error *error)
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

static ee_status take_context(dsjson *self, const json_token *token, ee_error *error)
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

static ee_status take_dim(dsjson *self, const json_token *item, ee_error *error)
{
    ee_status status = take_number(self, item, &self->of.dim, "_dim is no number", error);
    double dim = self->of.dim.value;
    if (self->of.dim.known && !(dim >= 1 && dim < 0x1p32 && dim == floor(dim))) {
        say_wrong(self, "_dim is not a whole number from 1 to 2^32 - 1");
        self->of.dim.known = false;
    }
    return status;
}

static ee_status take_underscored(dsjson *self, const json_token *item, ee_error *error)
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

static ee_status take_member(dsjson *self, const json_token *item, ee_error *error)
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

/* *object: whether the line is one; other JSON is passed over. */
static ee_status gather(dsjson *self, bool *object, ee_error *error)
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
static ee_status read_vectors(dsjson *self, ee_error *error)
{
    if (!self->of.dim.known || self->of.vectors_read || !self->of.context.bytes) return EE_OK;
    json_token token;
    self->reader = json_start(self->of.context.bytes, self->of.context.length, &self->room);
    ee_status status = json_next(&self->reader, &token, error);
    return status ? status : take_context(self, &token, error);
}

/* ---- judging ---- */

/* Also where a number is not whole, or not there: what is compared with it fails. */
static size_t whole(double number)
{
    return number >= 0 && number < 0x1p53 && number == floor(number) ? (size_t)number : SIZE_MAX;
}

static double aggregate(const observations *seen, maybe cost, maybe original, const log_options *options)
{
    const maybe *label = original.known ? &original : &cost;
    if (options->aggregation == LOG_REWARD_LABEL) return label->known ? 0.0 - label->value : (double)NAN;
    if (!seen->count) return options->default_reward;
    switch (options->aggregation) {
    case LOG_REWARD_FIRST:
        return seen->first;
    case LOG_REWARD_LAST:
        return seen->last;
    case LOG_REWARD_SUM:
        return seen->sum;
    case LOG_REWARD_MAX:
        return seen->max;
    default:
        return seen->sum / (double)seen->count;
    }
}

/* Puts probabilities at the numbers of their actions, 0 at those of the others. actions, which are counted from `base`,
 * and probabilities are (listed); NULL for actions: 0, 1, .... False where an action is not there or comes twice. */
static bool scatter(const double *actions, double base, const double *probabilities, size_t listed, double *into,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) into[i] = -1;
    for (size_t i = 0; i < listed; i++) {
        size_t action = actions ? whole(actions[i] - base) : i;
        if (action >= count || into[action] != -1) return false;
        into[action] = probabilities[i] == -1 ? -2 : probabilities[i]; /* negative ones are found out later */
    }
    for (size_t i = 0; i < count; i++)
        if (into[i] == -1) into[i] = 0;
    return true;
}

static ee_status make_by_action(dsjson *self, size_t count, ee_error *error)
{
    return memory_grow(self->owner, &self->by_action, &self->by_action_capacity, count, sizeof *self->by_action, error);
}

/* The action's number from 0; SIZE_MAX, noted, where the line does not tell. */
static size_t find_taken(const dsjson *self, double base, log_note *note)
{
    const facts *of = &self->of;
    size_t by_index = of->index.known ? whole(of->index.value) : SIZE_MAX;
    size_t by_action = of->action.known ? whole(of->action.value - 1) : SIZE_MAX;
    if (of->index.known && of->action.known && by_index != by_action)
        log_pass_over(note, LOG_INVALID, "the action is %.6g by _labelIndex, from 0, but %.6g by _label_Action, from 1",
                      of->index.value, of->action.value);
    if (of->index.known) return by_index;
    if (of->action.known) return by_action;
    if (self->actions.count) return whole(self->actions.values[0] - base);
    log_pass_over(note, LOG_INVALID, "it does not tell which action was taken");
    return SIZE_MAX;
}

/* The label's probability is that of p; where events were dropped on purpose, some writers have multiplied it with the
 * probability to be kept. */
static bool agree(double label, double probability, double kept)
{
    double near = 5e-3 * probability; /* as where one of them is written with three digits */
    return fabs(label - probability) <= near || fabs(label - probability * kept) <= near;
}

static ee_status judge_probabilities(dsjson *self, double base, log_event *event, log_note *note, ee_error *error)
{
    const facts *of = &self->of;
    if (!self->probabilities.count) {
        event->probability = of->probability.known ? of->probability.value : (double)NAN;
        if (!of->probability.known) log_pass_over(note, LOG_INVALID, "the probability of the action is missing");
        return EE_OK;
    }
    ee_status status = make_by_action(self, event->count, error);
    if (status) return status;
    size_t listed = self->actions.count ? self->actions.count : event->count;
    if (self->probabilities.count != listed) {
        log_pass_over(note, LOG_INVALID, "there are %zu actions, but p has %zu probabilities", listed,
                      self->probabilities.count);
        return EE_OK;
    }
    if (!scatter(self->actions.count ? self->actions.values : NULL, base, self->probabilities.values, listed,
                 self->by_action, event->count)) {
        log_pass_over(note, LOG_INVALID, "a has an action twice, or one that is not among the %zu", event->count);
        return EE_OK;
    }
    event->probabilities = self->by_action;
    event->probability = self->by_action[event->action];
    if (of->probability.known && !agree(of->probability.value, event->probability, 1 / event->copies))
        log_pass_over(note, LOG_INVALID, "the probability of the action is %.6g by p, but %.6g by _label_probability",
                      event->probability, of->probability.value);
    return EE_OK;
}

static ee_status judge_one(dsjson *self, const log_options *options, log_event *event, log_note *note, ee_error *error)
{
    double base = 1;
    for (size_t i = 0; i < self->actions.count; i++)
        if (self->actions.values[i] == 0) base = 0;
    size_t listed = self->actions.count ? self->actions.count : self->probabilities.count;
    event->count = self->of.context.bytes && self->action_count ? self->action_count : listed;
    event->action = find_taken(self, base, note);
    if (note->verdict) return EE_OK;
    if (event->action >= event->count) {
        log_pass_over(note, LOG_INVALID, "the action taken is not among the %zu", event->count);
        return EE_OK;
    }
    event->reward = aggregate(&self->of.seen, self->of.cost, self->of.original, options);
    if (isnan(event->reward)) log_pass_over(note, LOG_INVALID, "_label_cost is missing");
    return judge_probabilities(self, base, event, note, error);
}

/* ---- judging slots ---- */

static bool judge_slot(dsjson *self, const slot_facts *from, size_t count, const log_options *options, log_slot *slot)
{
    if (!from->action_count || from->action_count != from->probability_count) return false;
    const double *actions = self->slot_actions.values + from->first_action;
    const double *probabilities = self->slot_probabilities.values + from->first_probability;
    size_t *numbers = self->slot_numbers + from->first_action;
    if (!scatter(actions, 0, probabilities, from->action_count, self->by_action, count)) return false;
    for (size_t i = 0; i < from->action_count; i++) numbers[i] = whole(actions[i]);
    *slot = (log_slot){from->id, from->action_count, numbers, probabilities,
                       self->of.slate ? (double)NAN : aggregate(&from->seen, from->cost, from->original, options)};
    return true;
}

static ee_status make_slots(dsjson *self, ee_error *error)
{
    size_t most = self->action_count;
    for (size_t i = 0; i < self->outcome_count; i++)
        if (self->outcomes[i].action_count > most) most = self->outcomes[i].action_count;
    ee_status status =
        memory_grow(self->owner, &self->slots, &self->slots_capacity, self->outcome_count, sizeof *self->slots, error);
    if (!status)
        status = memory_grow(self->owner, &self->slot_numbers, &self->slot_numbers_capacity, self->slot_actions.count,
                             sizeof *self->slot_numbers, error);
    return status ? status : make_by_action(self, most, error);
}

static ee_status judge_slots(dsjson *self, const log_options *options, log_event *event, log_note *note,
                             ee_error *error)
{
    ee_status status = make_slots(self, error);
    if (status) return status;
    bool priced = false;
    for (size_t i = 0; i < self->outcome_count; i++) priced = priced || self->outcomes[i].cost.known;
    if (self->of.cost.known && !priced) self->of.slate = true;
    for (size_t i = self->outcome_count; i-- > 0;) { /* the first comes last: by_action stays its own */
        const slot_facts *from = &self->outcomes[i];
        event->count = self->of.slate || !self->action_count ? from->action_count : self->action_count;
        if (!judge_slot(self, from, event->count, options, &self->slots[i])) {
            log_pass_over(note, LOG_INVALID, "slot %zu: _a and _p are not as many, or have an action that is not there",
                          i + 1);
            return EE_OK;
        }
        if (!self->of.slate && isnan(self->slots[i].reward))
            log_pass_over(note, LOG_INVALID, "slot %zu: _label_cost is missing", i + 1);
    }
    event->slots = self->slots;
    event->slot_count = self->outcome_count;
    event->slate = self->of.slate;
    event->action = self->slots[0].actions[0];
    event->probability = self->slots[0].probabilities[0];
    event->probabilities = self->by_action;
    event->reward =
        event->slate ? aggregate(&self->of.seen, self->of.cost, self->of.original, options) : self->slots[0].reward;
    if (isnan(event->reward) && !note->verdict) log_pass_over(note, LOG_INVALID, "_label_cost is missing");
    return EE_OK;
}

/* ---- the whole ---- */

/* Whether it is JSON of another kind. */
static bool is_foreign(const dsjson *self, log_note *note)
{
    const facts *of = &self->of;
    bool label = of->cost.known || of->probability.known || of->index.known || of->action.known;
    if (of->continuous)
        log_pass_over(note, LOG_FOREIGN, "a continuous action");
    else if (of->dangling)
        log_pass_over(note, LOG_FOREIGN, "a reward without its decision");
    else if (!self->outcome_count && !label && !self->actions.count)
        log_pass_over(note, LOG_FOREIGN, "no decision: it has neither a label nor outcomes");
    else if (!of->context.bytes && !self->actions.count && !self->outcome_count)
        log_pass_over(note, LOG_FOREIGN, "no dsjson: it has neither c nor a");
    return note->verdict != LOG_EVENT;
}

static ee_status judge(dsjson *self, const log_options *options, log_event *event, log_note *note, ee_error *error)
{
    const facts *of = &self->of;
    if (is_foreign(self, note)) return EE_OK;
    if (of->wrong) {
        log_pass_over(note, LOG_INVALID, "%s", of->wrong);
        return EE_OK;
    }
    double drop = of->drop.known ? of->drop.value : 0;
    if (!(drop >= 0 && drop < 1)) {
        log_pass_over(note, LOG_INVALID, "pdrop must be at least 0 and below 1, got %.6g", drop);
        return EE_OK;
    }
    event->copies = 1 / (1 - drop);
    event->id = of->id;
    if (of->time.bytes && !log_time_parse(of->time, &event->time)) event->time = (double)NAN;
    bool activated = of->seen.activated;
    for (size_t i = 0; i < self->outcome_count; i++) activated = activated || self->outcomes[i].seen.activated;
    event->skipped = of->skip || (of->deferred && !activated);
    ee_status status = self->outcome_count ? judge_slots(self, options, event, note, error)
                                           : judge_one(self, options, event, note, error);
    if (status || note->verdict) return status;
    size_t baseline = self->baselines.count ? whole(self->baselines.values[0]) : 0;
    event->baseline = baseline < event->count ? baseline : 0;
    if (self->named && !event->slate && self->action_count == event->count) event->actions = self->names;
    event->context = of->context;
    if (!self->vector_count) return EE_OK;
    if (self->vector_count != event->count) {
        log_pass_over(note, LOG_INVALID, "%zu of %zu actions have a vector", self->vector_count, event->count);
        return EE_OK;
    }
    event->context = (json_text){0};
    event->arms = (ee_arms){event->count, (size_t)of->dim.value, self->values, self->sparse ? self->starts : NULL,
                            self->sparse ? self->indices : NULL};
    return EE_OK;
}

static void clear(dsjson *self, const char *bytes, size_t size)
{
    self->line = bytes;
    self->size = size;
    self->texts_size = 0;
    self->of = (facts){0};
    self->actions.count = self->probabilities.count = self->baselines.count = 0;
    self->slot_actions.count = self->slot_probabilities.count = self->outcome_count = 0;
    self->action_count = self->vector_count = self->value_count = 0;
    self->named = self->sparse = false;
    self->reader = json_start(bytes, size, &self->room);
}

ee_status dsjson_parse(dsjson *self, const char *bytes, size_t size, const log_options *options, log_event *event,
                       log_note *note, ee_error *error)
{
    static const char checkpoint[] = "[CHECKPOINT";
    *note = (log_note){LOG_EVENT, ""};
    *event = (log_event){.time = (double)NAN, .copies = 1};
    while (size && strchr(" \t\r", bytes[0]) && bytes[0]) bytes++, size--;
    if (!size) {
        note->verdict = LOG_BLANK;
        return EE_OK;
    }
    if (size >= sizeof checkpoint - 1 && memcmp(bytes, checkpoint, sizeof checkpoint - 1) == 0) {
        log_pass_over(note, LOG_FOREIGN, "a checkpoint");
        return EE_OK;
    }
    ee_status status = memory_grow(self->owner, &self->texts, &self->texts_capacity, 2 * size, 1, error);
    if (status) return status;
    clear(self, bytes, size);
    bool object = true;
    ee_error reason;
    status = gather(self, &object, &reason);
    if (!status) status = read_vectors(self, &reason);
    if (status == EE_BAD_INPUT) {
        log_pass_over(note, LOG_BROKEN, "no JSON: %s", reason.message);
        return EE_OK;
    }
    if (status) {
        if (error) *error = reason;
        return status;
    }
    if (!object) {
        log_pass_over(note, LOG_FOREIGN, "JSON, but no object");
        return EE_OK;
    }
    return judge(self, options, event, note, error);
}

/* ---- as a log ---- */

typedef struct dsjson_log {
    log_reader head;
    dsjson *room;
} dsjson_log;

/* Of the byte order mark, which some programs put before UTF-8. */
static size_t mark_size(const char *bytes, size_t size)
{
    return size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static ee_status next(log_reader *head, log_event *event, log_note *note, bool *found, ee_error *error)
{
    dsjson_log *log = (dsjson_log *)head;
    byte_line line;
    ee_status status = byte_stream_line(head->stream, false, &line, found, error);
    if (status || !*found) return status;
    size_t mark = head->counts.lines++ ? 0 : mark_size(line.bytes, line.size);
    status = dsjson_parse(log->room, line.bytes + mark, line.size - mark, &head->options, event, note, error);
    if (status) return status;
    if (note->verdict == LOG_BROKEN && !line.ended)
        log_pass_over(note, LOG_BROKEN, "the log ends in the middle of the line");
    if (note->verdict == LOG_EVENT && event->arms.dim != head->dim)
        log_pass_over(note, LOG_INVALID, "its vectors have %zu numbers, those of the first line %zu", event->arms.dim,
                      head->dim);
    event->line = head->counts.lines;
    return EE_OK;
}

/* The dimension of the vectors in the first event, without taking it from the stream; 0 where there are none. Lines
 * before it may be of another kind, or the rest of one that was cut. */
static ee_status look_for_dim(dsjson_log *log, ee_error *error)
{
    enum { LOOKED_AT = 1 << 16 }; /* lines that begin in the first bytes */
    log_options usual = log_options_usual();
    size_t wanted = LOOKED_AT, from = 0;
    while (from < LOOKED_AT) {
        char *bytes;
        size_t size;
        ee_status status = byte_stream_look(log->head.stream, wanted, &bytes, &size, error);
        if (status) return status;
        const char *end = memchr(bytes + from, '\n', size - from);
        if (!end && size >= wanted && wanted < BYTE_STREAM_MOST) {
            wanted *= 2;
            continue;
        }
        log_event event;
        log_note note;
        size_t length = end ? (size_t)(end - bytes) - from : size - from, mark = from ? 0 : mark_size(bytes, length);
        status = dsjson_parse(log->room, bytes + from + mark, length - mark, &usual, &event, &note, error);
        if (!status && note.verdict == LOG_EVENT) log->head.dim = event.arms.dim;
        if (status || note.verdict == LOG_EVENT || !end) return status;
        from += length + 1;
    }
    return EE_OK;
}

ee_status log_open_dsjson(byte_stream *stream, log_reader **out, ee_error *error)
{
    static const log_kind kind = {next, NULL};
    dsjson_log *log;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &log, sizeof *log, error);
    if (status) return status;
    log->head.kind = &kind;
    log->head.stream = stream;
    status = dsjson_create(&log->head.owner, &log->room, error);
    if (!status) status = look_for_dim(log, error);
    if (status)
        memory_release(&log->head.owner);
    else
        *out = &log->head;
    return status;
}
