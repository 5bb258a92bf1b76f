#include "pending.h"

#include <math.h>
#include <stdio.h>

enum { FIRST_SLOTS = 16 }; /* initial capacity if memory is not reserved at once */

ee_status pending_create(pending *self, memory *owner, const policy *decider, const common_options *options, size_t dim,
                         ee_error *error)
{
    *self = (pending){.policy = decider,
                      .dim = dim,
                      .limit = (size_t)options->pending,
                      .wait = options->wait,
                      .default_reward = options->default_reward};
    size_t words = kept_decision_usual_words(decider, dim, (size_t)options->nonzeros, (size_t)options->arms);
    size_t count = options->grows && self->limit > FIRST_SLOTS ? FIRST_SLOTS : self->limit + 1;
    ee_status status = memory_create(owner, &self->entries, self->limit, sizeof *self->entries, error);
    if (!status) status = memory_create(owner, &self->free_slots, self->limit + 1, sizeof *self->free_slots, error);
    if (!status) status = slots_create(&self->slots, owner, count, words, options->grows, error);
    return status;
}

static pending_entry *entry_of(const pending *self, uint64_t id)
{
    return &self->entries[id % self->limit];
}

ee_status pending_reserve(pending *self, size_t count, size_t words, ee_error *error)
{
    size_t made = self->slots.count, needed = self->used_slots + count;
    while (made < needed && made <= self->limit) made *= 2;
    if (made > self->limit + 1) made = self->limit + 1;
    ee_status status = made > self->slots.count ? slots_grow(&self->slots, made, error) : EE_OK;
    return status ? status : slots_reserve(&self->slots, count, words, error);
}

static size_t next_slot(pending *self)
{
    return self->free_count ? self->free_slots[--self->free_count] : self->used_slots++;
}

uint32_t *pending_add(pending *self, uint64_t id, const kept_decision *decision, double time, pending_entry *leaving)
{
    pending_entry *entry = entry_of(self, id);
    *leaving = *entry;
    *entry = (pending_entry){
        .id = id, .decision = *decision, .slot = next_slot(self), .state = PENDING_WAITING, .time = time};
    return slots_take(&self->slots, entry->slot, kept_decision_words(decision, self->policy));
}

/* Nothing is known any more about decisions that are `limit` decisions old: they may have had their reward. */
static ee_status fail_expired_by_count(const pending *self, uint64_t id, uint64_t made, const char *verb,
                                       ee_error *error)
{
    char fate[64] = "was forgotten";
    if (!isnan(self->default_reward))
        snprintf(fate, sizeof fate, "was learned with the default reward %.9g", self->default_reward);
    return status_fail(error, EE_EXPIRED_DECISION,
                       "%s: decision %llu is no longer kept: %llu decisions followed it, and option pending is %zu; if "
                       "it had no reward, it %s",
                       verb, (unsigned long long)id, (unsigned long long)(made - id), self->limit, fate);
}

static ee_status fail_expired_by_time(const pending *self, const pending_entry *entry, const char *verb,
                                      ee_error *error)
{
    unsigned long long number = entry->id;
    if (entry->state == PENDING_EXPIRED)
        return status_fail(
            error, EE_EXPIRED_DECISION,
            "%s: decision %llu expired: it had no reward after a time of %.9g (option wait) and was forgotten", verb,
            number, self->wait);
    return status_fail(error, EE_EXPIRED_DECISION,
                       "%s: decision %llu expired: it had no reward after a time of %.9g (option wait) and was learned "
                       "with the default reward %.9g",
                       verb, number, self->wait, self->default_reward);
}

ee_status pending_find(pending *self, uint64_t id, uint64_t made, const char *verb, pending_entry **out,
                       ee_error *error)
{
    unsigned long long number = id;
    if (id == 0 || id > made)
        return status_fail(error, EE_UNKNOWN_DECISION, "%s: there is no decision %llu; the last one is %llu", verb,
                           number, (unsigned long long)made);
    pending_entry *entry = entry_of(self, id);
    if (entry->id != id) return fail_expired_by_count(self, id, made, verb, error);
    if (entry->state == PENDING_EXPIRED || entry->state == PENDING_DEFAULTED)
        return fail_expired_by_time(self, entry, verb, error);
    if (entry->state == PENDING_FORGOTTEN)
        return status_fail(error, EE_EXPIRED_DECISION, "%s: decision %llu was forgotten", verb, number);
    if (entry->state == PENDING_REWARDED)
        return status_fail(error, EE_REWARDED_DECISION, "%s: decision %llu already has its reward", verb, number);
    *out = entry;
    return EE_OK;
}

observation pending_observation(const pending *self, const pending_entry *entry)
{
    observation seen = kept_decision_observation(&entry->decision, self->policy, slots_at(&self->slots, entry->slot));
    seen.awaited = entry->awaited;
    seen.expected = entry->expected;
    seen.awaited_at = entry->awaited_at;
    return seen;
}

void pending_remove(pending *self, pending_entry *entry, pending_state why)
{
    slots_free(&self->slots, entry->slot);
    self->free_slots[self->free_count++] = entry->slot;
    entry->state = why;
}

/* The first decision that may still be in the table. */
static uint64_t oldest_kept(const pending *self, uint64_t made)
{
    return made < self->limit ? 1 : made - self->limit + 1;
}

pending_entry *pending_uncounted(pending *self, uint64_t made)
{
    uint64_t oldest = oldest_kept(self, made);
    if (self->uncounted < oldest) self->uncounted = oldest;
    for (; self->uncounted <= made; self->uncounted++) {
        pending_entry *entry = entry_of(self, self->uncounted);
        if (entry->state == PENDING_WAITING && !entry->awaited) return entry;
    }
    return NULL;
}

pending_entry *pending_oldest(pending *self, uint64_t made)
{
    uint64_t first = oldest_kept(self, made);
    if (self->oldest < first) self->oldest = first;
    for (; self->oldest <= made; self->oldest++) {
        pending_entry *entry = entry_of(self, self->oldest);
        if (entry->state == PENDING_WAITING) return entry;
    }
    return NULL;
}

void pending_set_awaited(pending *self, uint64_t id, const observation *seen)
{
    pending_entry *entry = entry_of(self, id);
    entry->awaited = true;
    entry->expected = seen->expected;
    entry->awaited_at = seen->awaited_at;
}

size_t pending_count(const pending *self)
{
    return self->used_slots - self->free_count;
}

/* ---- saving and loading ---- */

/* Gives the decision being read its slot and, if needed, more memory. */
static void claim_slot(pending *self, pending_entry *entry, archive *a)
{
    const kept_decision *decision = &entry->decision;
    if (decision->arms < 1 || decision->arms > UINT32_MAX)
        archive_fail(a, EE_BAD_MODEL, "model: invalid number of arms of a pending decision");
    size_t words = kept_decision_words(decision, self->policy);
    if (words > archive_remaining(a) / sizeof(float))
        archive_fail(a, EE_BAD_MODEL, "model: truncated in a pending decision");
    if (a->status) return;
    a->status = pending_reserve(self, 1, words, a->error);
    if (a->status) return;
    entry->slot = next_slot(self);
    slots_take(&self->slots, entry->slot, words);
}

static void archive_awaited(const pending *self, pending_entry *entry, archive *a)
{
    size_t awaited = entry->awaited;
    archive_size(a, &awaited, 0, 1, "flag of a pending decision");
    if (a->status || !awaited) return;
    entry->awaited = true;
    archive_floats(a, &entry->expected, 1);
    archive_u64(a, &entry->awaited_at);
    if (a->reading && (!isfinite(entry->expected) || entry->awaited_at > self->policy->parameters.round))
        archive_fail(a, EE_BAD_MODEL, "model: invalid expectation of a pending decision");
}

static void archive_waiting(pending *self, pending_entry *entry, double now, archive *a)
{
    kept_decision_archive(&entry->decision, a);
    if (a->reading) claim_slot(self, entry, a);
    if (a->status) return;
    archive_u32s(a, slots_at(&self->slots, entry->slot), kept_decision_words(&entry->decision, self->policy));
    if (a->reading && !vector_is_sound(pending_observation(self, entry).x, self->dim))
        archive_fail(a, EE_BAD_MODEL, "model: invalid indices of a pending decision");
    archive_bytes(a, &entry->time, sizeof entry->time);
    if (a->reading && !a->status && !(entry->time >= 0 && entry->time <= now))
        archive_fail(a, EE_BAD_MODEL, "model: invalid time of a pending decision");
    archive_awaited(self, entry, a);
}

void pending_archive(pending *self, uint64_t made, double now, archive *a)
{
    for (uint64_t id = oldest_kept(self, made); id <= made && !a->status; id++) {
        pending_entry *entry = entry_of(self, id);
        size_t state = entry->state;
        archive_size(a, &state, PENDING_WAITING, PENDING_DEFAULTED, "state of a decision");
        if (a->reading) {
            entry->id = id;
            entry->state = (pending_state)state;
        }
        if (state == PENDING_WAITING && !a->status) archive_waiting(self, entry, now, a);
    }
}
