#include "counted_decisions.h"

#include <math.h>

enum { BUCKET = 4, MOST_COUNTED = 65536 };

ee_status counted_decisions_create(counted_decisions *self, memory *owner, size_t pending, ee_error *error)
{
    self->buckets = 1;
    while (self->buckets * BUCKET < pending && self->buckets * BUCKET < MOST_COUNTED) self->buckets *= 2;
    return memory_create(owner, &self->entries, self->buckets * BUCKET, sizeof *self->entries, error);
}

/* FNV-1a, word by word; never 0. */
static uint64_t mix(uint64_t hash, const void *words, size_t count)
{
    const uint32_t *each = words;
    for (size_t i = 0; i < count; i++) hash = (hash ^ each[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t key_of(const observation *seen)
{
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), &seen->round, 2);
    hash = mix(hash, &seen->id.value, 2);
    hash = mix(hash, &seen->score, sizeof seen->score / sizeof(uint32_t));
    hash = mix(hash, seen->x.values, seen->x.count);
    if (seen->x.indices) hash = mix(hash, seen->x.indices, seen->x.count);
    hash = mix(hash, seen->kept, seen->kept_count);
    hash ^= hash >> 32;
    return hash ? hash : 1;
}

static counted_decision *bucket_of(const counted_decisions *self, uint64_t key)
{
    return self->entries + key % self->buckets * BUCKET;
}

void counted_decisions_add(counted_decisions *self, const observation *seen)
{
    uint64_t key = key_of(seen);
    counted_decision *bucket = bucket_of(self, key), *place = bucket;
    for (size_t i = 0; i < BUCKET && place->key; i++)
        if (!bucket[i].key || bucket[i].awaited_at < place->awaited_at) place = &bucket[i];
    self->count += !place->key;
    *place = (counted_decision){key, seen->awaited_at, seen->expected};
}

static counted_decision *find(const counted_decisions *self, const observation *seen)
{
    if (!self->count) return NULL;
    uint64_t key = key_of(seen);
    counted_decision *bucket = bucket_of(self, key);
    for (size_t i = 0; i < BUCKET; i++)
        if (bucket[i].key == key) return &bucket[i];
    return NULL;
}

void counted_decisions_find(const counted_decisions *self, observation *seen)
{
    const counted_decision *found = find(self, seen);
    if (!found) return;
    seen->awaited = true;
    seen->awaited_at = found->awaited_at;
    seen->expected = found->expected;
}

void counted_decisions_remove(counted_decisions *self, const observation *seen)
{
    counted_decision *found = find(self, seen);
    if (!found) return;
    *found = (counted_decision){0};
    self->count--;
}

void counted_decisions_archive(counted_decisions *self, uint64_t most_round, archive *a)
{
    size_t places = self->buckets * BUCKET, next = 0;
    if (a->version < 11) return;
    archive_size(a, &self->count, 0, places, "number of expired decisions that count as tried");
    for (size_t i = 0; i < self->count && !a->status; i++, next++) {
        while (!a->reading && !self->entries[next].key) next++;
        archive_size(a, &next, i, places - 1, "place of an expired decision");
        counted_decision *entry = &self->entries[next];
        bool taken = a->reading && entry->key;
        archive_u64(a, &entry->key);
        archive_u64(a, &entry->awaited_at);
        archive_floats(a, &entry->expected, 1);
        if (taken || !entry->key || entry->awaited_at > most_round || !isfinite(entry->expected))
            archive_fail(a, EE_BAD_MODEL, "model: invalid expectation of an expired decision");
    }
}
