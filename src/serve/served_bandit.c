#define _POSIX_C_SOURCE 200809L
#include "served_bandit.h"

#include <time.h>

#include "engine/snapshot.h"
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
        return status_fail(error, EE_BAD_INPUT, "bandit: its name is longer than %zu bytes", sizeof bandit->name - 1);
    ee_status status = reserve(self, error);
    if (!status) status = memory_create(&self->memory, &bandit, 1, sizeof *bandit, error);
    if (status) return status;
    bandit->all = self;
    bandit->number = number;
    memcpy(bandit->name, name.bytes, name.length);
    bandit->settings = *settings;
    bandit->archived = archived;
    bandit->taken = 1; /* the SETTINGS event that it begins with */
    bandit->stride = 1;
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

static ee_status add_stored(void *context, const stored_bandit *stored, ee_error *error)
{
    served_bandits *self = context;
    served_bandit *bandit;
    bandit_settings settings = bandit_settings_usual();
    ee_status status = bandit_settings_read(&settings, stored->settings.bytes, stored->settings.length, false, error);
    return status ? status : add(self, stored->number, stored->name, &settings, stored->archived, &bandit, error);
}

/* What of the log its model has taken, and what is there to take. */
static ee_status survey(served_bandit *bandit, store_reader *log, ee_error *error)
{
    const event_kind kinds[] = {EVENT_DECISION, EVENT_SETTLED, EVENT_SETTINGS, EVENT_MODEL};
    uint64_t number, last = 1;
    step_body step;
    ee_status status = EE_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !status; i++) {
        status = store_last(log, bandit->number, kinds[i], UINT64_MAX, &number, error);
        if (!status && number > last) last = number;
    }
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
        status = store_each_bandit(log, add_stored, self, error);
        for (size_t i = 0; i < self->count && !status; i++) status = survey(self->bandits[i], log, error);
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

/* ---- one of them ---- */

static void lock(const served_bandit *self)
{
    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&self->mutex);
}

static void unlock(const served_bandit *self)
{
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&self->mutex);
}

uint32_t served_bandit_number(const served_bandit *self)
{
    return self->number;
}

const char *served_bandit_name(const served_bandit *self)
{
    return self->name;
}

bool served_bandit_is_archived(const served_bandit *self)
{
    lock(self);
    bool archived = self->archived;
    unlock(self);
    return archived;
}

bandit_settings served_bandit_settings(const served_bandit *self)
{
    lock(self);
    bandit_settings settings = self->settings;
    unlock(self);
    return settings;
}

served_standing served_bandit_standing(const served_bandit *self)
{
    lock(self);
    served_standing standing = self->standing;
    uint64_t events = atomic_load(&self->events);
    standing.awake = self->awake;
    standing.events = events;
    standing.behind = events > standing.taken ? events - standing.taken : 0;
    standing.age = self->published > 0 ? trainers_now() - self->published : 0;
    unlock(self);
    return standing;
}

/* ---- awake ---- */

/* Has the trainers call ready: always, or where it is asleep. */
static bool wait_for(served_bandit *self, bool always, void (*ready)(void *context, const ee_error *error),
                     void *context)
{
    served_waiter *waiter;
    if (memory_create(NULL, &waiter, 1, sizeof *waiter, NULL)) return false;
    *waiter = (served_waiter){ready, context, NULL};
    lock(self);
    bool waits = always || !self->awake;
    if (waits) {
        waiter->next = self->waiters;
        self->waiters = waiter;
    }
    unlock(self);
    if (waits)
        trainers_ask(self, 0);
    else
        memory_free(waiter);
    return waits;
}

bool served_bandit_is_awake(served_bandit *self, void (*ready)(void *context, const ee_error *error), void *context)
{
    lock(self);
    bool awake = self->awake;
    unlock(self);
    return awake || !wait_for(self, false, ready, context);
}

static void free_room(served_room *room)
{
    ee_round_free(room->round);
    ee_scratch_free(room->scratch);
    memory_free(room->probabilities);
    memory_free(room);
}

ee_status served_bandit_open(served_bandit *self, ee_error *error)
{
    ee_snapshot *snapshot;
    ee_bandit *bandit = follower_bandit(self->model);
    ee_status status = ee_snapshot_create(bandit, &snapshot, error);
    if (status) return status;
    status = snapshot_update(snapshot, bandit, self->version, error);
    if (status) {
        ee_snapshot_free(snapshot);
        return status;
    }
    self->shown = bandit;
    lock(self);
    self->snapshot = snapshot;
    self->awake = true;
    unlock(self);
    return EE_OK;
}

void served_bandit_close(served_bandit *self)
{
    lock(self);
    self->awake = false;
    while (self->users) pthread_cond_wait(&self->left, &self->mutex);
    served_room *rooms = self->rooms;
    ee_snapshot *snapshot = self->snapshot;
    self->rooms = NULL;
    self->snapshot = NULL;
    unlock(self);
    self->shown = NULL;
    for (served_room *next; rooms; rooms = next) {
        next = rooms->next;
        free_room(rooms);
    }
    ee_snapshot_free(snapshot);
}

/* ---- deciding ---- */

static ee_status create_room(served_bandit *self, served_room **out, ee_error *error)
{
    served_room *room;
    ee_status status = memory_create(NULL, &room, 1, sizeof *room, error);
    if (status) return status;
    status = ee_round_create(NULL, &room->round, error);
    if (!status) status = ee_scratch_create(self->snapshot, &room->scratch, error);
    if (status)
        free_room(room);
    else
        *out = room;
    return status;
}

static void give_up(served_bandit *self)
{
    lock(self);
    if (--self->users == 0) pthread_cond_broadcast(&self->left);
    unlock(self);
}

served_room *served_bandit_enter(served_bandit *self, ee_error *error)
{
    double now = trainers_now();
    if (error) error->status = EE_OK;
    lock(self);
    if (!self->awake) {
        unlock(self);
        return NULL;
    }
    self->users++;
    self->asked = now;
    served_room *room = self->rooms;
    if (room) self->rooms = room->next;
    learning_mode mode = self->settings.mode;
    unlock(self);
    if (!room && create_room(self, &room, error)) {
        give_up(self);
        return NULL;
    }
    room->mode = mode;
    room->dim = self->settings.dim;
    room->seed = self->settings.seed;
    return room;
}

void served_bandit_leave(served_bandit *self, served_room *room)
{
    ee_round_clear(room->round);
    lock(self);
    room->next = self->rooms;
    self->rooms = room;
    if (--self->users == 0) pthread_cond_broadcast(&self->left);
    unlock(self);
}

ee_status served_bandit_decide(served_bandit *self, served_room *room, const ee_arms *arms, uint64_t seed,
                               ee_error *error)
{
    ee_decision decision;
    size_t count = arms ? arms->count : ee_round_count(room->round);
    ee_status status =
        memory_grow(NULL, &room->probabilities, &room->capacity, count, sizeof *room->probabilities, error);
    if (status) return status;
    if (arms)
        status =
            ee_snapshot_decide(self->snapshot, room->scratch, arms, seed, &decision, NULL, room->probabilities, error);
    else
        status = ee_snapshot_decide_round(self->snapshot, room->scratch, room->round, seed, &decision, NULL,
                                          room->probabilities, error);
    if (!status) status = ee_scratch_record(room->scratch, &room->record, &room->record_size, error);
    if (status) return status;
    room->own = decision.arm;
    room->version = scratch_version(room->scratch);
    return EE_OK;
}

/* ---- saving ---- */

typedef struct saving {
    served_bandit *bandit;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool done;
    void *bytes;
    size_t size;
    uint64_t version;
    ee_status status;
    ee_error error;
} saving;

/* In a trainer, whose turn the bandit's is. */
static void save_now(void *context, const ee_error *error)
{
    saving *self = context;
    served_bandit *bandit = self->bandit;
    if (error) {
        self->error = *error;
        self->status = error->status;
    } else if (bandit->unwritten.upto) {
        self->status = status_fail(&self->error, EE_FILE_ERROR, "save: the model's last step cannot be written: %s",
                                   bandit->standing.trouble);
    } else {
        self->status = ee_bandit_save_bytes(follower_bandit(bandit->model), &self->bytes, &self->size, &self->error);
    }
    self->version = bandit->version;
    pthread_mutex_lock(&self->mutex);
    self->done = true;
    pthread_cond_signal(&self->ended);
    pthread_mutex_unlock(&self->mutex);
}

ee_status served_bandit_save(served_bandit *self, void **bytes, size_t *size, uint64_t *version, ee_error *error)
{
    saving s = {.bandit = self};
    pthread_mutex_init(&s.mutex, NULL);
    pthread_cond_init(&s.ended, NULL);
    if (wait_for(self, true, save_now, &s)) {
        pthread_mutex_lock(&s.mutex);
        while (!s.done) pthread_cond_wait(&s.ended, &s.mutex);
        pthread_mutex_unlock(&s.mutex);
    } else {
        s.status = status_no_memory(&s.error, sizeof(served_waiter));
    }
    pthread_cond_destroy(&s.ended);
    pthread_mutex_destroy(&s.mutex);
    if (s.status && error) *error = s.error;
    *bytes = s.bytes;
    *size = s.size;
    *version = s.version;
    return s.status;
}
