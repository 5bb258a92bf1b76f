/* Reads dsjson: first collects the values of a line (dsjson_line), then interprets them. Two traps of the format:
 * actions count from 1 at the top of a line (from 0 if a 0 is among them), but from 0 in slots; and probabilities are
 * in the order of `a`, usually with the chosen action first. */
#include "dsjson.h"

#include <math.h>
#include <string.h>

#include "data/values/log_time.h"
#include "dsjson_line.h"

struct dsjson {
    dsjson_line line;
    double *by_action; /* probabilities by the action's number */
    size_t by_action_capacity;
    log_slot *slots;
    size_t slots_capacity;
    size_t *slot_numbers, *allowed_numbers;
    size_t slot_numbers_capacity, allowed_capacity;
};

ee_status dsjson_create(memory *owner, dsjson **out, ee_error *error)
{
    ee_status status = memory_create(owner, out, 1, sizeof **out, error);
    if (!status) (*out)->line = dsjson_line_start(owner);
    return status;
}

/* SIZE_MAX if the number is absent (NaN) or not whole, so that every range check fails. */
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

/* Stores probabilities by action number, 0 for unlisted actions. actions (counted from `base`) and probabilities are
 * (listed); actions NULL: 0, 1, .... False if an action is unknown or occurs twice. */
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

static ee_status reserve_by_action(dsjson *self, size_t count, ee_error *error)
{
    return memory_grow(self->line.owner, &self->by_action, &self->by_action_capacity, count, sizeof *self->by_action,
                       error);
}

/* The chosen action from 0; SIZE_MAX, with a note, if the line does not name it. */
static size_t find_taken(const dsjson *self, double base, log_note *note)
{
    const facts *of = &self->line.of;
    size_t by_index = of->index.known ? whole(of->index.value) : SIZE_MAX;
    size_t by_action = of->action.known ? whole(of->action.value - 1) : SIZE_MAX;
    if (of->index.known && of->action.known && by_index != by_action)
        log_skip(note, LOG_INVALID, "_labelIndex (from 0) is %.6g, but _label_Action (from 1) is %.6g", of->index.value,
                 of->action.value);
    if (of->index.known) return by_index;
    if (of->action.known) return by_action;
    if (self->line.actions.count) return whole(self->line.actions.values[0] - base);
    log_skip(note, LOG_INVALID, "the chosen action is missing: expected _labelIndex, _label_Action or a");
    return SIZE_MAX;
}

/* The label's probability must equal the one in p; if events were dropped, some writers multiply it by the probability
 * of being kept. */
static bool agree(double label, double probability, double kept)
{
    double near = 5e-3 * probability; /* for writers that round to three digits */
    return fabs(label - probability) <= near || fabs(label - probability * kept) <= near;
}

static ee_status judge_probabilities(dsjson *self, double base, log_event *event, log_note *note, ee_error *error)
{
    const facts *of = &self->line.of;
    if (!self->line.probabilities.count) {
        event->probability = of->probability.known ? of->probability.value : (double)NAN;
        if (!of->probability.known) log_skip(note, LOG_INVALID, "the probability of the chosen action is missing");
        return EE_OK;
    }
    ee_status status = reserve_by_action(self, event->count, error);
    if (status) return status;
    size_t listed = self->line.actions.count ? self->line.actions.count : event->count;
    if (self->line.probabilities.count != listed) {
        log_skip(note, LOG_INVALID, "expected %zu probabilities in p, one per action, got %zu", listed,
                 self->line.probabilities.count);
        return EE_OK;
    }
    if (!scatter(self->line.actions.count ? self->line.actions.values : NULL, base, self->line.probabilities.values,
                 listed, self->by_action, event->count)) {
        log_skip(note, LOG_INVALID, "a must list different actions, each one of the %zu", event->count);
        return EE_OK;
    }
    event->probabilities = self->by_action;
    event->probability = self->by_action[event->action];
    if (of->probability.known && !agree(of->probability.value, event->probability, 1 / event->copies))
        log_skip(note, LOG_INVALID, "the probability is %.6g in p, but %.6g in _label_probability", event->probability,
                 of->probability.value);
    return EE_OK;
}

static ee_status judge_one(dsjson *self, const log_options *options, log_event *event, log_note *note, ee_error *error)
{
    double base = 1;
    for (size_t i = 0; i < self->line.actions.count; i++)
        if (self->line.actions.values[i] == 0) base = 0;
    size_t listed = self->line.actions.count ? self->line.actions.count : self->line.probabilities.count;
    event->count = self->line.of.context.bytes && self->line.action_count ? self->line.action_count : listed;
    event->action = find_taken(self, base, note);
    if (note->verdict) return EE_OK;
    if (event->action >= event->count) {
        log_skip(note, LOG_INVALID, "the chosen action is not one of the %zu actions", event->count);
        return EE_OK;
    }
    event->reward = aggregate(&self->line.of.seen, self->line.of.cost, self->line.of.original, options);
    if (isnan(event->reward)) log_skip(note, LOG_INVALID, "_label_cost is missing");
    return judge_probabilities(self, base, event, note, error);
}

/* ---- judging slots ---- */

/* False unless all are whole numbers below count. */
static bool take_wholes(const double *from, size_t listed, size_t count, size_t *into)
{
    for (size_t i = 0; i < listed; i++) {
        into[i] = whole(from[i]);
        if (into[i] >= count) return false;
    }
    return true;
}

static bool judge_slot(dsjson *self, const slot_facts *from, size_t count, const log_options *options, log_slot *slot)
{
    if (!from->action_count || from->action_count != from->probability_count) return false;
    const double *actions = self->line.slot_actions.values + from->first_action;
    const double *probabilities = self->line.slot_probabilities.values + from->first_probability;
    size_t *numbers = self->slot_numbers + from->first_action;
    if (!scatter(actions, 0, probabilities, from->action_count, self->by_action, count)) return false;
    double reward = self->line.of.slate ? (double)NAN : aggregate(&from->seen, from->cost, from->original, options);
    *slot = (log_slot){.id = from->id,
                       .count = from->action_count,
                       .actions = numbers,
                       .probabilities = probabilities,
                       .reward = isnan(reward) && from->skip && !self->line.of.slate ? 0 : reward,
                       .skipped = from->skip,
                       .baseline = SIZE_MAX};
    return take_wholes(actions, from->action_count, count, numbers);
}

/* Adds the description of a slot in the context. */
static bool add_description(dsjson *self, const slot_description *from, size_t count, log_slot *slot)
{
    if (!slot->id.length) slot->id = from->id;
    slot->features = from->features;
    if (!from->allowed_count || self->line.of.slate) return true;
    size_t *numbers = self->allowed_numbers + from->first_allowed;
    slot->allowed = numbers;
    slot->allowed_count = from->allowed_count;
    return take_wholes(self->line.allowed.values + from->first_allowed, from->allowed_count, count, numbers);
}

/* Copies baselines up to the first invalid one. */
static void add_baselines(dsjson *self, size_t count)
{
    for (size_t i = 0; i < self->line.outcome_count && i < self->line.baselines.count; i++) {
        size_t baseline = whole(self->line.baselines.values[i]);
        if (baseline >= count) return;
        self->slots[i].baseline = baseline;
    }
}

static ee_status make_slots(dsjson *self, ee_error *error)
{
    size_t most = self->line.action_count;
    for (size_t i = 0; i < self->line.outcome_count; i++)
        if (self->line.outcomes[i].action_count > most) most = self->line.outcomes[i].action_count;
    ee_status status = memory_grow(self->line.owner, &self->slots, &self->slots_capacity, self->line.outcome_count,
                                   sizeof *self->slots, error);
    if (!status)
        status = memory_grow(self->line.owner, &self->slot_numbers, &self->slot_numbers_capacity,
                             self->line.slot_actions.count, sizeof *self->slot_numbers, error);
    if (!status)
        status = memory_grow(self->line.owner, &self->allowed_numbers, &self->allowed_capacity,
                             self->line.allowed.count, sizeof *self->allowed_numbers, error);
    return status ? status : reserve_by_action(self, most, error);
}

static ee_status judge_slots(dsjson *self, const log_options *options, log_event *event, log_note *note,
                             ee_error *error)
{
    ee_status status = make_slots(self, error);
    if (status) return status;
    bool priced = false;
    for (size_t i = 0; i < self->line.outcome_count; i++) priced = priced || self->line.outcomes[i].cost.known;
    if (self->line.of.cost.known && !priced) self->line.of.slate = true;
    for (size_t i = self->line.outcome_count; i-- > 0;) { /* the first comes last: by_action stays its own */
        const slot_facts *from = &self->line.outcomes[i];
        event->count = self->line.of.slate || !self->line.action_count ? from->action_count : self->line.action_count;
        if (!judge_slot(self, from, event->count, options, &self->slots[i])) {
            log_skip(note, LOG_INVALID, "slot %zu: _a and _p must have the same length, and _a only known actions",
                     i + 1);
            return EE_OK;
        }
        if (!self->line.of.slate && isnan(self->slots[i].reward))
            log_skip(note, LOG_INVALID, "slot %zu: _label_cost is missing", i + 1);
        if (i < self->line.slot_count && !add_description(self, &self->line.slots[i], event->count, &self->slots[i]))
            log_skip(note, LOG_INVALID, "slot %zu: _inc has an unknown action", i + 1);
    }
    if (!self->line.of.slate) add_baselines(self, event->count);
    event->slots = self->slots;
    event->slot_count = self->line.outcome_count;
    event->slate = self->line.of.slate;
    event->action = self->slots[0].actions[0];
    event->probability = self->slots[0].probabilities[0];
    event->probabilities = log_slot_is_partial(&self->slots[0]) ? NULL : self->by_action;
    event->reward = event->slate ? aggregate(&self->line.of.seen, self->line.of.cost, self->line.of.original, options)
                                 : self->slots[0].reward;
    if (isnan(event->reward) && !note->verdict) log_skip(note, LOG_INVALID, "_label_cost is missing");
    return EE_OK;
}

/* ---- the whole ---- */

/* Whether it is JSON of another kind. */
static bool is_foreign(const dsjson *self, log_note *note)
{
    const facts *of = &self->line.of;
    bool label = of->cost.known || of->probability.known || of->index.known || of->action.known;
    if (of->continuous)
        log_skip(note, LOG_FOREIGN, "a continuous action");
    else if (of->dangling)
        log_skip(note, LOG_FOREIGN, "a reward without its decision");
    else if (!self->line.outcome_count && !label && !self->line.actions.count)
        log_skip(note, LOG_FOREIGN, "not a decision: it has neither a label nor outcomes");
    else if (!of->context.bytes && !self->line.actions.count && !self->line.outcome_count)
        log_skip(note, LOG_FOREIGN, "not dsjson: it has neither c nor a");
    return note->verdict != LOG_EVENT;
}

/* Whether no slot has a known reward. */
static bool all_skipped(const dsjson_line *line)
{
    for (size_t i = 0; i < line->outcome_count; i++)
        if (!line->outcomes[i].skip) return false;
    return line->outcome_count > 0;
}

static ee_status judge(dsjson *self, const log_options *options, log_event *event, log_note *note, ee_error *error)
{
    const facts *of = &self->line.of;
    if (is_foreign(self, note)) return EE_OK;
    if (of->wrong) {
        log_skip(note, LOG_INVALID, "%s", of->wrong);
        return EE_OK;
    }
    double drop = of->drop.known ? of->drop.value : 0;
    if (!(drop >= 0 && drop < 1)) {
        log_skip(note, LOG_INVALID, "pdrop must be at least 0 and below 1, got %.6g", drop);
        return EE_OK;
    }
    event->copies = 1 / (1 - drop);
    event->id = of->id;
    if (of->time.bytes && !log_time_parse(of->time, &event->time)) event->time = (double)NAN;
    bool activated = of->seen.activated;
    for (size_t i = 0; i < self->line.outcome_count; i++)
        activated = activated || self->line.outcomes[i].seen.activated;
    event->skipped = of->skip || (of->deferred && !activated) || all_skipped(&self->line);
    ee_status status = self->line.outcome_count ? judge_slots(self, options, event, note, error)
                                                : judge_one(self, options, event, note, error);
    if (status || note->verdict) return status;
    size_t baseline = self->line.baselines.count ? whole(self->line.baselines.values[0]) : 0;
    event->baseline = baseline < event->count ? baseline : 0;
    if (self->line.named && !event->slate && self->line.action_count == event->count) event->actions = self->line.names;
    event->context = of->context;
    event->guard = of->guard;
    event->metrics = self->line.metrics;
    event->metric_count = self->line.metric_count;
    if (!self->line.vector_count) return EE_OK;
    if (self->line.vector_count != event->count) {
        log_skip(note, LOG_INVALID, "%zu of %zu actions have a vector", self->line.vector_count, event->count);
        return EE_OK;
    }
    event->context = (json_text){0};
    event->arms = (ee_arms){event->count,
                            (size_t)of->dim.value,
                            self->line.values,
                            self->line.sparse ? self->line.starts : NULL,
                            self->line.sparse ? self->line.indices : NULL,
                            NULL,
                            NULL};
    return EE_OK;
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
        log_skip(note, LOG_FOREIGN, "a checkpoint");
        return EE_OK;
    }
    bool object = true;
    ee_error reason;
    ee_status status = dsjson_line_gather(&self->line, bytes, size, &object, &reason);
    if (status == EE_BAD_INPUT) {
        log_skip(note, LOG_BROKEN, "%s", reason.message);
        return EE_OK;
    }
    if (status) {
        if (error) *error = reason;
        return status;
    }
    if (!object) {
        log_skip(note, LOG_FOREIGN, "expected a JSON object");
        return EE_OK;
    }
    return judge(self, options, event, note, error);
}
