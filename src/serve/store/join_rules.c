#include "join_rules.h"

#include <inttypes.h>
#include <math.h>

#include "join_set.h"

ee_status join_append(joining *self, join_bandit *bandit, event *what, ee_error *error)
{
    enum { NUMBER_BITS = 40 }; /* of an event's number: a store may keep it together with the bandit's */
    bandit_state *state = &bandit->now;
    if (self->now < state->time || (state->events + 1) >> NUMBER_BITS)
        return status_fail(error, EE_BAD_INPUT, "store: an event of time %" PRId64 " cannot follow event %" PRIu64,
                           self->now, state->events);
    ee_status status = memory_grow(&self->memory, &self->events, &self->event_capacity, self->event_count + 1,
                                   sizeof *self->events, error);
    if (status) return status;
    what->number = state->events + 1;
    what->time = self->now;
    self->events[self->event_count++] = (join_event){.bandit = state->number, .event = *what};
    state->events = what->number;
    state->time = what->time;
    if (what->kind == EVENT_DECISION || what->kind == EVENT_SETTLED || what->kind == EVENT_SETTINGS ||
        what->kind == EVENT_MODEL)
        state->news = what->number;
    return EE_OK;
}

/* ---- rewards ---- */

/* A reward that comes: its metrics, and whether there is a reward beside them. */
typedef struct arrival {
    double value;
    bool rewards;
    metric_values metrics;
} arrival;

static ee_status read_arrival(const event *reward, arrival *out, ee_error *error)
{
    out->value = reward->value;
    out->rewards = true;
    out->metrics.count = 0;
    if (!reward->size) return EE_OK;
    ee_status status = metric_values_read(reward->body, reward->size, &out->metrics, error);
    out->rewards = !isnan(out->metrics.reward);
    return status;
}

/* Whether some of its metrics count, once the reward is in time. */
static bool metrics_count(const joining_rules *rules, const stored_decision *decision, const arrival *what)
{
    metric_values totals = {0};
    if (!what->metrics.count) return false;
    if (decision->metrics) totals = *decision->metrics;
    return metric_values_join(&totals, rules, &what->metrics);
}

static bool reward_counts(const joining_rules *rules, const stored_decision *decision, const arrival *what)
{
    return what->rewards && !(decision->rewards && rules->aggregation == LOG_REWARD_FIRST);
}

/* What becomes of a reward of this decision that comes now. */
static event_outcome outcome_of(const joining_rules *rules, const stored_decision *decision, const arrival *what,
                                int64_t now)
{
    if (now > decision->time + rules->wait) return REWARD_LATE;
    if (decision->settled) return decision->rewards ? REWARD_REPEATED : REWARD_LATE;
    bool counts = reward_counts(rules, decision, what) || metrics_count(rules, decision, what);
    return counts ? REWARD_JOINED : REWARD_REPEATED;
}

static ee_status settle_as(joining *self, join_bandit *bandit, join_decision *decision, event *settled, ee_error *error)
{
    self->counts.waiting--;
    bandit->now.waiting--;
    ee_status status = join_append(self, bandit, settled, error);
    decision->row.settled = settled->number;
    decision->row.metrics = NULL; /* the event has them */
    decision->changed = true;
    return status;
}

/* Adds the totals of the decision to its settlement, whose value was its reward and becomes the objective. */
static ee_status add_totals(joining *self, const join_bandit *bandit, join_decision *decision, bool has_reward,
                            event *settled, ee_error *error)
{
    join_metrics *totals;
    ee_status status = join_take_metrics(self, &totals, error);
    if (status) return status;
    if (decision->row.metrics) totals->values = *decision->row.metrics;
    totals->values.reward = has_reward ? settled->value : NAN;
    settled->value = metric_values_objective(&totals->values, &bandit->now.rules);
    settled->body = totals->bytes;
    settled->size = metric_values_write(&totals->values, totals->bytes);
    return EE_OK;
}

static ee_status settle(joining *self, join_bandit *bandit, join_decision *decision, ee_error *error)
{
    const joining_rules *rules = &bandit->now.rules;
    double default_reward = rules->default_reward;
    bool has_metrics = decision->row.metrics && metric_values_has(decision->row.metrics, rules);
    event settled = {.kind = EVENT_SETTLED, .decision = decision->row.number};
    if (decision->row.inactive) {
        settled.outcome = SETTLED_INACTIVE;
        self->counts.inactive++;
    } else if (decision->row.rewards) {
        settled.outcome = SETTLED_REWARDED;
        settled.value = decision->row.value;
    } else if (has_metrics) {
        settled.outcome = SETTLED_REWARDED;
        settled.value = default_reward;
    } else if (!isnan(default_reward)) {
        settled.outcome = SETTLED_DEFAULT;
        settled.value = default_reward;
        self->counts.defaulted++;
        bandit->now.defaulted++;
    } else {
        settled.outcome = SETTLED_NOTHING;
        self->counts.abandoned++;
    }
    bool learns = settled.outcome == SETTLED_REWARDED || settled.outcome == SETTLED_DEFAULT;
    ee_status status = EE_OK;
    if (learns && (rules->metric_count || decision->row.metrics))
        status = add_totals(self, bandit, decision, !isnan(settled.value), &settled, error);
    return status ? status : settle_as(self, bandit, decision, &settled, error);
}

ee_status join_write_settlement(joining *self, join_bandit *bandit, store_entry *entry, ee_error *error)
{
    join_decision *decision = join_find_decision(self, bandit->now.number, entry->event.decision);
    if (!decision || decision->row.settled) {
        entry->verdict = ENTRY_REPEATED;
        return EE_OK;
    }
    self->counts.abandoned++;
    entry->event.outcome = SETTLED_NOTHING;
    return settle_as(self, bandit, decision, &entry->event, error);
}

/* Whether the first reward ends the wait. */
static bool first_settles(const joining_rules *rules)
{
    return rules->aggregation == LOG_REWARD_FIRST && !rules->metric_count;
}

/* Lets a reward count that was just logged. */
static ee_status join(joining *self, join_bandit *bandit, join_decision *decision, const arrival *what, ee_error *error)
{
    const joining_rules *rules = &bandit->now.rules;
    stored_decision *row = &decision->row;
    if (reward_counts(rules, row, what)) {
        row->rewards++;
        row->value = joining_worth(rules->aggregation, row->value, what->value, row->rewards);
    }
    if (!row->metrics && metrics_count(rules, row, what)) {
        join_metrics *totals;
        ee_status status = join_take_metrics(self, &totals, error);
        if (status) return status;
        row->metrics = &totals->values;
    }
    if (row->metrics) metric_values_join(row->metrics, rules, &what->metrics);
    decision->changed = true;
    bool settles = row->rewards && first_settles(rules) && !row->inactive;
    return settles ? settle(self, bandit, decision, error) : EE_OK;
}

static void count_outcome(store_counts *counts, event_outcome outcome)
{
    counts->joined += outcome == REWARD_JOINED;
    counts->repeated += outcome == REWARD_REPEATED;
    counts->late += outcome == REWARD_LATE;
    counts->unknown += outcome == REWARD_UNKNOWN;
    counts->claimed += outcome == REWARD_CLAIMED;
}

/* Whether the reward is new; else the verdict is set. */
static bool check_reward_id(joining *self, const join_bandit *bandit, store_entry *entry)
{
    event *reward = &entry->event;
    if (!reward->reward_id.length) return true;
    double value = reward_id_value(reward);
    join_reward_id *known = join_find_reward_id(self, bandit->now.number, reward->id, reward->reward_id);
    if (!known->known) {
        known->known = known->is_new = true;
        known->value = value;
        known->outcome = reward->outcome;
        return true;
    }
    if (known->value != value) {
        entry->verdict = ENTRY_CONFLICT;
        self->counts.conflicts++;
        if (fabs(known->value) <= 1e9)
            status_fail(&entry->error, EE_BAD_INPUT, "reward: this reward_id was used before with the value %.17g",
                        known->value);
        else
            status_fail(&entry->error, EE_BAD_INPUT, "reward: this reward_id was used before with other metrics");
        return false;
    }
    entry->verdict = ENTRY_REPEATED;
    reward->outcome = known->outcome;
    self->counts.repeated++;
    return false;
}

static join_decision *decision_of(const joining *self, const join_id *id)
{
    return id->decision ? &self->decisions[id->decision - 1] : NULL;
}

/* Keeps an event that was just logged until its decision comes. */
static ee_status keep_unclaimed(joining *self, join_bandit *bandit, join_id *id, const event *what, ee_error *error)
{
    join_unclaimed kept = {.bandit = bandit->now.number,
                           .id = id->id,
                           .number = what->number,
                           .kind = what->kind,
                           .value = what->value,
                           .body = what->body,
                           .size = what->size,
                           .is_new = true};
    bandit->now.unclaimed++;
    return join_add_unclaimed(self, id, &kept, error);
}

ee_status join_write_reward(joining *self, join_bandit *bandit, store_entry *entry, ee_error *error)
{
    event *reward = &entry->event;
    join_id *id = join_find_id(self, bandit->now.number, reward->id);
    join_decision *decision = decision_of(self, id);
    arrival what;
    if (read_arrival(reward, &what, &entry->error)) {
        entry->verdict = ENTRY_FAILED;
        return EE_OK;
    }
    reward->decision = decision ? decision->row.number : 0;
    reward->outcome = decision ? outcome_of(&bandit->now.rules, &decision->row, &what, self->now) : REWARD_UNKNOWN;
    if (!check_reward_id(self, bandit, entry)) return EE_OK;
    count_outcome(&self->counts, reward->outcome);
    ee_status status = join_append(self, bandit, reward, error);
    if (status) return status;
    if (reward->outcome == REWARD_JOINED) return join(self, bandit, decision, &what, error);
    return decision ? EE_OK : keep_unclaimed(self, bandit, id, reward, error);
}

/* ---- activations ---- */

static ee_status activate(joining *self, join_bandit *bandit, join_decision *decision, event *what, ee_error *error)
{
    self->counts.activated++;
    ee_status status = join_append(self, bandit, what, error);
    if (status) return status;
    decision->row.inactive = false;
    decision->changed = true;
    bool settles = decision->row.rewards && first_settles(&bandit->now.rules);
    return settles ? settle(self, bandit, decision, error) : EE_OK;
}

/* The decision, or all slots of the round: those that can be are activated with the outcome. *what becomes what was
 * logged last; *some whether anything was. */
static ee_status activate_all(joining *self, join_bandit *bandit, join_decision *first, event *what,
                              event_outcome outcome, bool *some, ee_error *error)
{
    bool late = self->now > first->row.time + bandit->now.rules.wait;
    bool is_round = first->row.slots && what->id.length == slot_round_id(what->id, NULL).length;
    uint64_t count = is_round ? first->row.slots : 1, number = first->row.number;
    ee_status status = EE_OK;
    *some = false;
    for (uint64_t i = 0; !status && i < count; i++) {
        join_decision *decision = i ? join_find_decision(self, bandit->now.number, number + i) : first;
        if (!decision || !decision->row.inactive) continue;
        *some = true;
        what->outcome = late || decision->row.settled ? REWARD_LATE : outcome;
        what->decision = decision->row.number;
        status = what->outcome == outcome ? activate(self, bandit, decision, what, error)
                                          : join_append(self, bandit, what, error);
    }
    return status;
}

ee_status join_write_activation(joining *self, join_bandit *bandit, store_entry *entry, ee_error *error)
{
    event *what = &entry->event;
    join_id *id = join_find_id(self, bandit->now.number, what->id);
    join_decision *decision = decision_of(self, id);
    bool some;
    if (!decision) {
        what->outcome = REWARD_UNKNOWN;
        what->decision = 0;
        ee_status status = join_append(self, bandit, what, error);
        return status ? status : keep_unclaimed(self, bandit, id, what, error);
    }
    what->decision = decision->row.number;
    ee_status status = activate_all(self, bandit, decision, what, REWARD_JOINED, &some, error);
    if (status || some) return status;
    entry->verdict = ENTRY_REPEATED;
    what->outcome = REWARD_REPEATED;
    return EE_OK;
}

/* ---- decisions ---- */

static ee_status claim_reward(joining *self, join_bandit *bandit, event *reward, join_decision *decision,
                              ee_error *error)
{
    arrival what;
    /* Its checksum was right: if it cannot be read, it has no metrics that count. */
    if (read_arrival(reward, &what, NULL)) what.rewards = false;
    event_outcome outcome = outcome_of(&bandit->now.rules, &decision->row, &what, self->now);
    reward->outcome = outcome == REWARD_JOINED ? REWARD_CLAIMED : outcome;
    count_outcome(&self->counts, reward->outcome);
    ee_status status = join_append(self, bandit, reward, error);
    return status || outcome != REWARD_JOINED ? status : join(self, bandit, decision, &what, error);
}

/* The rewards and activations that came before their decision. */
static ee_status claim(joining *self, join_bandit *bandit, join_id *id, ee_error *error)
{
    join_decision *decision = decision_of(self, id);
    ee_status status = EE_OK;
    for (uint32_t place = id->first_unclaimed; place && !status; place = self->unclaimed[place - 1].next) {
        join_unclaimed *early = &self->unclaimed[place - 1];
        event again = {.kind = early->kind,
                       .id = id->id,
                       .decision = decision->row.number,
                       .value = early->value,
                       .body = early->body,
                       .size = early->size};
        bool some;
        early->taken = true;
        bandit->now.unclaimed--;
        if (early->kind == EVENT_ACTIVATED)
            status = activate_all(self, bandit, decision, &again, REWARD_CLAIMED, &some, error);
        else
            status = claim_reward(self, bandit, &again, decision, error);
    }
    id->first_unclaimed = id->last_unclaimed = 0;
    return status;
}

static void recognize(joining *self, const stored_decision *before, uint64_t number, store_entry *entry)
{
    bool same = memcmp(before->request, entry->request, sizeof entry->request) == 0;
    entry->verdict = same ? ENTRY_REPEATED : ENTRY_CONFLICT;
    entry->event.number = number;
    entry->event.time = before->time;
    self->counts.repeated_decisions += same;
    self->counts.conflicts += !same;
    if (!same) status_fail(&entry->error, EE_BAD_INPUT, "decide: this id was used for another request");
}

/* Makes the id lead to a new decision. */
static ee_status name_decision(join_id *id, uint32_t place, ee_error *error)
{
    if (id->decision)
        return status_fail(error, EE_BAD_INPUT, "store: two decisions have the id '%.*s'", (int)id->id.length,
                           id->id.bytes);
    id->decision = place + 1;
    id->is_new = true;
    return EE_OK;
}

/* Writes the decision, which is new, without what came before it. */
static ee_status add_decision(joining *self, join_bandit *bandit, store_entry *entry, ee_error *error)
{
    bandit_state *state = &bandit->now;
    uint32_t place;
    entry->verdict = ENTRY_DONE;
    self->counts.decisions++;
    self->counts.waiting++;
    state->waiting++;
    ee_status status = join_append(self, bandit, &entry->event, error);
    if (status) return status;
    stored_decision row = {.number = entry->event.number,
                           .time = entry->event.time,
                           .request = {entry->request[0], entry->request[1]},
                           .inactive = entry->deferred,
                           .slots = entry->slot_index ? 0 : (uint32_t)entry->slot_count};
    if (state->deadline == INT64_MAX) state->deadline = self->now + state->rules.wait + 1;
    bandit->has_decisions = true;
    status = join_add_decision(self, state->number, &row, &place, error);
    if (status) return status;
    self->decisions[place].is_new = true;
    return name_decision(join_find_id(self, state->number, entry->event.id), place, error);
}

static ee_status decide_one(joining *self, join_bandit *bandit, store_entry *entry, ee_error *error)
{
    join_id *id = join_find_id(self, bandit->now.number, entry->event.id);
    const join_decision *known = entry->generated_id ? NULL : decision_of(self, id);
    if (known) {
        recognize(self, &known->row, known->row.number, entry);
        return EE_OK;
    }
    if (entry->refused) {
        entry->verdict = ENTRY_REFUSED;
        return EE_OK;
    }
    ee_status status = add_decision(self, bandit, entry, error);
    return status || entry->generated_id ? status : claim(self, bandit, id, error);
}

/* ---- rounds of slots ---- */

static store_entry *next_slot(const store_entry *entry)
{
    return entry->with_next ? entry->next : NULL;
}

static bool is_round(const store_entry *first)
{
    size_t count = 0;
    for (const store_entry *entry = first; entry; entry = next_slot(entry), count++)
        if (entry->event.kind != EVENT_DECISION || entry->slot_index != count || entry->slot_count != first->slot_count)
            return false;
    return count == first->slot_count;
}

/* Recognizes all slots of a round that is known. Slots of another request may have other ids. */
static void recognize_round(joining *self, const join_decision *known, store_entry *first)
{
    uint64_t number = known->row.number;
    for (store_entry *entry = first; entry; entry = next_slot(entry)) recognize(self, &known->row, number++, entry);
}

/* The slots follow each other. What came before the round is claimed after them, for its slots and then for the whole.
 */
static ee_status add_round(joining *self, join_bandit *bandit, store_entry *first, join_id *id, ee_error *error)
{
    ee_status status = EE_OK;
    uint32_t number = bandit->now.number;
    for (store_entry *entry = first; entry && !status; entry = next_slot(entry))
        status = add_decision(self, bandit, entry, error);
    if (!status) status = name_decision(id, join_find_id(self, number, first->event.id)->decision - 1, error);
    if (status || first->generated_id) return status;
    for (const store_entry *entry = first; entry && !status; entry = next_slot(entry))
        status = claim(self, bandit, join_find_id(self, number, entry->event.id), error);
    return status ? status : claim(self, bandit, id, error);
}

static ee_status decide_round(joining *self, join_bandit *bandit, store_entry *first, ee_error *error)
{
    join_id *id = join_find_id(self, bandit->now.number, slot_round_id(first->event.id, NULL));
    const join_decision *known = first->generated_id ? NULL : decision_of(self, id);
    if (known)
        recognize_round(self, known, first);
    else if (first->refused)
        first->verdict = ENTRY_REFUSED; /* and the others follow */
    else
        return add_round(self, bandit, first, id, error);
    return EE_OK;
}

ee_status join_write_decision(joining *self, join_bandit *bandit, store_entry *entry, ee_error *error)
{
    if (!entry->slot_count) return decide_one(self, bandit, entry, error);
    if (is_round(entry)) return decide_round(self, bandit, entry, error);
    entry->verdict = ENTRY_FAILED;
    status_fail(&entry->error, EE_BAD_INPUT, "journal: a round with slots is submitted as a whole");
    return EE_OK;
}

/* ---- the end of the wait ---- */

/* Decisions that are settled are no longer looked for. The store is told if some were settled now, and else now and
 * then. */
static void advance(join_bandit *bandit, uint64_t settled_to, bool some)
{
    if (some || settled_to / 1024 != bandit->now.settled_to / 1024) bandit->changed = true;
    bandit->now.settled_to = settled_to;
}

ee_status join_settle_due(joining *self, join_bandit *bandit, const join_due *due, ee_error *error)
{
    bandit_state *state = &bandit->now;
    if (!due->fetched || due->wait != state->rules.wait) return EE_OK; /* it changed just now: check again */
    ee_status status = EE_OK;
    for (size_t i = 0; i < due->count && !status; i++) {
        join_decision *decision = &self->decisions[self->due_decisions[due->first + i]];
        if (!decision->row.settled) status = settle(self, bandit, decision, error);
    }
    if (status) return status;
    advance(bandit, due->upto, due->count > 0);
    int64_t next = due->next == INT64_MAX && bandit->has_decisions ? self->now : due->next;
    state->deadline = next == INT64_MAX ? INT64_MAX : next + state->rules.wait + 1;
    return EE_OK;
}
