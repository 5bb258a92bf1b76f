#define _POSIX_C_SOURCE 200809L
#include "guardrails.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/checksum.h"
#include "sticky.h"

struct guardrails {
    guard_settings tables;
    uint64_t seed;
    atomic_bool falls_back;
    uint64_t read;         /* number of the last event that is counted */
    bool has_state;        /* decisions are made one after the other */
    pthread_mutex_t mutex; /* of the rest, which only has_state uses */
    limit_state *limits;
    sticky *kept;
    int64_t now; /* the latest time that was asked: it never goes back */
};

/* ---- groups ---- */

double guardrails_unit(uint64_t seed, json_text key)
{
    static const uint64_t salt = 0x67726f7570; /* "group": draws use the plain seed */
    return (double)(event_seed(seed ^ salt, key) >> 11) * 0x1p-53;
}

static decision_group group_of(const guardrails *self, json_text key, double treated)
{
    if (atomic_load(&((guardrails *)(uintptr_t)self)->falls_back)) return GROUP_FALLBACK;
    if (!self->tables.has_groups) return GROUP_NONE;
    double at = guardrails_unit(self->seed, key);
    if (at < self->tables.control) return GROUP_CONTROL;
    return at < self->tables.control + treated ? GROUP_TREATED : GROUP_WAITING;
}

/* An action without a name is called by its place. */
static json_text name_of(const decision_body *body, size_t action, char digits[24])
{
    if (body->names) return body->names[action];
    return (json_text){digits, (size_t)snprintf(digits, 24, "%zu", action)};
}

/* The baseline, which may be excluded by now: the fixed action or a slot's own if that is left, else the first. */
static void find_baseline(const guard_settings *of, decision_body *body)
{
    char digits[24];
    bool fixed = of->baseline == BASELINE_ACTION && decision_follows_baseline(body);
    for (size_t i = 0; fixed && i < body->count; i++)
        if (json_is(name_of(body, i, digits), of->baseline_action)) body->baseline = i;
    for (size_t i = 0; body->excluded[body->baseline]; i++) body->baseline = i;
}

/* ---- rules ---- */

static bool applies(const guard_rule *rule, int64_t now, uint64_t matches)
{
    return now >= rule->from && now < rule->until && (matches & rule->terms) == rule->terms;
}

/* Excludes and boosts; lists the rules that changed something for an action that was still possible. */
static bool apply_rules(const guardrails *self, guardrails_room *room, int64_t now, decision_body *body)
{
    bool any_boost = false;
    memset(room->boosts, 0, body->count * sizeof *room->boosts);
    for (size_t r = 0; r < self->tables.rule_count; r++) {
        const guard_rule *rule = &self->tables.rules[r];
        bool applied = false;
        for (size_t i = 0; i < body->count; i++) {
            if (room->excluded[i] || !applies(rule, now, room->facts.matches[i])) continue;
            applied = true;
            if (rule->excludes)
                room->excluded[i] = EXCLUDED_BY_RULE;
            else
                room->boosts[i] += (float)rule->boost;
        }
        any_boost |= applied && !rule->excludes;
        if (applied) body->guard.rules[body->guard.rule_count++] = (json_text){rule->name, strlen(rule->name)};
    }
    return any_boost;
}
_Static_assert((int)GUARD_RULES <= (int)MOST_APPLIED_RULES, "every rule may apply");

/* ---- stickiness ---- */

static uint64_t hash_of(json_text words)
{
    return checksum_64(words.bytes, words.length);
}

static uint64_t slot_of(json_text id)
{
    return id.length ? hash_of(id) : 0;
}

/* The action that the person keeps, if it is possible now. */
static ee_status find_kept(guardrails *self, guardrails_room *room, const decision_body *body, ee_error *error)
{
    sticky_decision drawn;
    char digits[24];
    room->kept_action = SIZE_MAX;
    if (!self->kept || !room->round.has_key || decision_follows_baseline(body)) return EE_OK;
    if (!sticky_find(self->kept, room->round.now, room->round.key, room->slot, &drawn)) return EE_OK;
    for (size_t i = 0; i < body->count && room->kept_action == SIZE_MAX; i++)
        if (!room->excluded[i] && json_compare(name_of(body, i, digits), drawn.action) == 0) room->kept_action = i;
    ee_status status =
        memory_grow(&room->memory, &room->repeated, &room->repeated_capacity, drawn.id.length + 1, 1, error);
    if (status) return status;
    memcpy(room->repeated, drawn.id.bytes, drawn.id.length);
    room->repeated_size = drawn.id.length;
    room->kept_probability = drawn.probability;
    return EE_OK;
}

void guardrails_repeat(const guardrails *self, const guardrails_room *room, const double *of_arms, decision_body *body)
{
    size_t arm = 0, kept = room->kept_action;
    if (kept == SIZE_MAX) return;
    for (size_t i = 0; i < kept; i++) arm += !body->excluded[i];
    if (of_arms[arm] < self->tables.sticky_change * room->kept_probability) return;
    body->action = kept;
    body->guard.repeats = (json_text){room->repeated, room->repeated_size};
}

/* ---- a decision ---- */

static ee_status grow(guardrails_room *room, size_t count, ee_error *error)
{
    memory *owner = &room->memory;
    ee_status status = memory_grow(owner, &room->excluded, &room->excluded_capacity, count, 1, error);
    if (!status) status = memory_grow(owner, &room->boosts, &room->boost_capacity, count, sizeof *room->boosts, error);
    if (!status) status = memory_grow(owner, &room->shares, &room->share_capacity, count, sizeof *room->shares, error);
    return status;
}

/* What limits see of the decision. */
static void describe(guardrails_room *room, const decision_body *body, json_text key, int64_t now)
{
    room->slot = slot_of(body->slot);
    room->round = (limits_round){.now = now,
                                 .has_key = key.length > 0,
                                 .key = key.length ? hash_of(key) : 0,
                                 .count = body->count,
                                 .matches = room->facts.matches,
                                 .costs = room->facts.costs};
}

/* Rules and limits: exclusions for all, boosts and shares for those whom the model decides for. */
static ee_status apply(guardrails *self, guardrails_room *room, decision_body *body, ee_error *error)
{
    decision_guard *out = &body->guard;
    bool any_share = false, any_price = false;
    bool any_boost = apply_rules(self, room, room->round.now, body);
    ee_status status = EE_OK;
    if (self->limits)
        status = limits_apply(self->limits, &room->round, room->excluded, room->boosts, &any_price, room->shares,
                              room->low, room->high, &any_share, error);
    if (status || decision_follows_baseline(body)) return status;
    if (any_boost || any_price) out->boosts = room->boosts;
    if (any_price) out->price_count = limits_prices(self->limits, out->prices);
    if (!any_share) return EE_OK;
    out->shares = room->shares;
    out->share_count = self->tables.share_count;
    out->low = room->low;
    out->high = room->high;
    return EE_OK;
}

static bool any_is_left(const guardrails_room *room, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!room->excluded[i]) return true;
    return false;
}

static ee_status fill(guardrails *self, guardrails_room *room, const guardrails_question *asked, decision_body *body,
                      ee_error *error)
{
    const guard_settings *tables = &self->tables;
    decision_guard *out = &body->guard;
    if (self->has_state && asked->now > self->now) self->now = asked->now;
    describe(room, body, asked->key, self->has_state ? self->now : asked->now);
    out->treated_share = guard_settings_treated(tables, asked->now);
    json_text person = asked->key.length ? asked->key : slot_round_id(asked->id, NULL); /* all slots are in one group */
    out->group = group_of(self, person, out->treated_share);
    ee_status status = apply(self, room, body, error);
    if (status) return status;
    if (!any_is_left(room, body->count))
        return status_fail(error, EE_BAD_INPUT, "decide: the rules of the guardrails exclude every action");
    body->excluded = room->excluded;
    find_baseline(tables, body);
    return find_kept(self, room, body, error);
}

ee_status guardrails_begin(guardrails *self, guardrails_room *room, const guardrails_question *asked,
                           decision_body *body, ee_error *error)
{
    ee_status status = guard_facts_read(&room->facts, &self->tables, body, error);
    if (!status) status = guard_facts_check_costs(&room->facts, &self->tables, body, error);
    if (!status) status = grow(room, body->count, error);
    if (status) return status;
    if (body->excluded)
        memcpy(room->excluded, body->excluded, body->count);
    else
        memset(room->excluded, 0, body->count);
    body->guard = (decision_guard){.present = true,
                                   .baseline = (uint8_t)self->tables.baseline,
                                   .key = asked->key,
                                   .segment = {room->facts.segment.bytes, room->facts.segment.length}};
    if (self->has_state) pthread_mutex_lock(&self->mutex);
    status = fill(self, room, asked, body, error);
    if (status && self->has_state) pthread_mutex_unlock(&self->mutex);
    return status;
}

/* Counts a decision, now or from the log. */
static ee_status count(guardrails *self, guardrails_room *room, json_text id, const decision_body *body,
                       ee_error *error)
{
    char digits[24];
    ee_status status = EE_OK;
    room->round.excluded = body->excluded;
    room->round.is_baseline = decision_follows_baseline(body);
    if (self->limits) status = limits_decided(self->limits, &room->round, body->action, body->probabilities, error);
    bool keeps = self->kept && room->round.has_key && !decision_follows_baseline(body) && !body->guard.repeats.length;
    if (status || !keeps) return status;
    sticky_decision drawn = {.id = id,
                             .action = name_of(body, body->action, digits),
                             .time = room->round.now,
                             .probability = body->probabilities[body->action]};
    return sticky_set(self->kept, room->round.key, room->slot, &drawn, error);
}

ee_status guardrails_end(guardrails *self, guardrails_room *room, const guardrails_question *asked,
                         const decision_body *body, bool counts, ee_error *error)
{
    if (!self->has_state) return EE_OK;
    ee_status status = counts ? count(self, room, asked->id, body, error) : EE_OK;
    pthread_mutex_unlock(&self->mutex);
    return status;
}

bool guardrails_count(const guardrails *self)
{
    return self && self->has_state;
}

void guardrails_undo(guardrails *self, guardrails_room *room, json_text id, int64_t decided, const decision_body *body)
{
    sticky_decision drawn;
    if (guard_facts_read(&room->facts, &self->tables, body, NULL)) return; /* it stays counted: limits hold */
    describe(room, body, body->guard.key, decided);
    room->round.excluded = body->excluded;
    room->round.is_baseline = decision_follows_baseline(body);
    pthread_mutex_lock(&self->mutex);
    if (self->limits) limits_undo(self->limits, &room->round, body->action, body->probabilities);
    bool kept = self->kept && room->round.has_key && !body->guard.repeats.length &&
                sticky_find(self->kept, decided, room->round.key, room->slot, &drawn);
    if (kept && json_compare(drawn.id, id) == 0) sticky_forget(self->kept, room->round.key, room->slot);
    pthread_mutex_unlock(&self->mutex);
}

void guardrails_forget(guardrails *self, const guardrails_draw *draws, size_t count)
{
    sticky_decision drawn;
    if (!self->kept) return;
    pthread_mutex_lock(&self->mutex);
    for (size_t i = 0; i < count; i++) {
        uint64_t key = hash_of(draws[i].key), slot = slot_of(draws[i].slot);
        if (sticky_find(self->kept, self->now, key, slot, &drawn) && json_compare(drawn.id, draws[i].id) == 0)
            sticky_forget(self->kept, key, slot);
    }
    pthread_mutex_unlock(&self->mutex);
}

void guardrails_room_release(guardrails_room *room)
{
    guard_facts_release(&room->facts);
    memory_release(&room->memory);
}

/* ---- starting ---- */

static ee_status take_back(guardrails *self, guardrails_room *room, event_room *bodies, const event *from,
                           ee_error *error)
{
    decision_body body;
    if (event_is_erased(from)) return EE_OK;
    ee_status status = decision_body_read(from->body, from->size, bodies, &body, error);
    if (!status) status = guard_facts_read(&room->facts, &self->tables, &body, error);
    if (status) return status == EE_NO_MEMORY ? status : EE_OK; /* what cannot be read was not limited */
    if (from->time > self->now) self->now = from->time;
    describe(room, &body, body.guard.key, self->now);
    room->round.prices = body.guard.prices;
    room->round.price_count = body.guard.price_count;
    return count(self, room, from->id, &body, error);
}

/* Counts the events after self->read. */
static ee_status take_all_back(guardrails *self, store_reader *log, uint32_t bandit, ee_error *error)
{
    enum { TOGETHER = 1024 };
    event_batch batch = {0};
    guardrails_room room = {0};
    event_room bodies = {.owner = &room.memory};
    ee_status status = EE_OK;
    while (!status) {
        status = store_read(log, bandit, self->read, 1U << EVENT_DECISION, TOGETHER, &batch, error);
        if (status || batch.last == self->read) break;
        for (size_t i = 0; i < batch.count && !status; i++)
            status = take_back(self, &room, &bodies, &batch.events[i], error);
        self->read = batch.last;
    }
    event_batch_free(&batch);
    guardrails_room_release(&room);
    return status;
}

/* How far back the log matters; 0: all state comes from before. */
static int64_t span_of(const guardrails *self)
{
    int64_t span = self->limits ? limits_span(self->limits) : 0;
    return self->kept && self->tables.sticky > span ? self->tables.sticky : span;
}

/* Stickiness that `before` has too comes from there. */
static ee_status create_states(guardrails *self, const guardrails *before, ee_error *error)
{
    const guard_settings *tables = &self->tables;
    bool has_limits = tables->cap_count || tables->budget_count || tables->share_count;
    bool keeps = before && before->tables.sticky == tables->sticky;
    ee_status status = has_limits ? limits_create(tables, before ? before->limits : NULL, &self->limits, error) : EE_OK;
    if (!status && tables->sticky && !keeps) status = sticky_create(tables->sticky, 0, &self->kept, error);
    self->has_state = self->limits || tables->sticky;
    self->now = INT64_MIN;
    return status;
}

static ee_status start(guardrails *self, const guardrails *before, store_reader *log, uint32_t bandit, int64_t now,
                       ee_error *error)
{
    ee_status status = create_states(self, before, error);
    int64_t span = status ? 0 : span_of(self);
    if (!span) return status;
    status = store_find_time(log, bandit, now - span, &self->read, error);
    if (status) return status;
    self->read -= self->read > 0;
    return take_all_back(self, log, bandit, error);
}

ee_status guardrails_create(const bandit_settings *of, const guardrails *before, store_reader *log, uint32_t bandit,
                            int64_t now, guardrails **out, ee_error *error)
{
    guardrails *self;
    *out = NULL;
    if (!of->guardrails[0] && of->held != HELD_FALLBACK) return EE_OK;
    ee_status status = memory_create(NULL, &self, 1, sizeof *self, error);
    if (status) return status;
    pthread_mutex_init(&self->mutex, NULL);
    self->seed = of->seed;
    atomic_init(&self->falls_back, of->held == HELD_FALLBACK);
    status = guard_settings_read(&self->tables, of->guardrails, strlen(of->guardrails), error);
    if (!status) status = start(self, before, log, bandit, now, error);
    if (status)
        guardrails_free(self);
    else
        *out = self;
    return status;
}

ee_status guardrails_take_over(guardrails *self, guardrails *before, store_reader *log, uint32_t bandit,
                               ee_error *error)
{
    if (!self || !self->has_state) return EE_OK;
    ee_status status = span_of(self) ? take_all_back(self, log, bandit, error) : EE_OK;
    if (status || !before) return status;
    if (self->limits && before->limits) limits_take_over(self->limits, before->limits);
    if (!self->kept && self->tables.sticky) {
        self->kept = before->kept;
        before->kept = NULL;
    }
    if (before->now > self->now) self->now = before->now;
    return EE_OK;
}

void guardrails_hold(guardrails *self, bool falls_back)
{
    if (self) atomic_store(&self->falls_back, falls_back);
}

void guardrails_free(guardrails *self)
{
    if (!self) return;
    limits_free(self->limits);
    sticky_free(self->kept);
    guard_settings_release(&self->tables);
    pthread_mutex_destroy(&self->mutex);
    memory_free(self);
}

void guardrails_write(guardrails *self, int64_t now, text *into)
{
    if (!self->limits) return;
    pthread_mutex_lock(&self->mutex);
    limits_write(self->limits, now, into);
    pthread_mutex_unlock(&self->mutex);
}
