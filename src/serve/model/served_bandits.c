/* The table of all bandits, loaded from the store. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "restoring.h"
#include "trainers.h"

served_options served_options_usual(void)
{
    return (served_options){
        .publish_interval = 0.1,
        .step_events = 4096,
        .most_behind = 20000,
        .checkpoint_events = 100000,
        .checkpoint_seconds = 300,
        .checkpoints = 3,
        .sleep_seconds = 600,
    };
}

/* ---- the table ---- */

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

/* The slot of a name, or the free one where it would be. */
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

static served_bandit *find_number(const served_bandits *self, uint32_t number)
{
    begin_reading(self);
    served_bandit *found = at_number(self, number);
    end_reading(self);
    return found;
}

const metric_histogram *served_bandits_steps(const served_bandits *self)
{
    return &self->steps;
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

/* With the lock for writing. Numbers only grow. */
static ee_status add(served_bandits *self, uint32_t number, json_text name, const bandit_settings *settings,
                     bool archived, served_bandit **out, ee_error *error)
{
    served_bandit *bandit;
    if (name.length >= sizeof bandit->name)
        return status_fail(error, EE_BAD_INPUT, "bandit: the name is longer than %zu bytes", sizeof bandit->name - 1);
    ee_status status = reserve(self, error);
    if (!status) status = memory_create(&self->memory, &bandit, 1, sizeof *bandit, error);
    if (status) return status;
    bandit->all = self;
    bandit->number = number;
    memcpy(bandit->name, name.bytes, name.length);
    bandit->settings = *settings;
    bandit->archived = archived;
    bandit->taken = bandit->standing.taken = 1; /* the SETTINGS event that it begins with */
    bandit->stride = bandit->standing.stride = 1;
    atomic_init(&bandit->events, 1);
    pthread_mutex_init(&bandit->mutex, NULL);
    pthread_cond_init(&bandit->left, NULL);
    self->bandits[self->count++] = bandit;
    *slot_of(self, name) = (uint32_t)self->count;
    *out = bandit;
    return EE_OK;
}

ee_status served_bandits_set(served_bandits *self, uint32_t number, json_text name, const bandit_settings *settings,
                             bool archived, ee_error *error)
{
    pthread_rwlock_wrlock(&self->lock);
    served_bandit *bandit = at_number(self, number);
    bool known = bandit;
    ee_status status = known ? EE_OK : add(self, number, name, settings, archived, &bandit, error);
    pthread_rwlock_unlock(&self->lock);
    if (status || !known) return status;
    pthread_mutex_lock(&bandit->mutex);
    bandit->settings = *settings;
    bandit->archived = archived;
    pthread_mutex_unlock(&bandit->mutex);
    trainers_ask(bandit, trainers_now());
    return EE_OK;
}

void served_bandits_appended(served_bandits *self, uint32_t number, uint64_t last)
{
    served_bandit *bandit = find_number(self, number);
    if (!bandit) return; /* a new one, which served_bandits_set follows on: its first event is taken already */
    atomic_store(&bandit->events, last);
    trainers_ask(bandit, trainers_now());
}

/* ---- making ---- */

static ee_status add_stored(served_bandits *self, const stored_bandit *stored, ee_error *error)
{
    served_bandit *bandit;
    bandit_settings settings = bandit_settings_usual();
    ee_status status =
        bandit_settings_read(&settings, stored->settings.bytes, stored->settings.length, SETTINGS_STORED, error);
    return status ? status : add(self, stored->number, stored->name, &settings, stored->archived, &bandit, error);
}

/* What of the log its model has taken, and what is there to take. */
static ee_status survey(served_bandit *bandit, store_reader *log, ee_error *error)
{
    const unsigned kinds = 1U << EVENT_DECISION | 1U << EVENT_SETTLED | 1U << EVENT_SETTINGS | 1U << EVENT_MODEL;
    uint64_t number, last;
    step_body step;
    ee_status status = store_last_of(log, bandit->number, kinds, UINT64_MAX, &last, error);
    if (!status) status = store_last(log, bandit->number, EVENT_STEP, UINT64_MAX, &number, error);
    if (!status && number) {
        bandit->version = number;
        status = restore_next_step(log, bandit->number, number - 1, &number, &step, error);
        if (!status) bandit->taken = step.upto;
    }
    if (status) return status;
    atomic_store(&bandit->events, last);
    bandit->standing.version = bandit->version;
    bandit->standing.taken = bandit->taken;
    if (last > bandit->taken && !bandit->archived) trainers_ask(bandit, trainers_now());
    return EE_OK;
}

static ee_status add_all(served_bandits *self, store_reader *log, ee_error *error)
{
    stored_bandits list;
    ee_status status = store_list_bandits(log, &list, error);
    for (size_t i = 0; i < list.count && !status; i++) status = add_stored(self, &list.bandits[i], error);
    stored_bandits_free(&list);
    for (size_t i = 0; i < self->count && !status; i++) status = survey(self->bandits[i], log, error);
    return status;
}

ee_status served_bandits_create(store *kept, const served_options *options, served_bandits **out, ee_error *error)
{
    served_bandits *self;
    store_reader *log;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->kept = kept;
    self->options = *options;
    pthread_rwlock_init(&self->lock, NULL);
    pthread_mutex_init(&self->queue, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->queued, &monotonic);
    pthread_condattr_destroy(&monotonic);
    status = store_reader_create(kept, &log, error);
    if (!status) {
        status = add_all(self, log, error);
        store_reader_free(log);
    }
    if (status)
        served_bandits_free(self);
    else
        *out = self;
    return status;
}

ee_status served_bandits_run(served_bandits *self, journal *written, ee_error *error)
{
    self->written = written;
    return trainers_start(self, error);
}

void served_bandits_stop(served_bandits *self, bool hurry)
{
    atomic_store(&self->hurry, hurry);
    trainers_stop(self);
}

void served_bandits_free(served_bandits *self)
{
    if (!self) return;
    for (size_t i = 0; i < self->count; i++) {
        pthread_cond_destroy(&self->bandits[i]->left);
        pthread_mutex_destroy(&self->bandits[i]->mutex);
    }
    pthread_cond_destroy(&self->queued);
    pthread_mutex_destroy(&self->queue);
    pthread_rwlock_destroy(&self->lock);
    memory_release(&self->memory);
}
