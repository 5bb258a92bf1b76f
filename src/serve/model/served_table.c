/* The table of all bandits. */
#define _POSIX_C_SOURCE 200809L
#include "served_inside.h"

static void begin_reading(const served_bandits *self)
{
    pthread_rwlock_rdlock((pthread_rwlock_t *)(uintptr_t)&self->lock);
}

static void end_reading(const served_bandits *self)
{
    pthread_rwlock_unlock((pthread_rwlock_t *)(uintptr_t)&self->lock);
}

static size_t hash_of(json_text name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < name.length; i++) hash = (hash ^ (uint8_t)name.bytes[i]) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ hash >> 32);
}

/* The slot of a name, or the free slot for it. */
static uint32_t *slot_of(const served_bandits *self, json_text name)
{
    for (size_t i = hash_of(name);; i++) {
        uint32_t *slot = &self->slots[i & (self->slot_count - 1)];
        if (!*slot || json_is(name, self->bandits[*slot - 1]->name)) return slot;
    }
}

static json_text name_of(const served_bandit *bandit)
{
    return (json_text){bandit->name, strlen(bandit->name)};
}

/* Room for one more, at most half of the slots taken. */
static ee_status reserve(served_bandits *self, ee_error *error)
{
    ee_status status =
        memory_grow(&self->memory, &self->bandits, &self->capacity, self->count + 1, sizeof *self->bandits, error);
    if (status || 2 * (self->count + 1) <= self->slot_count) return status;
    uint32_t *grown, *before = self->slots;
    size_t slot_count = self->slot_count ? 2 * self->slot_count : 64;
    status = memory_create(&self->memory, &grown, slot_count, sizeof *grown, error);
    if (status) return status;
    self->slots = grown;
    self->slot_count = slot_count;
    for (size_t i = 0; i < self->count; i++) *slot_of(self, name_of(self->bandits[i])) = (uint32_t)i + 1;
    memory_free(before);
    return EE_OK;
}

/* By its number: they ascend. */
static served_bandit *at_number(const served_bandits *self, uint32_t number)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->bandits[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < self->count && self->bandits[low]->number == number ? self->bandits[low] : NULL;
}

served_bandit *served_bandits_find_number(const served_bandits *self, uint32_t number)
{
    begin_reading(self);
    served_bandit *found = at_number(self, number);
    end_reading(self);
    return found;
}

served_bandit *served_bandits_find(const served_bandits *self, json_text name)
{
    begin_reading(self);
    uint32_t slot = self->slot_count ? *slot_of(self, name) : 0;
    served_bandit *found = slot ? self->bandits[slot - 1] : NULL;
    end_reading(self);
    return found;
}

served_bandit *served_bandits_at(const served_bandits *self, size_t index)
{
    begin_reading(self);
    served_bandit *found = index < self->count ? self->bandits[index] : NULL;
    end_reading(self);
    return found;
}

static served_bandit *take_removed(served_bandits *self, uint32_t number)
{
    served_bandit **place = &self->removed;
    while (*place && (*place)->number != number) place = &(*place)->next_removed;
    served_bandit *found = *place;
    if (found) *place = found->next_removed;
    return found;
}

static ee_status create(served_bandits *self, uint32_t number, json_text name, served_bandit **out, ee_error *error)
{
    ee_status status = memory_create(&self->memory, out, 1, sizeof **out, error);
    if (status) return status;
    served_bandit *bandit = *out;
    bandit->all = self;
    bandit->number = number;
    bandit->turn.owner = bandit;
    memcpy(bandit->name, name.bytes, name.length);
    pthread_mutex_init(&bandit->mutex, NULL);
    pthread_cond_init(&bandit->left, NULL);
    return EE_OK;
}

ee_status served_table_make(served_bandits *self, uint32_t number, json_text name, const bandit_settings *settings,
                            bool archived, served_bandit **out, ee_error *error)
{
    if (name.length >= BANDIT_NAME_SIZE)
        return status_fail(error, EE_BAD_INPUT, "bandit: the name is longer than %d bytes", BANDIT_NAME_SIZE - 1);
    pthread_rwlock_wrlock(&self->lock);
    *out = take_removed(self, number);
    ee_status status = *out ? EE_OK : create(self, number, name, out, error);
    pthread_rwlock_unlock(&self->lock);
    if (status) return status;
    served_bandit *bandit = *out;
    pthread_mutex_lock(&bandit->mutex);
    bandit->settings = *settings;
    bandit->archived = archived;
    bandit->save_wanted = false;
    bandit->version = bandit->saved_version = bandit->saved_upto = 0;
    bandit->events = bandit->taken = bandit->standing.taken = 1; /* the SETTINGS event that it begins with */
    bandit->stride = bandit->standing.stride = 1;
    bandit->standing.saved = 0;
    bandit->standing.trouble[0] = '\0';
    bandit->wake_due = 0;
    pthread_mutex_unlock(&bandit->mutex);
    return EE_OK;
}

/* The slots of all names, after places have changed. */
static void fill_slots(served_bandits *self)
{
    memset(self->slots, 0, self->slot_count * sizeof *self->slots);
    for (size_t i = 0; i < self->count; i++) *slot_of(self, name_of(self->bandits[i])) = (uint32_t)i + 1;
}

/* With the lock for writing. */
static void keep_removed(served_bandits *self, served_bandit *bandit)
{
    bandit->next_removed = self->removed;
    self->removed = bandit;
}

void served_table_discard(served_bandits *self, served_bandit *bandit)
{
    pthread_mutex_lock(&bandit->mutex);
    bandit->removed = true;
    pthread_mutex_unlock(&bandit->mutex);
    pthread_rwlock_wrlock(&self->lock);
    keep_removed(self, bandit);
    pthread_rwlock_unlock(&self->lock);
}

/* A bandit that was just created may be inserted by its request and by the fleet: the second one does nothing. */
ee_status served_table_insert(served_bandits *self, served_bandit *bandit, ee_error *error)
{
    pthread_rwlock_wrlock(&self->lock);
    bool known = at_number(self, bandit->number) != NULL;
    ee_status status = known ? EE_OK : reserve(self, error);
    pthread_mutex_lock(&bandit->mutex);
    bandit->removed = known;
    pthread_mutex_unlock(&bandit->mutex);
    if (known) keep_removed(self, bandit);
    if (!status && !known) {
        size_t place = self->count++;
        bool last = !place || self->bandits[place - 1]->number < bandit->number;
        for (; place && self->bandits[place - 1]->number > bandit->number; place--)
            self->bandits[place] = self->bandits[place - 1];
        self->bandits[place] = bandit;
        if (last)
            *slot_of(self, name_of(bandit)) = (uint32_t)self->count;
        else
            fill_slots(self);
    }
    pthread_rwlock_unlock(&self->lock);
    return status;
}

ee_status served_table_add(served_bandits *self, uint32_t number, json_text name, const bandit_settings *settings,
                           bool archived, served_bandit **out, ee_error *error)
{
    ee_status status = served_table_make(self, number, name, settings, archived, out, error);
    return status ? status : served_table_insert(self, *out, error);
}

void served_table_remove(served_bandits *self, served_bandit *bandit)
{
    pthread_rwlock_wrlock(&self->lock);
    size_t place = 0;
    while (place < self->count && self->bandits[place] != bandit) place++;
    if (place < self->count) {
        self->count--;
        memmove(self->bandits + place, self->bandits + place + 1, (self->count - place) * sizeof *self->bandits);
        fill_slots(self);
        keep_removed(self, bandit);
    }
    pthread_rwlock_unlock(&self->lock);
}

static void destroy(served_bandit *bandit)
{
    pthread_cond_destroy(&bandit->left);
    pthread_mutex_destroy(&bandit->mutex);
}

void served_table_free(served_bandits *self)
{
    for (size_t i = 0; i < self->count; i++) destroy(self->bandits[i]);
    for (served_bandit *bandit = self->removed; bandit; bandit = bandit->next_removed) destroy(bandit);
}
