#include "pending.h"

#include <string.h>

ee_status pending_create(pending *self, memory *owner, const policy *decider, const common_options *options, size_t dim,
                         ee_error *error)
{
    *self = (pending){.memory = owner, .policy = decider, .dim = dim, .limit = (size_t)options->pending};
    size_t entries = (size_t)options->nonzeros < dim ? (size_t)options->nonzeros : dim;
    kept_decision usual = {.arms = (size_t)options->arms, .entries = (uint32_t)entries, .sparse = 1};
    self->block_words = kept_decision_words(&usual, decider);
    ee_status status = memory_create(owner, &self->entries, self->limit, sizeof *self->entries, error);
    if (!status) status = memory_create(owner, &self->slots, self->limit, sizeof *self->slots, error);
    if (!status) status = memory_create(owner, &self->free_slots, self->limit, sizeof *self->free_slots, error);
    if (!status)
        status = memory_create(owner, &self->block, self->limit, self->block_words * sizeof *self->block, error);
    return status;
}

static pending_entry *entry_of(const pending *self, uint64_t id)
{
    return &self->entries[id % self->limit];
}

/* Makes sure that so many slots are free. There are, where no more entries are empty or out of the window. */
static void free_slots(pending *self, size_t count)
{
    for (; self->free_count < count; self->used_slots++) {
        size_t fresh = self->used_slots;
        self->slots[fresh] = (pending_slot){self->block + fresh * self->block_words, self->block_words, false};
        /* New ones lie at the bottom: those that were used last are taken first. */
        memmove(self->free_slots + 1, self->free_slots, self->free_count++ * sizeof *self->free_slots);
        self->free_slots[0] = fresh;
    }
}

/* What the slot holds stays. */
static ee_status grow_slot(const pending *self, pending_slot *slot, size_t words, ee_error *error)
{
    if (words <= slot->capacity) return EE_OK;
    uint32_t *larger;
    ee_status status = memory_create(self->memory, &larger, words, sizeof *larger, error);
    if (status) return status;
    memcpy(larger, slot->words, slot->capacity * sizeof *larger);
    if (slot->own) memory_free(slot->words);
    *slot = (pending_slot){larger, words, true};
    return EE_OK;
}

ee_status pending_reserve(pending *self, uint64_t first, size_t count, size_t words, ee_error *error)
{
    size_t fresh = 0;
    ee_status status = EE_OK;
    if (count > self->limit) count = self->limit; /* later ones take the slots of the first */
    for (size_t i = 0; i < count && !status; i++) {
        const pending_entry *expiring = entry_of(self, first + i);
        if (expiring->state == PENDING_WAITING)
            status = grow_slot(self, &self->slots[expiring->slot], words, error);
        else
            fresh++;
    }
    free_slots(self, fresh);
    for (size_t i = 1; i <= fresh && !status; i++)
        status = grow_slot(self, &self->slots[self->free_slots[self->free_count - i]], words, error);
    return status;
}

uint32_t *pending_add(pending *self, uint64_t id, const kept_decision *decision)
{
    pending_entry *entry = entry_of(self, id);
    if (entry->state == PENDING_WAITING) pending_remove(self, entry, PENDING_EMPTY);
    *entry = (pending_entry){id, *decision, self->free_slots[--self->free_count], PENDING_WAITING};
    return self->slots[entry->slot].words;
}

ee_status pending_find(pending *self, uint64_t id, uint64_t made, const char *verb, pending_entry **out,
                       ee_error *error)
{
    unsigned long long number = id;
    if (id == 0 || id > made)
        return status_fail(error, EE_UNKNOWN_DECISION, "%s: there is no decision %llu; the last one is %llu", verb,
                           number, (unsigned long long)made);
    pending_entry *entry = entry_of(self, id);
    if (entry->id != id)
        return status_fail(error, EE_EXPIRED_DECISION,
                           "%s: decision %llu is no longer kept: %llu were made since, and option pending is %zu", verb,
                           number, (unsigned long long)(made - id), self->limit);
    if (entry->state == PENDING_FORGOTTEN)
        return status_fail(error, EE_EXPIRED_DECISION, "%s: decision %llu was forgotten", verb, number);
    if (entry->state == PENDING_REWARDED)
        return status_fail(error, EE_REWARDED_DECISION, "%s: decision %llu has its reward already", verb, number);
    *out = entry;
    return EE_OK;
}

observation pending_observation(const pending *self, const pending_entry *entry)
{
    return kept_decision_observation(&entry->decision, self->policy, self->slots[entry->slot].words);
}

void pending_remove(pending *self, pending_entry *entry, pending_state why)
{
    self->free_slots[self->free_count++] = entry->slot;
    entry->state = why;
}

size_t pending_count(const pending *self)
{
    return self->used_slots - self->free_count;
}

/* ---- saving and loading ---- */

/* The waiting decision that is being read gets its slot and, if need be, more room. */
static void claim_slot(pending *self, pending_entry *entry, archive *a)
{
    const kept_decision *decision = &entry->decision;
    if (decision->arms < 1 || decision->arms > UINT32_MAX)
        archive_fail(a, EE_BAD_MODEL, "model: a pending decision was made among an impossible number of arms");
    size_t words = kept_decision_words(decision, self->policy);
    if (words > archive_remaining(a) / sizeof(float))
        archive_fail(a, EE_BAD_MODEL, "model: cut short in a pending decision");
    if (a->status) return;
    free_slots(self, 1);
    entry->slot = self->free_slots[--self->free_count];
    ee_status status = grow_slot(self, &self->slots[entry->slot], words, a->error);
    if (status) a->status = status;
}

static void archive_waiting(pending *self, pending_entry *entry, archive *a)
{
    kept_decision_archive(&entry->decision, a);
    if (a->reading) claim_slot(self, entry, a);
    if (a->status) return;
    archive_u32s(a, self->slots[entry->slot].words, kept_decision_words(&entry->decision, self->policy));
    if (a->reading && !vector_is_sound(pending_observation(self, entry).x, self->dim))
        archive_fail(a, EE_BAD_MODEL, "model: a pending decision has wrong indices");
}

void pending_archive(pending *self, uint64_t made, archive *a)
{
    uint64_t window = made < self->limit ? made : self->limit;
    for (uint64_t id = made - window + 1; id <= made && !a->status; id++) {
        pending_entry *entry = entry_of(self, id);
        size_t state = entry->state;
        archive_size(a, &state, PENDING_WAITING, PENDING_FORGOTTEN, "state of a decision");
        if (a->reading) {
            entry->id = id;
            entry->state = (pending_state)state;
        }
        if (state == PENDING_WAITING && !a->status) archive_waiting(self, entry, a);
    }
}
