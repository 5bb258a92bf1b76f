#include "pending.h"

#include <string.h>

static size_t kept_count(const pending *self, uint64_t round, size_t arms)
{
    const policy_class *class = self->policy->class;
    return class->kept_count ? class->kept_count(self->policy, round, arms) : 0;
}

static size_t words_for(const pending *self, size_t entries, bool sparse, uint64_t round, size_t arms)
{
    return entries * (sparse ? 2 : 1) + kept_count(self, round, arms);
}

ee_status pending_create(pending *self, memory *owner, const policy *decider, const common_options *options, size_t dim,
                         ee_error *error)
{
    *self = (pending){.policy = decider, .dim = dim, .limit = (size_t)options->pending};
    size_t entries = (size_t)options->nonzeros < dim ? (size_t)options->nonzeros : dim;
    size_t words = words_for(self, entries, true, 0, (size_t)options->arms);
    ee_status status = memory_create(owner, &self->entries, self->limit, sizeof *self->entries, error);
    if (!status) status = memory_create(owner, &self->free_slots, self->limit, sizeof *self->free_slots, error);
    if (!status) status = slots_create(&self->slots, owner, self->limit, words, error);
    return status;
}

ee_status pending_reserve(pending *self, const ee_arms *arms, uint64_t round, ee_error *error)
{
    size_t longest = 0;
    for (size_t i = 0; arms->starts && i < arms->count; i++) {
        size_t entries = arms->starts[i + 1] - arms->starts[i];
        if (entries > longest) longest = entries;
    }
    size_t words = words_for(self, arms->starts ? longest : arms->dim, arms->starts != NULL, round, arms->count);
    return slots_reserve(&self->slots, 1, words, error);
}

static size_t next_slot(pending *self)
{
    return self->free_count ? self->free_slots[--self->free_count] : self->used_slots++;
}

static void write_vector(uint32_t *words, vector x)
{
    if (!x.count) return;
    memcpy(words, x.values, x.count * sizeof *words);
    if (x.indices) memcpy(words + x.count, x.indices, x.count * sizeof *words);
}

static size_t vector_words(const pending_entry *entry)
{
    return (size_t)entry->entries * (entry->sparse ? 2 : 1);
}

float *pending_add(pending *self, uint64_t id, const ee_arms *arms, size_t arm, ee_score score, uint64_t round)
{
    pending_entry *entry = &self->entries[id % self->limit];
    if (entry->state == PENDING_WAITING) pending_remove(self, entry);
    vector x = vector_of_arm(arms, arm);
    *entry = (pending_entry){.id = id,
                             .round = round,
                             .arms = arms->count,
                             .slot = next_slot(self),
                             .score = score,
                             .entries = (uint32_t)x.count,
                             .sparse = x.indices != NULL,
                             .state = PENDING_WAITING};
    uint32_t *words =
        slots_take(&self->slots, entry->slot, words_for(self, x.count, x.indices != NULL, round, arms->count));
    write_vector(words, x);
    return (float *)(void *)(words + vector_words(entry));
}

ee_status pending_find(pending *self, uint64_t id, uint64_t made, pending_entry **out, ee_error *error)
{
    unsigned long long number = id;
    if (id == 0 || id > made)
        return status_fail(error, EE_UNKNOWN_DECISION, "learn: there is no decision %llu; the last one is %llu", number,
                           (unsigned long long)made);
    pending_entry *entry = &self->entries[id % self->limit];
    if (entry->id != id)
        return status_fail(error, EE_EXPIRED_DECISION,
                           "learn: decision %llu is no longer kept: %llu were made since, and option pending is %zu",
                           number, (unsigned long long)(made - id), self->limit);
    if (entry->state == PENDING_REWARDED)
        return status_fail(error, EE_REWARDED_DECISION, "learn: decision %llu has its reward already", number);
    *out = entry;
    return EE_OK;
}

observation pending_observation(const pending *self, const pending_entry *entry)
{
    const uint32_t *words = slots_at(&self->slots, entry->slot);
    const float *values = (const float *)(const void *)words;
    return (observation){
        .round = entry->round,
        .x = {values, entry->sparse ? words + entry->entries : NULL, entry->entries},
        .score = entry->score,
        .kept = values + vector_words(entry),
        .kept_count = kept_count(self, entry->round, entry->arms),
    };
}

void pending_remove(pending *self, pending_entry *entry)
{
    slots_give_back(&self->slots, entry->slot);
    self->free_slots[self->free_count++] = entry->slot;
    entry->state = PENDING_REWARDED;
}

/* ---- saving and loading ---- */

/* The waiting decision that is being read gets its slot and, if need be, more room. */
static void claim_slot(pending *self, pending_entry *entry, archive *a)
{
    size_t most = archive_remaining(a) / sizeof(float);
    size_t words = words_for(self, entry->entries, entry->sparse, entry->round, entry->arms);
    if (words > most) archive_fail(a, EE_BAD_MODEL, "model: cut short in a pending decision");
    if (a->status) return;
    a->status = slots_reserve(&self->slots, 1, words, a->error);
    if (a->status) return;
    entry->slot = next_slot(self);
    slots_take(&self->slots, entry->slot, words);
}

static void archive_waiting(pending *self, pending_entry *entry, archive *a)
{
    uint32_t head[2] = {entry->entries, entry->sparse};
    archive_u64(a, &entry->round);
    archive_size(a, &entry->arms, 1, UINT32_MAX, "arms of a pending decision");
    archive_u32s(a, head, 2);
    archive_floats(a, &entry->score.exploitation, 1);
    archive_floats(a, &entry->score.exploration, 1);
    archive_floats(a, &entry->score.score, 1);
    entry->entries = head[0];
    entry->sparse = head[1];
    if (a->reading) claim_slot(self, entry, a);
    if (a->status) return;
    archive_u32s(a, slots_at(&self->slots, entry->slot),
                 words_for(self, entry->entries, entry->sparse, entry->round, entry->arms));
    if (a->reading && !vector_is_sound(pending_observation(self, entry).x, self->dim))
        archive_fail(a, EE_BAD_MODEL, "model: a pending decision has wrong indices");
}

void pending_archive(pending *self, uint64_t made, archive *a)
{
    uint64_t window = made < self->limit ? made : self->limit;
    for (uint64_t id = made - window + 1; id <= made && !a->status; id++) {
        pending_entry *entry = &self->entries[id % self->limit];
        size_t state = entry->state;
        archive_size(a, &state, PENDING_WAITING, PENDING_REWARDED, "state of a decision");
        if (a->reading) {
            entry->id = id;
            entry->state = (pending_state)state;
        }
        if (state == PENDING_WAITING && !a->status) archive_waiting(self, entry, a);
    }
}
