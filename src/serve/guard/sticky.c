#include "sticky.h"

#include "key_table.h"

const size_t STICKY_BYTES = (size_t)256 << 20;

typedef struct kept {
    char *texts; /* the id, then the action */
    size_t id_length, action_length;
    int64_t time;
    double probability;
} kept;

struct sticky {
    memory owner; /* first: of everything here */
    int64_t lasts, now;
    size_t most; /* bytes */
    key_table *persons;
};

ee_status sticky_create(int64_t lasts, size_t most, sticky **out, ee_error *error)
{
    sticky *self;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->lasts = lasts;
    self->now = INT64_MIN;
    self->most = most ? most : STICKY_BYTES;
    status = key_table_create(&self->owner, sizeof(kept), SIZE_MAX, &self->persons, error);
    if (status)
        sticky_free(self);
    else
        *out = self;
    return status;
}

void sticky_free(sticky *self)
{
    if (self) memory_release(&self->owner);
}

static void drop(sticky *self, kept *old)
{
    memory_free(old->texts);
    key_table_remove(self->persons, old);
}

/* Forgets a few that have ended: more than one decision adds, and not so many that one decision waits for them. */
static void drop_ended(sticky *self)
{
    int64_t time;
    for (int i = 0; i < 8; i++) {
        kept *oldest = key_table_oldest(self->persons, &time);
        if (!oldest || time > self->now - self->lasts) return;
        drop(self, oldest);
    }
}

bool sticky_find(sticky *self, int64_t now, uint64_t key, uint64_t slot, sticky_decision *out)
{
    if (now > self->now) self->now = now;
    drop_ended(self);
    const kept *found = key_table_find(self->persons, key, slot);
    if (!found || found->time <= self->now - self->lasts) return false;
    *out = (sticky_decision){.id = {found->texts, found->id_length},
                             .action = {found->texts + found->id_length, found->action_length},
                             .time = found->time,
                             .probability = found->probability};
    return true;
}

/* Blocks that were freed within the table are used again, so the oldest go until the others and the new one fit. */
static void make_room(sticky *self, size_t bytes)
{
    int64_t time;
    kept *oldest;
    while (memory_bytes(&self->owner) + bytes > self->most && (oldest = key_table_oldest(self->persons, &time)))
        drop(self, oldest);
}

ee_status sticky_set(sticky *self, uint64_t key, uint64_t slot, const sticky_decision *drawn, ee_error *error)
{
    size_t size = drawn->id.length + drawn->action.length;
    char *texts;
    void *place;
    sticky_forget(self, key, slot);
    if (drawn->time > self->now) self->now = drawn->time;
    drop_ended(self);
    make_room(self, size);
    ee_status status = memory_create(&self->owner, &texts, size, 1, error);
    if (status) return status;
    status = key_table_take(self->persons, key, slot, &place, error);
    if (status) {
        memory_free(texts);
        return status;
    }
    if (drawn->id.length) memcpy(texts, drawn->id.bytes, drawn->id.length);
    if (drawn->action.length) memcpy(texts + drawn->id.length, drawn->action.bytes, drawn->action.length);
    *(kept *)place = (kept){texts, drawn->id.length, drawn->action.length, drawn->time, drawn->probability};
    key_table_touch(self->persons, place, self->now);
    return EE_OK;
}

void sticky_forget(sticky *self, uint64_t key, uint64_t slot)
{
    kept *old = key_table_find(self->persons, key, slot);
    if (old) drop(self, old);
}

size_t sticky_count(const sticky *self)
{
    return key_table_count(self->persons);
}
