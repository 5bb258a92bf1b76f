#include "joining.h"

#include "join_rules.h"
#include "join_set.h"

/* ---- bandits ---- */

ee_status joining_create(joining **out, ee_error *error)
{
    ee_status status = memory_create_owner(NULL, out, sizeof **out, error);
    if (!status) (*out)->leads = true;
    return status;
}

void joining_free(joining *self)
{
    if (self) memory_release(&self->memory);
}

static ee_status add_bandit(joining *self, const bandit_state *state, ee_error *error)
{
    ee_status status = memory_grow(&self->memory, &self->bandits, &self->bandit_capacity, self->bandit_count + 1,
                                   sizeof *self->bandits, error);
    if (!status) self->bandits[self->bandit_count++] = (join_bandit){.now = *state};
    return status;
}

ee_status joining_add_bandit(joining *self, const bandit_state *state, ee_error *error)
{
    ee_status status = add_bandit(self, state, error);
    self->committed_count = self->bandit_count;
    return status;
}

static bandit_state state_of_others(uint32_t number)
{
    return (bandit_state){.number = number, .deadline = INT64_MAX};
}

ee_status joining_know(joining *self, uint32_t number, ee_error *error)
{
    ee_status status = EE_OK;
    while (!status && self->bandit_count < number) {
        bandit_state other = state_of_others((uint32_t)self->bandit_count + 1);
        status = joining_add_bandit(self, &other, error);
    }
    return status;
}

ee_status joining_own(joining *self, const bandit_state *state, ee_error *error)
{
    ee_status status = joining_know(self, state->number, error);
    if (!status) self->bandits[state->number - 1].now = *state;
    if (!status) self->bandits[state->number - 1].now.owned = true;
    return status;
}

ee_status joining_note_purged(joining *self, uint32_t number, ee_error *error)
{
    ee_status status = joining_know(self, number, error);
    if (!status) self->bandits[number - 1].now.purged = true;
    return status;
}

void joining_disown(joining *self, uint32_t number)
{
    join_bandit *bandit = joining_bandit(self, number);
    if (bandit) bandit->now = bandit->before = state_of_others(number);
}

join_bandit *joining_bandit(const joining *self, uint32_t number)
{
    return number && number <= self->bandit_count ? &self->bandits[number - 1] : NULL;
}

static ee_status touch(joining *self, join_bandit *bandit, ee_error *error)
{
    if (bandit->touched) return EE_OK;
    ee_status status = memory_grow(&self->memory, &self->touched, &self->touched_capacity, self->touched_count + 1,
                                   sizeof *self->touched, error);
    if (status) return status;
    self->touched[self->touched_count++] = bandit->now.number;
    bandit->before = bandit->now;
    bandit->touched = true;
    return EE_OK;
}

/* ---- what a group refers to ---- */

static ee_status name_bandit(joining *self, uint32_t number, ee_error *error)
{
    join_bandit *bandit = joining_bandit(self, number);
    if (!bandit || bandit->named) return EE_OK;
    ee_status status = memory_grow(&self->memory, &self->named, &self->named_capacity, self->named_count + 1,
                                   sizeof *self->named, error);
    if (status) return status;
    self->named[self->named_count++] = number;
    bandit->named = true;
    return EE_OK;
}

static void forget_named(joining *self)
{
    for (size_t i = 0; i < self->named_count; i++) joining_bandit(self, self->named[i])->named = false;
    self->named_count = 0;
}

static ee_status refer(joining *self, const join_bandit *bandit, json_text id, bool fetch, bool claims, ee_error *error)
{
    join_id *found;
    ee_status status = join_add_id(self, bandit->now.number, id, &found, error);
    if (status) return status;
    found->fetch |= fetch;
    found->fetch_unclaimed |= claims && bandit->now.unclaimed > 0;
    return EE_OK;
}

/* An id that we made is new for certain. Of a round, only the round's id can be known without its slots'. */
static ee_status collect_decision(joining *self, const join_bandit *bandit, const store_entry *entry, ee_error *error)
{
    bool known = !entry->generated_id;
    ee_status status = refer(self, bandit, entry->event.id, known && !entry->slot_count, known, error);
    if (status || !entry->slot_count || entry->slot_index) return status;
    return refer(self, bandit, slot_round_id(entry->event.id, NULL), known, known, error);
}

static ee_status collect_entry(joining *self, const store_entry *entry, ee_error *error)
{
    const event *what = &entry->event;
    const join_bandit *bandit = joining_bandit(self, entry->bandit);
    if (what->kind == EVENT_SETTINGS && !entry->bandit) {
        ee_status status = memory_grow(&self->memory, &self->names, &self->name_capacity, self->name_count + 1,
                                       sizeof *self->names, error);
        if (!status) self->names[self->name_count++] = (join_name){.name = entry->name};
        return status;
    }
    if (!bandit || !bandit->now.owned) return EE_OK;
    if (what->kind == EVENT_DECISION) return collect_decision(self, bandit, entry, error);
    if (what->kind != EVENT_REWARD && what->kind != EVENT_ACTIVATED) return EE_OK;
    ee_status status = refer(self, bandit, what->id, true, false, error);
    if (status || what->kind != EVENT_REWARD || !what->reward_id.length) return status;
    return join_add_reward_id(self, entry->bandit, what->id, what->reward_id, error);
}

static ee_status collect_due(joining *self, const store_group *group, ee_error *error)
{
    ee_status status =
        memory_grow(&self->memory, &self->due, &self->due_capacity, group->due_count, sizeof *self->due, error);
    for (size_t i = 0; i < group->due_count && !status; i++) {
        const join_bandit *bandit = joining_bandit(self, group->due[i]);
        if (!bandit) return status_fail(error, EE_BAD_INPUT, "store: there is no bandit %u", (unsigned)group->due[i]);
        int64_t wait = bandit->now.rules.wait;
        status = name_bandit(self, group->due[i], error);
        self->due[self->due_count++] = (join_due){.bandit = group->due[i],
                                                  .after = bandit->now.settled_to,
                                                  .wait = wait,
                                                  .before = group->now - wait,
                                                  .next = INT64_MAX};
    }
    return status;
}

ee_status joining_collect(joining *self, const store_group *group, ee_error *error)
{
    ee_status status = EE_OK;
    join_clear(self);
    forget_named(self);
    self->touched_count = 0;
    self->now = group->now;
    self->changes_clock = group->clock != NULL;
    self->counts = (store_counts){0};
    for (const store_entry *entry = group->first; entry && !status; entry = entry->next) {
        status = name_bandit(self, entry->bandit, error);
        if (!status) status = collect_entry(self, entry, error);
    }
    return status ? status : collect_due(self, group, error);
}

ee_status joining_found_decision(joining *self, size_t id, const stored_decision *row, ee_error *error)
{
    uint32_t place;
    ee_status status = join_add_decision(self, self->ids[id].bandit, row, &place, error);
    if (!status) self->ids[id].decision = place + 1;
    return status;
}

ee_status joining_keep_metrics(joining *self, const void *bytes, size_t size, metric_values **out, ee_error *error)
{
    join_metrics *kept;
    *out = NULL;
    if (!size) return EE_OK;
    ee_status status = join_take_metrics(self, &kept, error);
    if (!status && !metric_values_read(bytes, size, &kept->values, NULL)) *out = &kept->values;
    return status;
}

ee_status joining_found_unclaimed(joining *self, size_t id, const event *found, ee_error *error)
{
    join_id *of = &self->ids[id];
    join_unclaimed kept = {
        .bandit = of->bandit, .id = of->id, .number = found->number, .kind = found->kind, .value = found->value};
    if (found->size && found->size <= METRIC_VALUES_SIZE) {
        join_metrics *metrics;
        ee_status status = join_take_metrics(self, &metrics, error);
        if (status) return status;
        memcpy(metrics->bytes, found->body, found->size);
        kept.body = metrics->bytes;
        kept.size = found->size;
    }
    return join_add_unclaimed(self, of, &kept, error);
}

ee_status joining_collect_slots(joining *self, const store_group *group, ee_error *error)
{
    ee_status status = EE_OK;
    for (const store_entry *entry = group->first; entry && !status; entry = entry->next) {
        json_text id = entry->event.id;
        if (entry->event.kind == EVENT_SETTLED) {
            status = memory_grow(&self->memory, &self->slots, &self->slot_capacity, self->slot_count + 1,
                                 sizeof *self->slots, error);
            if (!status) self->slots[self->slot_count++] = (join_slot){entry->bandit, entry->event.decision};
        }
        if (entry->event.kind != EVENT_ACTIVATED || slot_round_id(id, NULL).length != id.length) continue;
        const join_id *of = join_find_id(self, entry->bandit, id);
        if (!of || !of->decision) continue;
        stored_decision first = self->decisions[of->decision - 1].row;
        status = memory_grow(&self->memory, &self->slots, &self->slot_capacity, self->slot_count + first.slots,
                             sizeof *self->slots, error);
        for (uint64_t i = 1; i < first.slots && !status; i++)
            self->slots[self->slot_count++] = (join_slot){entry->bandit, first.number + i};
    }
    return status;
}

ee_status joining_found_slot(joining *self, uint32_t bandit, const stored_decision *row, ee_error *error)
{
    uint32_t place;
    return join_add_decision(self, bandit, row, &place, error);
}

ee_status joining_found_due(joining *self, size_t which, const stored_decision *rows, size_t count, ee_error *error)
{
    join_due *due = &self->due[which];
    ee_status status = memory_grow(&self->memory, &self->due_decisions, &self->due_decision_capacity,
                                   self->due_decision_count + count, sizeof *self->due_decisions, error);
    due->fetched = true;
    due->first = self->due_decision_count;
    due->count = count;
    for (size_t i = 0; i < count && !status; i++)
        status =
            join_add_decision(self, due->bandit, &rows[i], &self->due_decisions[self->due_decision_count++], error);
    return status;
}

/* ---- entries ---- */

static ee_status refuse(store_entry *entry, const char *sentence)
{
    entry->verdict = ENTRY_FAILED;
    status_fail(&entry->error, EE_BAD_INPUT, sentence, (unsigned)entry->bandit);
    return EE_OK;
}

static ee_status write_settings(joining *self, join_bandit *bandit, store_entry *entry, ee_error *error)
{
    ee_status status = join_append(self, bandit, &entry->event, error);
    if (status) return status;
    bandit->now.rules = entry->settings->joining;
    bandit->now.archived = entry->archived;
    bandit->now.deadline = self->now; /* the wait may have changed: check again */
    bandit->changed = true;
    bandit->settings = (json_text){entry->event.body, entry->event.size};
    return EE_OK;
}

/* Whether a bandit has this name, in the store or earlier in the group. */
static bool has_name(const joining *self, json_text name)
{
    for (size_t i = 0; i < self->name_count; i++) {
        const join_name *known = &self->names[i];
        if (known->exists && known->name.length == name.length &&
            memcmp(known->name.bytes, name.bytes, name.length) == 0)
            return true;
    }
    return false;
}

static ee_status write_new_bandit(joining *self, store_entry *entry, ee_error *error)
{
    json_text name = entry->name;
    if (has_name(self, name)) {
        entry->verdict = ENTRY_FAILED;
        status_fail(&entry->error, EE_BAD_INPUT, "store: the bandit '%.*s' already exists", (int)name.length,
                    name.bytes);
        return EE_OK;
    }
    bandit_state state = {.number = (uint32_t)self->bandit_count + 1, .owned = true, .deadline = INT64_MAX};
    ee_status status = add_bandit(self, &state, error);
    if (status) return status;
    join_bandit *bandit = joining_bandit(self, state.number);
    bandit->is_new = true;
    bandit->name = name;
    entry->bandit = state.number;
    for (size_t i = 0; i < self->name_count; i++)
        if (self->names[i].name.bytes == name.bytes) self->names[i].exists = true;
    status = touch(self, bandit, error);
    return status ? status : write_settings(self, bandit, entry, error);
}

static bool needs_active_bandit(event_kind kind)
{
    return kind == EVENT_DECISION || kind == EVENT_REWARD || kind == EVENT_ACTIVATED || kind == EVENT_MODEL;
}

static ee_status write_entry(joining *self, store_entry *entry, ee_error *error)
{
    enum { MOST_BYTES = 500000000 }; /* SQLite and PostgreSQL take 10^9 in a row */
    event_kind kind = entry->event.kind;
    entry->verdict = ENTRY_DONE;
    entry->earlier = NULL;
    if (entry->event.size > MOST_BYTES) return refuse(entry, "store: bandit %u: the event is larger than 500 MB");
    bool creates = kind == EVENT_SETTINGS && entry->bandit == 0;
    join_bandit *bandit = joining_bandit(self, entry->bandit);
    /* Only the leader knows all bandits. */
    bool owns = creates || !bandit ? self->leads : bandit->now.owned;
    if (!owns && !(bandit && bandit->now.purged)) {
        entry->verdict = ENTRY_MOVED;
        status_fail(&entry->error, EE_FILE_ERROR, "store: another server owns the bandit; try again");
        return EE_OK;
    }
    if (creates) return write_new_bandit(self, entry, error);
    if (!bandit || bandit->is_new || bandit->now.purged)
        return refuse(entry, "bandit: there is no bandit with the number %u");
    ee_status status = touch(self, bandit, error);
    if (status) return status;
    if (bandit->now.archived && needs_active_bandit(kind))
        return refuse(entry, "bandit: number %u is archived; restore it first");
    switch (kind) {
    case EVENT_DECISION:
        return join_write_decision(self, bandit, entry, error);
    case EVENT_REWARD:
        return join_write_reward(self, bandit, entry, error);
    case EVENT_ACTIVATED:
        return join_write_activation(self, bandit, entry, error);
    case EVENT_SETTINGS:
        return write_settings(self, bandit, entry, error);
    case EVENT_STEP:
    case EVENT_CHECKPOINT:
    case EVENT_MODEL:
    case EVENT_PROMOTION:
    case EVENT_ERASED:
    case EVENT_ALARM:
        return join_append(self, bandit, &entry->event, error);
    case EVENT_SETTLED:
        if (entry->event.decision) return join_write_settlement(self, bandit, entry, error);
        break;
    }
    return refuse(entry, "journal: bandit %u: only the journal settles decisions");
}

/* Writes an entry, unless the one before it, with which it belongs together, was refused. The first slot of a round has
 * written the others. */
static ee_status write_after(joining *self, const store_entry *before, store_entry *entry, ee_error *error)
{
    bool together = before && before->with_next;
    bool refused = together && before->verdict != ENTRY_DONE && before->verdict != ENTRY_REPEATED;
    if (!refused && together && entry->slot_index > 0) return EE_OK;
    if (!refused) return write_entry(self, entry, error);
    entry->verdict = before->verdict;
    entry->error = before->error;
    return EE_OK;
}

/* New decisions do not move those that the rules work on. */
static ee_status reserve_decisions(joining *self, const store_group *group, ee_error *error)
{
    size_t count = self->decision_count;
    for (const store_entry *entry = group->first; entry; entry = entry->next)
        count += entry->event.kind == EVENT_DECISION;
    return memory_grow(&self->memory, &self->decisions, &self->decision_capacity, count, sizeof *self->decisions,
                       error);
}

ee_status joining_run(joining *self, store_group *group, ee_error *error)
{
    ee_status status = reserve_decisions(self, group, error);
    for (store_entry *entry = group->first, *before = NULL; entry && !status; before = entry, entry = entry->next)
        status = write_after(self, before, entry, error);
    for (size_t i = 0; i < self->due_count && !status; i++) {
        join_bandit *bandit = joining_bandit(self, self->due[i].bandit);
        if (!bandit->now.owned) continue;
        status = touch(self, bandit, error);
        if (!status) status = join_settle_due(self, bandit, &self->due[i], error);
    }
    return status;
}

void joining_end(joining *self, bool committed)
{
    for (size_t i = 0; i < self->touched_count; i++) {
        join_bandit *bandit = joining_bandit(self, self->touched[i]);
        if (!committed) bandit->now = bandit->before;
        bandit->touched = bandit->is_new = bandit->changed = bandit->has_decisions = false;
        bandit->name = bandit->settings = (json_text){0};
    }
    if (committed)
        self->committed_count = self->bandit_count;
    else
        self->bandit_count = self->committed_count;
}
