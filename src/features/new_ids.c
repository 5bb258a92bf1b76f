#include "new_ids.h"

#include <string.h>

enum { GROUP = 8, LEAST = 64, MOST = 16384, MOST_APART = 8 };

static new_id *group_of(const new_ids *self, uint64_t hash)
{
    return self->entries + (hash & (self->capacity / GROUP - 1)) * GROUP;
}

/* Puts an entry first in its group; drops the last one of a full group. */
static void push(new_ids *self, new_id entry)
{
    new_id *group = group_of(self, entry.hash);
    self->count += !group[GROUP - 1].hash;
    memmove(group + 1, group, (GROUP - 1) * sizeof *group);
    group[0] = entry;
}

ee_status new_ids_reserve(new_ids *self, memory *owner, size_t more, ee_error *error)
{
    size_t capacity = self->capacity ? self->capacity : LEAST;
    if (!more) return EE_OK;
    while (capacity < MOST && 2 * (self->count + more) > capacity) capacity *= 2;
    if (capacity == self->capacity) return EE_OK;
    new_ids larger = {.capacity = capacity};
    ee_status status = memory_create(owner, &larger.entries, capacity, sizeof *larger.entries, error);
    if (status) return status;
    for (size_t i = self->capacity; i-- > 0;) /* the oldest of a group first */
        if (self->entries[i].hash) push(&larger, self->entries[i]);
    memory_free(self->entries);
    *self = larger;
    return EE_OK;
}

bool new_ids_came_again(new_ids *self, uint64_t hash, uint64_t round, size_t actions)
{
    if (!hash) hash = 1;
    uint64_t apart = actions < MOST_APART ? actions : MOST_APART;
    new_id *group = group_of(self, hash);
    size_t at = 0;
    while (at < GROUP && group[at].hash != hash) at++;
    if (at == GROUP) {
        push(self, (new_id){hash, round});
        return false;
    }
    if (round - group[at].round < apart) return false;
    memmove(group + at, group + at + 1, (GROUP - 1 - at) * sizeof *group);
    group[GROUP - 1] = (new_id){0, 0};
    self->count--;
    return true;
}

static void archive_entry(new_id *entry, uint64_t rounds, archive *a)
{
    archive_u64(a, &entry->hash);
    archive_u64(a, &entry->round);
    if (a->reading && !a->status && (!entry->hash || entry->round > rounds))
        archive_fail(a, EE_BAD_MODEL, "model: invalid id seen once");
}

/* The capacity is part of the state: it determines which ids share a group. */
void new_ids_archive(new_ids *self, memory *owner, uint64_t rounds, archive *a)
{
    size_t capacity = self->capacity, count = self->count;
    archive_size(a, &capacity, 0, MOST, "capacity for ids seen once");
    archive_size(a, &count, 0, capacity, "number of ids seen once");
    if (a->reading && !a->status && (capacity & (capacity - 1) || (capacity && capacity < LEAST)))
        archive_fail(a, EE_BAD_MODEL, "model: invalid capacity for ids seen once");
    if (a->reading && !a->status) {
        self->capacity = capacity;
        a->status = memory_create(owner, &self->entries, capacity, sizeof *self->entries, a->error);
    }
    size_t next = self->capacity;
    for (size_t i = 0; i < count && !a->status; i++) {
        new_id entry = {0};
        while (!a->reading && next && !self->entries[--next].hash) continue;
        if (!a->reading) entry = self->entries[next];
        archive_entry(&entry, rounds, a);
        if (a->reading && !a->status) push(self, entry);
    }
}
