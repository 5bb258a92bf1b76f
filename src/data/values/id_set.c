/* Two tables: ids go to the newer one; when that is full, it replaces the older one. Nothing is removed from a table,
 * so linear probing stays valid. */
#include "id_set.h"

#include <string.h>

enum { FIRST = 1 << 10 }; /* slots of a table that is new; it doubles, and is at most half full */

/* The slot of the id, or the free slot for it. */
static uint64_t *find(const id_table *table, uint64_t hash)
{
    size_t at = (size_t)hash & (table->capacity - 1);
    while (table->slots[at] && table->slots[at] != hash) at = (at + 1) & (table->capacity - 1);
    return &table->slots[at];
}

/* Makes room for one more: doubles the table, or starts a new one if this one is full. */
static ee_status make_room(id_set *set, ee_error *error)
{
    id_table *newer = &set->newer, next = {0};
    if (2 * newer->count < newer->capacity) return EE_OK;
    bool full = newer->count == ID_SET_LEAST;
    next.capacity = full || !newer->capacity ? FIRST : 2 * newer->capacity;
    ee_status status = memory_create(set->owner, &next.slots, next.capacity, sizeof *next.slots, error);
    if (status) return status;
    for (size_t i = 0; i < newer->capacity && !full; i++)
        if (newer->slots[i]) *find(&next, newer->slots[i]) = newer->slots[i];
    next.count = full ? 0 : newer->count;
    memory_free(full ? set->older.slots : newer->slots);
    if (full) set->older = *newer;
    *newer = next;
    return EE_OK;
}

ee_status id_set_add(id_set *set, uint64_t hash, bool *there, ee_error *error)
{
    hash += hash == 0;
    ee_status status = make_room(set, error);
    if (status) return status;
    uint64_t *place = find(&set->newer, hash);
    *there = *place || (set->older.capacity && *find(&set->older, hash));
    if (*there) return EE_OK;
    *place = hash;
    set->newer.count++;
    return EE_OK;
}

/* Multiplying spreads low bits upwards, shifting brings them down again. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    a ^= a >> 32;
    a *= 0x9e3779b97f4a7c15u;
    a ^= b;
    a ^= a >> 29;
    return a * 0xbf58476d1ce4e5b9u;
}

uint64_t id_hash(const char *bytes, size_t size)
{
    uint64_t hash = size;
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = mix(hash, word);
    }
    uint64_t rest = 0;
    if (size) memcpy(&rest, bytes, size);
    hash = mix(hash, rest);
    hash = mix(hash, 0);
    return hash ^ (hash >> 31);
}
