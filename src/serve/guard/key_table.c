#include "key_table.h"

#include <stddef.h>
#include <string.h>

typedef struct entry {
    uint64_t key, part;
    struct entry *next;          /* of the same bucket; of the unused entries */
    struct entry *older, *newer; /* in the order of use */
    int64_t used;
    uint64_t payload[];
} entry;

struct key_table {
    memory *owner;
    size_t entry_size, most, count;
    entry **buckets; /* (bucket_count), a power of two */
    size_t bucket_count;
    entry *oldest, *newest, *unused;
};

enum { FIRST_BUCKETS = 64, ENTRIES_AT_ONCE = 64 };

ee_status key_table_create(memory *owner, size_t payload, size_t most, key_table **out, ee_error *error)
{
    key_table *self;
    ee_status status = memory_create(owner, &self, 1, sizeof *self, error);
    if (status) return status;
    *self = (key_table){
        .owner = owner, .entry_size = key_table_entry_size(payload), .most = most, .bucket_count = FIRST_BUCKETS};
    *out = self;
    return memory_create(owner, &self->buckets, FIRST_BUCKETS, sizeof *self->buckets, error);
}

size_t key_table_entry_size(size_t payload)
{
    return sizeof(entry) + (payload + 7) / 8 * 8;
}

static entry *entry_of(void *payload)
{
    return (entry *)(void *)((char *)payload - offsetof(entry, payload));
}

static entry **bucket_of(const key_table *self, uint64_t key, uint64_t part)
{
    uint64_t mixed = (key ^ (part << 32 | part >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
    return &self->buckets[(mixed >> 32) & (self->bucket_count - 1)];
}

void *key_table_find(const key_table *self, uint64_t key, uint64_t part)
{
    entry *found = *bucket_of(self, key, part);
    while (found && (found->key != key || found->part != part)) found = found->next;
    return found ? found->payload : NULL;
}

/* Doubles the buckets when there is an entry for each. */
static ee_status grow_buckets(key_table *self, ee_error *error)
{
    entry **old = self->buckets;
    size_t old_count = self->bucket_count;
    if (self->count < old_count) return EE_OK;
    ee_status status = memory_create(self->owner, &self->buckets, 2 * old_count, sizeof *old, error);
    if (status) {
        self->buckets = old;
        return status;
    }
    self->bucket_count = 2 * old_count;
    for (size_t i = 0; i < old_count; i++)
        for (entry *each = old[i], *next; each; each = next) {
            entry **bucket = bucket_of(self, each->key, each->part);
            next = each->next;
            each->next = *bucket;
            *bucket = each;
        }
    memory_free(old);
    return EE_OK;
}

static ee_status add_unused(key_table *self, ee_error *error)
{
    char *block;
    if (self->unused) return EE_OK;
    ee_status status = memory_create(self->owner, &block, ENTRIES_AT_ONCE, self->entry_size, error);
    for (size_t i = 0; i < ENTRIES_AT_ONCE && !status; i++) {
        entry *each = (entry *)(void *)(block + i * self->entry_size);
        each->next = self->unused;
        self->unused = each;
    }
    return status;
}

static void append(key_table *self, entry *added)
{
    added->older = self->newest;
    added->newer = NULL;
    if (self->newest) self->newest->newer = added;
    if (!self->oldest) self->oldest = added;
    self->newest = added;
}

static void unlink_use(key_table *self, entry *old)
{
    *(old->older ? &old->older->newer : &self->oldest) = old->newer;
    *(old->newer ? &old->newer->older : &self->newest) = old->older;
}

ee_status key_table_take(key_table *self, uint64_t key, uint64_t part, void **out, ee_error *error)
{
    *out = key_table_find(self, key, part);
    if (*out || self->count >= self->most) return EE_OK;
    ee_status status = grow_buckets(self, error);
    if (!status) status = add_unused(self, error);
    if (status) return status;
    entry *added = self->unused, **bucket = bucket_of(self, key, part);
    self->unused = added->next;
    memset(added, 0, self->entry_size);
    added->key = key;
    added->part = part;
    added->used = self->newest ? self->newest->used : INT64_MIN;
    added->next = *bucket;
    *bucket = added;
    append(self, added);
    self->count++;
    *out = added->payload;
    return EE_OK;
}

void key_table_touch(key_table *self, void *payload, int64_t now)
{
    entry *touched = entry_of(payload);
    touched->used = now;
    if (touched == self->newest) return;
    unlink_use(self, touched);
    append(self, touched);
}

void *key_table_oldest(const key_table *self, int64_t *used)
{
    if (!self->oldest) return NULL;
    *used = self->oldest->used;
    return self->oldest->payload;
}

void key_table_remove(key_table *self, void *payload)
{
    entry *old = entry_of(payload), **link = bucket_of(self, old->key, old->part);
    while (*link != old) link = &(*link)->next;
    *link = old->next;
    unlink_use(self, old);
    old->next = self->unused;
    self->unused = old;
    self->count--;
}

size_t key_table_count(const key_table *self)
{
    return self->count;
}
