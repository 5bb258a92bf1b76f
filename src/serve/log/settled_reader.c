#include "settled_reader.h"

#include <math.h>

#include "data/logs/slot_context.h"
#include "data/values/text.h"
#include "serve/system/server_clock.h"

enum { PAGE = 128, MOST_AGE = 1000000 /* microseconds */ };

/* A decision: all of it that is needed until the next, copied from the store. */
typedef struct kept_decision {
    uint8_t *bytes; /* its id and its body */
    size_t capacity;
    event_room room;
    json_text id;
    int64_t time;
    decision_body body;
    log_limits limits;
    double value;
    event_outcome outcome;
    int64_t settled_at;
    bool has_totals; /* it was settled with metrics */
    metric_values totals;
} kept_decision;

struct settled_reader {
    memory memory;
    store_reader *reader;
    uint32_t bandit;
    uint64_t after, left;
    uint64_t end; /* past the last decision; UINT64_MAX: there may be more */
    int64_t from, until;
    uint64_t settings;  /* number of the SETTINGS event that was read last; 0: none */
    learning_mode mode; /* by it, of decisions up to this one: */
    uint64_t mode_upto;
    learning_mode mode_now; /* of the bandit */
    joining_rules rules;

    /* Decisions are read a page at a time, and their events together, because a round trip for each would take most of
     * the time. Of a page only settled ones are taken, which no longer change, and only for a second: another process
     * may erase them. */
    stored_decision rows[PAGE]; /* (row_count) those after `page_after` */
    size_t row_count, row;      /* row: the one that was taken last */
    uint64_t page_after, rewrites;
    int64_t read_at;
    uint64_t numbers[2 * PAGE]; /* of each row: its event's, its SETTLED event's */
    event_batch events;         /* of the numbers before numbers[events_upto] */
    size_t next_event, events_upto;

    bool is_weighted;                         /* the objective is not the reward */
    log_metric metrics[2 * MOST_METRICS + 1]; /* of one decision */

    kept_decision *decisions; /* one, or the slots of a round */
    size_t capacity;
    double *learned;
    log_slot *slots;
    size_t *actions; /* of all slots: possible ones, allowed ones */
    double *probabilities;
    char *features;  /* of the first slot */
    text rule_names; /* of guardrails */
    size_t learned_capacity, slot_capacity, action_capacity, probability_capacity, feature_capacity;
};

ee_status settled_reader_create(store_reader *reader, uint32_t bandit, const log_range *range, settled_reader **out,
                                ee_error *error)
{
    settled_reader *self;
    uint64_t first = 0;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) {
        store_reader_free(reader);
        return status;
    }
    self->reader = reader;
    self->bandit = bandit;
    self->after = range->after;
    self->left = range->limit ? range->limit : UINT64_MAX;
    self->end = UINT64_MAX;
    self->from = range->from;
    self->until = range->until;
    self->mode = self->mode_now = range->mode;
    self->rules = range->rules;
    self->is_weighted = metric_objective_checksum(&range->rules) != 0;
    status = store_find_time(reader, bandit, range->from, &first, error);
    if (!status && range->until < INT64_MAX) status = store_find_end(reader, bandit, range->until, &self->end, error);
    if (first > self->after + 1) self->after = first - 1;
    if (status)
        settled_reader_free(self);
    else
        *out = self;
    return status;
}

void settled_reader_free(settled_reader *self)
{
    if (!self) return;
    store_reader_free(self->reader);
    event_batch_free(&self->events);
    memory_release(&self->memory);
}

/* ---- pages ---- */

/* Rows up to the first pending one: those after it are not needed before it is settled. */
static ee_status read_page(settled_reader *self, uint64_t after, ee_error *error)
{
    size_t limit = self->left < PAGE ? (size_t)self->left : PAGE, count;
    self->row_count = self->events_upto = 0;
    event_batch_free(&self->events); /* at the end of the log, nothing stays in memory */
    self->page_after = after;
    self->rewrites = store_rewrites();
    self->read_at = server_clock_real();
    ee_status status = store_next_decisions(self->reader, self->bandit, after, self->rows, limit, &count, error);
    for (bool settled = true; self->row_count < count && settled; self->row_count++) {
        const stored_decision *row = &self->rows[self->row_count];
        self->numbers[2 * self->row_count] = row->number;
        self->numbers[2 * self->row_count + 1] = row->settled;
        settled = row->settled;
    }
    return status;
}

static bool is_current(const settled_reader *self)
{
    return self->rewrites == store_rewrites() && server_clock_real() - self->read_at < MOST_AGE;
}

/* The first decision after an event. */
static ee_status next_row(settled_reader *self, uint64_t after, stored_decision *out, bool *found, ee_error *error)
{
    size_t i = 0;
    while (i < self->row_count && self->rows[i].number <= after) i++;
    if (after < self->page_after || i == self->row_count || !self->rows[i].settled || !is_current(self)) {
        ee_status status = read_page(self, after, error);
        if (status) return status;
        i = 0;
    }
    *found = i < self->row_count;
    self->row = i;
    if (*found) *out = self->rows[i];
    return EE_OK;
}

/* The event of the row that was taken last, or its SETTLED event, valid until the next call; NULL: it was removed. */
static ee_status find_event(settled_reader *self, bool is_settled, const event **out, ee_error *error)
{
    size_t place = 2 * self->row + is_settled, count = 2 * self->row_count - place;
    *out = NULL;
    if (place >= self->events_upto) {
        size_t looked;
        ee_status status =
            store_read_these(self->reader, self->bandit, self->numbers + place, count, &self->events, &looked, error);
        if (status) return status;
        self->events_upto = place + looked;
        self->next_event = 0;
    }
    for (size_t i = self->next_event; i < self->events.count && !*out; i++) {
        if (self->events.events[i].number != self->numbers[place]) continue;
        *out = &self->events.events[i];
        self->next_event = i + 1;
    }
    return EE_OK;
}

/* ---- the mode ---- */

/* The mode in which a decision was made. */
static ee_status find_mode(settled_reader *self, uint64_t decision, ee_error *error)
{
    uint64_t number;
    event_batch next = {0};
    if (decision <= self->mode_upto) return EE_OK;
    ee_status status = store_last(self->reader, self->bandit, EVENT_SETTINGS, decision, &number, error);
    if (!status) status = store_read(self->reader, self->bandit, decision, 1U << EVENT_SETTINGS, 1, &next, error);
    if (!status) self->mode_upto = next.count ? next.events[0].number - 1 : next.last;
    event_batch_free(&next);
    if (status || number == self->settings) return status;
    self->settings = number;
    self->mode = self->mode_now;
    if (!number) return EE_OK;
    bandit_settings settings;
    status = store_read_settings(self->reader, self->bandit, number, &settings, error);
    if (!status) self->mode = settings.mode;
    return status;
}

/* ---- decisions ---- */

/* In JSON, line ends occur only between values; an exported line must not contain any. */
static void blank_line_ends(char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == '\n' || bytes[i] == '\r') bytes[i] = ' ';
}

static ee_status keep_decision(settled_reader *self, kept_decision *kept, const event *made, ee_error *error)
{
    kept->room.owner = &self->memory;
    ee_status status =
        memory_grow(&self->memory, &kept->bytes, &kept->capacity, made->id.length + made->size + 1, 1, error);
    if (status) return status;
    memcpy(kept->bytes, made->id.bytes, made->id.length);
    uint8_t *body = kept->bytes + made->id.length;
    if (made->size) memcpy(body, made->body, made->size);
    kept->id = (json_text){(const char *)kept->bytes, made->id.length};
    kept->time = made->time;
    status = decision_body_read(body, made->size, &kept->room, &kept->body, error);
    if (!status && kept->body.context.length)
        blank_line_ends((char *)body + (kept->body.context.bytes - (const char *)body), kept->body.context.length);
    return status;
}

/* *there false: it was removed meanwhile. */
static ee_status load_one(settled_reader *self, size_t place, bool *there, ee_error *error)
{
    kept_decision *kept = &self->decisions[place];
    const event *found;
    ee_status status = find_event(self, false, &found, error);
    if (!status && found) status = keep_decision(self, kept, found, error);
    if (!status && found) status = find_event(self, true, &found, error);
    *there = found;
    if (status || !found) return status;
    kept->value = found->value;
    kept->outcome = found->outcome;
    kept->settled_at = found->time;
    kept->has_totals = found->size > 0;
    if (!kept->has_totals) return EE_OK;
    status = metric_values_read(found->body, found->size, &kept->totals, error);
    if (!status) kept->value = metric_values_objective(&kept->totals, &self->rules);
    return status;
}

/* Loads the decision of the row, or all slots of its round. *count becomes their number; 0 if one is not settled yet.
 * *there false: they are skipped. */
static ee_status load(settled_reader *self, stored_decision row, size_t *count, bool *there, ee_error *error)
{
    size_t wanted = row.slots ? row.slots : 1;
    uint64_t first = row.number;
    ee_status status =
        memory_grow(&self->memory, &self->decisions, &self->capacity, wanted, sizeof *self->decisions, error);
    *there = true;
    for (*count = 0; !status && *count < wanted; ++*count) {
        bool found = true;
        if (*count) status = next_row(self, row.number, &row, &found, error);
        if (status) return status;
        *there = found && row.number == first + *count;
        if (*there && !row.settled) *count = 0;
        if (!*there || !row.settled) return EE_OK;
        status = load_one(self, *count, there, error);
        if (status || !*there) return status;
    }
    *there = self->decisions[0].body.slot_index == 0 || row.slots; /* a cursor within a round skips its rest */
    return status;
}

/* ---- as an event of a log ---- */

static bool is_skipped(event_outcome outcome)
{
    return outcome == SETTLED_NOTHING || outcome == SETTLED_INACTIVE;
}

static bool has_rule(const decision_guard *guard, json_text name)
{
    for (size_t i = 0; i < guard->rule_count; i++)
        if (json_compare(guard->rules[i], name) == 0) return true;
    return false;
}

static void add_rules(settled_reader *self, size_t slot)
{
    const decision_guard *guard = &self->decisions[slot].body.guard;
    for (size_t i = 0; i < guard->rule_count; i++) {
        bool listed = false;
        for (size_t k = 0; k < slot && !listed; k++) listed = has_rule(&self->decisions[k].body.guard, guard->rules[i]);
        if (listed) continue;
        text_add(&self->rule_names, self->rule_names.length ? "," : "[");
        text_json(&self->rule_names, guard->rules[i]);
    }
}

/* The rules of all slots as a JSON array. */
static ee_status fill_rules(settled_reader *self, size_t count, json_text *out)
{
    text *rules = &self->rule_names;
    rules->owner = &self->memory;
    rules->length = 0;
    for (size_t i = 0; i < count; i++) add_rules(self, i);
    if (rules->length) text_add(rules, "]");
    *out = (json_text){rules->bytes, rules->length};
    return rules->status;
}

/* Of a round: that of its first slot that repeats. Later slots chose among what it left. */
static json_text repeats_of(const settled_reader *self, size_t count)
{
    size_t slot = 0;
    while (slot + 1 < count && !self->decisions[slot].body.guard.repeats.length) slot++;
    return slot_round_id(self->decisions[slot].body.guard.repeats, NULL);
}

static ee_status fill_guard(settled_reader *self, size_t count, log_guard *out)
{
    const decision_guard *guard = &self->decisions[0].body.guard;
    if (!guard->present) return EE_OK;
    *out = (log_guard){.group = (log_group)guard->group,
                       .treated_share = guard->treated_share,
                       .uniform = decision_group_is_baseline(guard->group) && guard->baseline == BASELINE_UNIFORM,
                       .key = guard->key,
                       .segment = guard->segment,
                       .repeats = repeats_of(self, count)};
    return fill_rules(self, count, &out->rules);
}
_Static_assert((int)GROUP_FALLBACK == (int)LOG_GROUP_FALLBACK, "groups have the same numbers in logs");

/* What bounded the draw; NULL: nothing. Actions that a slot excludes are not among its actions. */
static const log_limits *fill_limits(kept_decision *kept)
{
    const decision_body *body = &kept->body;
    const decision_guard *guard = &body->guard;
    kept->limits = (log_limits){.excluded = body->slot_count ? NULL : body->excluded, .boosts = guard->boosts};
    if (guard->shares) {
        kept->limits.shares = guard->shares;
        kept->limits.low = guard->low;
        kept->limits.high = guard->high;
        kept->limits.share_count = guard->share_count;
    }
    return kept->limits.excluded || guard->boosts || guard->shares ? &kept->limits : NULL;
}

static void fill_event(kept_decision *kept, log_event *out)
{
    const decision_body *body = &kept->body;
    *out = (log_event){
        .id = slot_round_id(kept->id, NULL),
        .time = (double)kept->time / 1e6,
        .count = body->count,
        .action = body->action,
        .probability = body->probabilities[body->action],
        .probabilities = body->probabilities,
        .reward = kept->value,
        .copies = 1,
        .skipped = is_skipped(kept->outcome),
        .baseline = body->baseline,
        .actions = body->names,
        .limits = body->slot_count ? NULL : fill_limits(kept),
    };
    if (body->dim)
        out->arms = ee_arms_dense(body->values, body->count, body->dim);
    else
        out->context = body->context;
}

static bool has_total(const metric_values *totals, const char *name)
{
    for (size_t i = 0; i < totals->count; i++)
        if (strcmp(totals->list[i].name, name) == 0) return true;
    return false;
}

static void add_metric(settled_reader *self, log_event *out, const char *name, double value)
{
    if (!isnan(value)) self->metrics[out->metric_count++] = (log_metric){{name, strlen(name)}, value};
}

/* The metrics of a round are those of its slots, joined as those of rewards are. The first slot gets them. */
static void join_slots(settled_reader *self, size_t count)
{
    kept_decision *first = &self->decisions[0];
    if (!first->has_totals) first->totals = (metric_values){.reward = NAN};
    for (size_t i = 0; i < first->totals.count; i++) first->totals.list[i].count = 1;
    for (size_t i = 1; i < count; i++) {
        if (!self->decisions[i].has_totals) continue;
        first->has_totals = true;
        metric_values_join(&first->totals, &self->rules, &self->decisions[i].totals);
    }
}

static void fill_metrics(settled_reader *self, const kept_decision *kept, log_event *out)
{
    const metric_values *totals = &kept->totals;
    out->metrics = self->metrics;
    if (!kept->has_totals) return;
    if (self->is_weighted) add_metric(self, out, "reward", totals->reward);
    for (size_t i = 0; i < totals->count; i++) add_metric(self, out, totals->list[i].name, totals->list[i].value);
    for (size_t i = 0; i < self->rules.metric_count; i++) {
        const metric_settings *metric = &self->rules.metrics[i];
        if (!has_total(totals, metric->name)) add_metric(self, out, metric->name, metric->missing);
    }
}

/* The possible actions, the chosen one first, and then those that the request allows, if it states them. */
static size_t fill_actions(const decision_body *body, size_t *actions, double *probabilities, log_slot *slot)
{
    slot->actions = actions;
    slot->probabilities = probabilities;
    actions[0] = body->action;
    probabilities[0] = body->probabilities[body->action];
    slot->count = 1;
    for (size_t i = 0; i < body->count; i++) {
        if (i == body->action || (body->excluded && body->excluded[i])) continue;
        actions[slot->count] = i;
        probabilities[slot->count++] = body->probabilities[i];
    }
    size_t *allowed = actions + slot->count;
    for (size_t i = 0; body->excluded && i < body->count; i++)
        if (body->excluded[i] != EXCLUDED_BY_REQUEST) allowed[slot->allowed_count++] = i;
    if (slot->allowed_count == body->count) slot->allowed_count = 0;
    slot->allowed = slot->allowed_count ? allowed : NULL;
    return slot->count + slot->allowed_count;
}

/* The context of a slot becomes {SLOT} and, on request, {SHARED}, in place: braces replace commas. They share one
 * comma, so if both are needed the first is copied. */
static ee_status split_context(settled_reader *self, kept_decision *kept, json_text *features, json_text *shared,
                               ee_error *error)
{
    json_text joined = kept->body.context, of_all, of_slot;
    char *bytes = (char *)kept->bytes;
    if (shared) *shared = joined;
    if (!slot_context_split(joined, &of_all, &of_slot)) return EE_OK;
    char *first = of_slot.length ? bytes + (of_slot.bytes - bytes) - 1 : NULL;
    if (shared && of_slot.length) {
        ee_status status =
            memory_grow(&self->memory, &self->features, &self->feature_capacity, of_slot.length + 2, 1, error);
        if (status) return status;
        memcpy(self->features + 1, of_slot.bytes, of_slot.length);
        first = self->features;
    }
    if (first) {
        first[0] = '{';
        first[of_slot.length + 1] = '}';
        *features = (json_text){first, of_slot.length + 2};
    }
    if (!shared || !of_all.length) return EE_OK;
    bytes[of_all.bytes - (const char *)kept->bytes - 1] = '{';
    *shared = (json_text){of_all.bytes - 1, of_all.length + 2};
    return EE_OK;
}

static ee_status make_room(settled_reader *self, size_t count, ee_error *error)
{
    size_t actions = 0;
    for (size_t i = 0; i < count; i++) actions += self->decisions[i].body.count;
    ee_status status =
        memory_grow(&self->memory, &self->slots, &self->slot_capacity, count, sizeof *self->slots, error);
    if (!status)
        status = memory_grow(&self->memory, &self->actions, &self->action_capacity, 2 * actions, sizeof *self->actions,
                             error);
    if (!status)
        status = memory_grow(&self->memory, &self->probabilities, &self->probability_capacity, actions,
                             sizeof *self->probabilities, error);
    return status;
}

static ee_status fill_slots(settled_reader *self, size_t count, log_event *out, ee_error *error)
{
    ee_status status = make_room(self, count, error);
    size_t *actions = self->actions;
    double *probabilities = self->probabilities;
    for (size_t i = 0; !status && i < count; i++) {
        kept_decision *kept = &self->decisions[i];
        log_slot *slot = &self->slots[i];
        *slot = (log_slot){.id = kept->body.slot,
                           .reward = kept->value,
                           .skipped = is_skipped(kept->outcome),
                           .baseline = kept->body.baseline,
                           .limits = fill_limits(kept)};
        actions += fill_actions(&kept->body, actions, probabilities, slot);
        probabilities += slot->count;
        out->skipped &= slot->skipped;
        if (!kept->body.dim) status = split_context(self, kept, &slot->features, i ? NULL : &out->context, error);
    }
    out->slots = self->slots;
    out->slot_count = count;
    return status;
}

/* Decisions that wait for more than the first reward are settled at the end of their wait, which says no delay. */
static double delay_of(const settled_reader *self, size_t count)
{
    bool known = self->rules.aggregation == LOG_REWARD_FIRST && !self->rules.metric_count;
    for (size_t i = 0; known && i < count; i++) {
        const kept_decision *kept = &self->decisions[i];
        if (kept->outcome == SETTLED_REWARDED && !kept->has_totals)
            return (double)(kept->settled_at - kept->time) / 1e6;
    }
    return NAN;
}

static ee_status fill(settled_reader *self, size_t count, uint64_t last, log_event *out, settled_decision *facts,
                      ee_error *error)
{
    const decision_body *body = &self->decisions[0].body;
    fill_event(&self->decisions[0], out);
    if (count > 1) join_slots(self, count);
    fill_metrics(self, &self->decisions[0], out);
    ee_status status = fill_guard(self, count, &out->guard);
    if (status) return status_no_memory(error, self->rule_names.capacity);
    if (body->slot_count) status = fill_slots(self, count, out, error);
    if (!status)
        status = memory_grow(&self->memory, &self->learned, &self->learned_capacity, count, sizeof(double), error);
    if (status) return status;
    for (size_t i = 0; i < count; i++)
        self->learned[i] = self->decisions[i].body.choice == self->decisions[i].body.baseline;
    *facts = (settled_decision){last,
                                body->version,
                                self->mode,
                                body->choice,
                                self->decisions[0].outcome,
                                delay_of(self, count),
                                self->mode == MODE_APPRENTICE ? self->learned : NULL};
    return EE_OK;
}

ee_status settled_next(settled_reader *self, log_event *out, settled_decision *facts, bool *found, ee_error *error)
{
    *found = false;
    while (self->left) {
        stored_decision row = {0};
        size_t count = 0;
        bool there = false;
        ee_status status = next_row(self, self->after, &row, &there, error);
        if (status || !there || row.number >= self->end) return status;
        if (row.time < self->from || row.time >= self->until) { /* the clock was wrong meanwhile */
            self->after = row.number;
            continue;
        }
        status = load(self, row, &count, &there, error);
        if (status || (there && !count)) return status;
        uint64_t last = there ? row.number + count - 1 : row.number;
        if (there) status = find_mode(self, row.number, error);
        if (there && !status) status = fill(self, count, last, out, facts, error);
        if (status) return status;
        self->after = last;
        *found = there;
        if (!there) continue;
        self->left--;
        return EE_OK;
    }
    return EE_OK;
}
