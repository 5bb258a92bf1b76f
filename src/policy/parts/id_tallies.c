#include "id_tallies.h"

#include <math.h>
#include <string.h>

/* The table: a header, the places in the order of their first id, and slots from the hash of an id to its place. */
typedef struct table_head {
    uint64_t used;    /* used places, from the first on */
    uint64_t cursor;  /* the place where the search for a new id starts, when all are used */
    uint64_t changes; /* ids that got a place so far */
} table_head;

typedef struct id_place {
    uint64_t id;
    uint64_t played; /* 1: chosen again since the cursor passed */
    tally rewards;
} id_place;

typedef struct id_table {
    table_head *head;
    id_place *places; /* (most) */
    uint32_t *slots;  /* (slot_count) place + 1; 0: free */
    size_t most, slot_count;
} id_table;

/* A power of two, so that at most half of the slots are taken. */
static size_t slots_for(size_t ids)
{
    size_t count = 2;
    while (count < 2 * ids) count *= 2;
    return count;
}

size_t id_tallies_count(size_t ids)
{
    return (sizeof(table_head) + ids * sizeof(id_place) + slots_for(ids) * sizeof(uint32_t)) / sizeof(float);
}

static id_table table_of(float *floats, size_t ids)
{
    table_head *head = (table_head *)(void *)floats;
    id_place *places = (id_place *)(void *)(head + 1);
    return (id_table){head, places, (uint32_t *)(void *)(places + ids), ids, slots_for(ids)};
}

bool tally_is_sound(const tally *self)
{
    return self->count >= 0 && self->squares >= 0 && isfinite(self->count) && isfinite(self->mean) &&
           isfinite(self->squares);
}

/* ---- slots ---- */

/* Ids may be consecutive numbers: every bit must matter. */
static size_t home_of(const id_table *self, uint64_t id)
{
    id = (id ^ (id >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(id >> 32) & (self->slot_count - 1);
}

/* The slot of an id, or the free one that it would take. */
static size_t slot_of(const id_table *self, uint64_t id)
{
    size_t at = home_of(self, id);
    while (self->slots[at] && self->places[self->slots[at] - 1].id != id) at = (at + 1) & (self->slot_count - 1);
    return at;
}

/* Frees a slot, and moves the following ones up, so that each is still found from its home. */
static void free_slot(const id_table *self, size_t at)
{
    size_t last = self->slot_count - 1;
    for (size_t next = (at + 1) & last; self->slots[next]; next = (next + 1) & last) {
        size_t home = home_of(self, self->places[self->slots[next] - 1].id);
        if (((next - home) & last) < ((next - at) & last)) continue; /* its home is after the free slot */
        self->slots[at] = self->slots[next];
        at = next;
    }
    self->slots[at] = 0;
}

/* ---- places ---- */

static size_t free_place(const id_table *self)
{
    table_head *head = self->head;
    if (head->used < self->most) return (size_t)head->used++;
    while (self->places[head->cursor].played) {
        self->places[head->cursor].played = 0;
        head->cursor = (head->cursor + 1) % self->most;
    }
    size_t place = (size_t)head->cursor;
    head->cursor = (head->cursor + 1) % self->most;
    free_slot(self, slot_of(self, self->places[place].id));
    return place;
}

const tally *id_tallies_find(const float *floats, size_t ids, uint64_t id)
{
    id_table self = table_of((float *)(uintptr_t)floats, ids); /* read only */
    uint32_t place = self.slots[slot_of(&self, id)];
    return place ? &self.places[place - 1].rewards : NULL;
}

tally *id_tallies_play(float *floats, size_t ids, uint64_t id)
{
    id_table self = table_of(floats, ids);
    uint32_t found = self.slots[slot_of(&self, id)];
    size_t place = found ? found - 1 : free_place(&self);
    self.places[place].played = found > 0; /* an id that occurs once must not outlast frequent ones */
    if (!found) {
        self.places[place] = (id_place){.id = id};
        self.slots[slot_of(&self, id)] = (uint32_t)place + 1;
        self.head->changes++;
    }
    return &self.places[place].rewards;
}

size_t id_tallies_copy(const float *floats, size_t ids, float *to)
{
    id_table from = table_of((float *)(uintptr_t)floats, ids), copy = table_of(to, ids); /* from is read only */
    size_t bytes = sizeof *from.head + (size_t)from.head->used * sizeof *from.places, more = 0;
    if (copy.head->changes != from.head->changes) more = from.slot_count * sizeof *from.slots;
    memcpy(copy.slots, from.slots, more);
    memcpy(to, floats, bytes);
    return (bytes + more) / sizeof(float);
}

/* ---- saving and loading ---- */

static void archive_place(const id_table *self, size_t number, archive *a)
{
    id_place *place = &self->places[number];
    archive_u64(a, &place->id);
    archive_u64(a, &place->played);
    archive_bytes(a, &place->rewards, sizeof place->rewards);
    if (!a->reading || a->status) return;
    size_t slot = slot_of(self, place->id);
    if (!tally_is_sound(&place->rewards) || place->played > 1 || self->slots[slot])
        archive_fail(a, EE_BAD_MODEL, "model: invalid rewards by id");
    else
        self->slots[slot] = (uint32_t)number + 1;
}

void id_tallies_archive(float *floats, size_t ids, archive *a)
{
    id_table self = table_of(floats, ids);
    size_t used = (size_t)self.head->used, cursor = (size_t)self.head->cursor;
    size_t most = archive_remaining(a) / sizeof(id_place);
    archive_size(a, &used, 0, a->reading && most < ids ? most : ids, "ids with a place");
    archive_size(a, &cursor, 0, ids - 1, "next place of an id");
    archive_u64(a, &self.head->changes);
    for (size_t i = 0; i < used && !a->status; i++) archive_place(&self, i, a);
    if (a->status) return;
    self.head->used = used;
    self.head->cursor = cursor;
}
