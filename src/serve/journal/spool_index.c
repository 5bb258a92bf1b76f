/* Open addressing with linear probing; at most half of the slots are used. */
#include "spool_index.h"

#include "base/checksum.h"

uint64_t spool_index_hash(uint32_t bandit, json_text id)
{
    return checksum_64(id.bytes, id.length) + bandit * UINT64_C(0x9e3779b97f4a7c15);
}

static void insert(spool_slot *slots, size_t capacity, spool_slot item)
{
    size_t at = item.hash & (capacity - 1);
    while (slots[at].place) at = (at + 1) & (capacity - 1);
    slots[at] = item;
}

ee_status spool_index_reserve(spool_index *self, size_t more, ee_error *error)
{
    enum { FIRST_CAPACITY = 1024 };
    size_t capacity = self->capacity ? self->capacity : FIRST_CAPACITY;
    while (capacity / 2 < self->count + more) capacity *= 2;
    if (capacity == self->capacity) return EE_OK;
    spool_slot *slots;
    ee_status status = memory_create(self->owner, &slots, capacity, sizeof *slots, error);
    if (status) return status;
    for (size_t i = 0; i < self->capacity; i++)
        if (self->slots[i].place) insert(slots, capacity, self->slots[i]);
    memory_free(self->slots);
    self->slots = slots;
    self->capacity = capacity;
    return EE_OK;
}

void spool_index_add(spool_index *self, uint64_t hash, uint64_t place)
{
    insert(self->slots, self->capacity, (spool_slot){hash, place});
    self->count++;
}

/* Empties a slot. Those behind it that were pushed on by it move up. */
static void empty(spool_index *self, size_t hole)
{
    size_t mask = self->capacity - 1;
    for (size_t at = (hole + 1) & mask; self->slots[at].place; at = (at + 1) & mask) {
        size_t home = self->slots[at].hash & mask;
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        self->slots[hole] = self->slots[at];
        hole = at;
    }
    self->slots[hole] = (spool_slot){0};
    self->count--;
}

void spool_index_remove(spool_index *self, uint64_t from)
{
    for (size_t i = 0; i < self->capacity; i++)
        while (self->slots[i].place && self->slots[i].place >= from) empty(self, i);
}

uint64_t spool_index_next(const spool_index *self, uint64_t hash, size_t *at)
{
    if (!self->capacity) return 0;
    for (;;) {
        const spool_slot *slot = &self->slots[(hash + *at) & (self->capacity - 1)];
        if (!slot->place) return 0;
        ++*at;
        if (slot->hash == hash) return slot->place;
    }
}
