#define _POSIX_C_SOURCE 200809L
#include "served_bandit.h"

#include <time.h>

#include "engine/snapshot.h"
#include "serve/system/latch.h"
#include "serve/system/server_clock.h"
#include "served_inside.h"

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

bool served_bandit_is_removed(const served_bandit *self)
{
    lock(self);
    bool removed = self->removed;
    unlock(self);
    return removed;
}

bandit_settings served_bandit_settings(const served_bandit *self)
{
    lock(self);
    bandit_settings settings = self->settings;
    unlock(self);
    return settings;
}

outside_rule served_bandit_rewards(const served_bandit *self, double *low, double *high)
{
    lock(self);
    outside_rule rule = self->settings.outside;
    *low = self->settings.reward_low;
    *high = self->settings.reward_high;
    unlock(self);
    return rule;
}

joining_rules served_bandit_joining(const served_bandit *self)
{
    lock(self);
    joining_rules rules = self->settings.joining;
    unlock(self);
    return rules;
}

bool served_bandit_is_evaluated(const served_bandit *self)
{
    lock(self);
    bool any = self->settings.challenger_count > 0 || self->settings.guardrails[0];
    unlock(self);
    return any;
}

served_standing served_bandit_standing(const served_bandit *self)
{
    lock(self);
    served_standing standing = self->standing;
    double now = turn_queue_now();
    bool is_behind = self->events > standing.taken;
    standing.awake = self->awake;
    standing.events = self->events;
    standing.behind = is_behind ? self->events - standing.taken : 0;
    standing.lag_seconds = is_behind && !self->archived && now > self->oldest ? now - self->oldest : 0;
    standing.age = self->published > 0 ? now - self->published : 0;
    unlock(self);
    return standing;
}

/* ---- awake ---- */

/* With the mutex. */
static void enqueue(served_bandit *self, served_waiter *waiter)
{
    waiter->next = NULL;
    *(self->waiters ? self->last_waiter : &self->waiters) = waiter;
    self->last_waiter = &waiter->next;
}

static bool is_any(const served_bandit *self)
{
    (void)self;
    return true;
}

static bool is_asleep(const served_bandit *self)
{
    return !self->awake;
}

static bool is_guarded_otherwise(const served_bandit *self)
{
    return self->guard_age == GUARD_OLD || self->guard_age == GUARD_MAKING;
}

/* Has a training thread call ready after a turn, if the bandit is such a one. */
static bool wait_if(served_bandit *self, bool (*is_such)(const served_bandit *self),
                    void (*ready)(void *context, const ee_error *error), void *context)
{
    served_waiter *waiter;
    if (memory_create(NULL, &waiter, 1, sizeof *waiter, NULL)) return false;
    *waiter = (served_waiter){.ready = ready, .context = context};
    lock(self);
    bool waits = is_such(self);
    if (waits) enqueue(self, waiter);
    unlock(self);
    if (waits)
        turn_queue_ask(&self->all->queue, &self->turn, true);
    else
        memory_free(waiter);
    return waits;
}

bool served_bandit_is_awake(served_bandit *self, void (*ready)(void *context, const ee_error *error), void *context)
{
    lock(self);
    bool awake = self->awake;
    unlock(self);
    return awake || !wait_if(self, is_asleep, ready, context);
}

bool served_bandit_is_guarded(served_bandit *self, void (*ready)(void *context, const ee_error *error), void *context)
{
    return !wait_if(self, is_guarded_otherwise, ready, context);
}

static void free_room(served_room *room)
{
    ee_round_free(room->round);
    ee_scratch_free(room->scratch);
    memory_free(room->probabilities);
    memory_free(room);
}

static int64_t wall_time(const served_bandit *self)
{
    return self->all->written ? journal_wall_time(self->all->written) : server_clock_wall();
}

/* The guardrails of the settings. */
static ee_status make_guard(served_bandit *self, store_reader *log, guardrails **out, ee_error *error)
{
    lock(self);
    bandit_settings settings = self->settings;
    self->guard_age = GUARD_MAKING;
    unlock(self);
    return guardrails_create(&settings, self->guard, log, self->number, wall_time(self), out, error);
}

/* With the mutex, while no decision is being made. */
static void set_guard(served_bandit *self, guardrails *made)
{
    guardrails_hold(made, self->settings.held == HELD_FALLBACK); /* it may have changed meanwhile */
    self->guard = made;
    if (self->guard_age == GUARD_MAKING) self->guard_age = GUARD_CURRENT; /* else another turn follows */
}

/* Of the model's version. */
static ee_status make_snapshot(served_bandit *self, ee_snapshot **out, ee_error *error)
{
    ee_bandit *bandit = follower_bandit(self->model);
    ee_status status = ee_snapshot_create(bandit, out, error);
    if (status) return status;
    status = snapshot_update(*out, bandit, self->version, error);
    if (status) ee_snapshot_free(*out);
    return status;
}

/* With the mutex: threads may decide from now on. */
static void set_snapshot(served_bandit *self, ee_snapshot *made)
{
    self->shown = follower_bandit(self->model);
    self->snapshot = made;
    self->awake = true;
}

ee_status served_bandit_open(served_bandit *self, store_reader *log, ee_error *error)
{
    ee_snapshot *snapshot;
    guardrails *made = NULL;
    ee_status status = make_snapshot(self, &snapshot, error);
    if (status) return status;
    status = make_guard(self, log, &made, error);
    lock(self);
    if (status) {
        self->guard_age = GUARD_NONE;
        ee_snapshot_free(snapshot);
    } else {
        set_guard(self, made);
        set_snapshot(self, snapshot);
    }
    unlock(self);
    return status;
}

/* Waits until all rooms are left, and all decisions that are counted are written. */
static void end_deciding(served_bandit *self)
{
    lock(self);
    self->awake = false;
    while (self->users) pthread_cond_wait(&self->left, &self->mutex);
    unlock(self);
}

ee_status served_bandit_renew_guard(served_bandit *self, store_reader *log, ee_error *error)
{
    guardrails *made, *before = self->guard;
    ee_status status = make_guard(self, log, &made, error);
    if (status) return status;
    end_deciding(self);
    status = guardrails_take_over(made, before, log, self->number, error);
    if (status) {
        guardrails_free(made);
        return status;
    }
    lock(self);
    set_guard(self, made);
    self->awake = true;
    unlock(self);
    guardrails_free(before);
    return EE_OK;
}

/* While no decision is being made: decisions use it. */
static void free_snapshot(served_bandit *self)
{
    lock(self);
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

ee_status served_bandit_reopen(served_bandit *self, ee_error *error)
{
    ee_snapshot *snapshot;
    end_deciding(self);
    free_snapshot(self);
    ee_status status = make_snapshot(self, &snapshot, error);
    if (status) return status;
    lock(self);
    set_snapshot(self, snapshot);
    unlock(self);
    return EE_OK;
}

void served_bandit_close(served_bandit *self)
{
    end_deciding(self);
    free_snapshot(self);
    lock(self);
    guardrails *limits = self->guard;
    self->guard = NULL;
    self->guard_age = GUARD_NONE;
    unlock(self);
    guardrails_free(limits);
}

/* ---- deciding ---- */

static ee_status create_room(served_bandit *self, served_room **out, ee_error *error)
{
    served_room *room;
    ee_status status = memory_create(NULL, &room, 1, sizeof *room, error);
    if (status) return status;
    status = ee_round_create(NULL, &room->round, error);
    if (!status) status = ee_scratch_create(self->snapshot, 0, &room->scratch, error);
    if (status)
        free_room(room);
    else
        *out = room;
    return status;
}

served_room *served_bandit_enter(served_bandit *self, ee_error *error)
{
    double now = turn_queue_now();
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
    uint64_t dim = self->settings.dim, seed = self->settings.seed;
    unlock(self);
    if (!room && create_room(self, &room, error)) {
        served_bandit_let_go(self, 1);
        return NULL;
    }
    room->mode = mode;
    room->dim = dim;
    room->seed = seed;
    room->guard = self->guard; /* it stays until all rooms are left */
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

void served_bandit_hold(served_bandit *self, size_t count)
{
    lock(self);
    self->users += count;
    unlock(self);
}

void served_bandit_let_go(served_bandit *self, size_t count)
{
    lock(self);
    self->users -= count;
    if (self->users == 0) pthread_cond_broadcast(&self->left);
    unlock(self);
}

/* The guardrails, which stay until served_bandit_let_go; NULL: it has none now. A decision may hold their lock and want
 * the bandit's: so never hold both. */
static guardrails *hold_guard(served_bandit *self)
{
    lock(self);
    guardrails *guard = self->awake ? self->guard : NULL;
    if (guard) self->users++;
    unlock(self);
    return guard;
}

void served_bandit_write_limits(served_bandit *self, text *into)
{
    guardrails *guard = hold_guard(self);
    if (!guard) return;
    guardrails_write(guard, wall_time(self), into);
    served_bandit_let_go(self, 1);
}

void served_bandit_forget(served_bandit *self, const guardrails_draw *draws, size_t count)
{
    guardrails *guard = count ? hold_guard(self) : NULL;
    if (!guard) return;
    guardrails_forget(guard, draws, count);
    served_bandit_let_go(self, 1);
}

ee_status served_bandit_decide(served_bandit *self, served_room *room, const ee_arms *arms, uint64_t seed,
                               ee_error *error)
{
    ee_decision decision;
    size_t count = arms ? arms->count : ee_round_count(room->round);
    ee_status status =
        memory_grow(NULL, &room->probabilities, &room->capacity, count, sizeof *room->probabilities, error);
    if (status) return status;
    ee_scratch_seed(room->scratch, seed);
    if (arms)
        status = ee_snapshot_decide(self->snapshot, room->scratch, arms, &decision, NULL, room->probabilities, error);
    else
        status = ee_snapshot_decide_round(self->snapshot, room->scratch, room->round, &decision, NULL,
                                          room->probabilities, error);
    if (!status) status = ee_scratch_record(room->scratch, 0, &room->record, &room->record_size, error);
    if (status) return status;
    room->choice = decision.arm;
    room->version = scratch_version(room->scratch);
    return EE_OK;
}

/* ---- explaining ---- */

ee_status served_bandit_explain(served_bandit *self, served_room *room, const ee_arms *arms, uint64_t seed,
                                int64_t only, struct explanation **out, ee_error *error)
{
    return snapshot_explain(self->snapshot, room->scratch, arms, arms ? NULL : room->round, seed, only, out, error);
}

/* ---- waiting ---- */

typedef struct waking {
    latch ended;
    ee_error error;
} waking;

static void woken(void *context, const ee_error *error)
{
    waking *self = context;
    if (error) self->error = *error;
    latch_count_down(&self->ended);
}

/* Waits until woken is called: after a turn, or not at all if the bandit is not such a one. */
static ee_status await(served_bandit *self, bool (*is_such)(const served_bandit *self), ee_error *error)
{
    waking w = {.error = {EE_OK, ""}};
    latch_start(&w.ended, 1);
    if (!wait_if(self, is_such, woken, &w)) w.ended.left = 0;
    latch_wait(&w.ended);
    if (w.error.status && error) *error = w.error;
    return w.error.status;
}

void served_bandit_await_turn(served_bandit *self)
{
    await(self, is_any, NULL);
}

served_room *served_bandit_enter_awake(served_bandit *self, ee_error *error)
{
    for (;;) {
        ee_error reason = {EE_OK, ""};
        if (!await(self, is_asleep, &reason)) {
            served_room *room = served_bandit_enter(self, &reason);
            if (room) return room;
        }
        if (!reason.status) continue; /* it fell asleep meanwhile */
        if (error) *error = reason;
        return NULL;
    }
}

/* ---- checkpoints ---- */

ee_status served_bandit_checkpoint(served_bandit *self, uint64_t upto, bool (*cancel)(void *context), void *context,
                                   ee_error *error)
{
    for (;;) {
        if (cancel(context)) return status_fail(error, EE_FILE_ERROR, "the server is stopping");
        ee_status status = await(self, is_any, error);
        if (status) return status;
        lock(self);
        bool done = self->standing.saved >= upto, taken = self->standing.taken >= upto;
        bool failed = self->standing.trouble[0];
        self->save_wanted = taken && !done;
        if (failed) status_fail(error, EE_FILE_ERROR, "the model cannot be saved: %s", self->standing.trouble);
        unlock(self);
        if (done) return EE_OK;
        if (failed) return EE_FILE_ERROR;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* steps have a pause between them, too */
    }
}

/* ---- saving ---- */

typedef struct saving {
    served_bandit *bandit;
    latch ended;
    void *bytes;
    size_t size;
    uint64_t version;
    ee_error error;
} saving;

/* In a trainer, whose turn the bandit's is. */
static void save_now(void *context, const ee_error *error)
{
    saving *self = context;
    served_bandit *bandit = self->bandit;
    if (error)
        self->error = *error;
    else if (bandit->unwritten.upto)
        status_fail(&self->error, EE_FILE_ERROR, "save: the model's last step cannot be written: %s",
                    bandit->standing.trouble);
    else
        self->error.status =
            ee_bandit_save_bytes(follower_bandit(bandit->model), &self->bytes, &self->size, &self->error);
    self->version = bandit->version;
    latch_count_down(&self->ended);
}

ee_status served_bandit_save(served_bandit *self, void **bytes, size_t *size, uint64_t *version, ee_error *error)
{
    saving s = {.bandit = self};
    latch_start(&s.ended, 1);
    if (!wait_if(self, is_any, save_now, &s)) {
        status_no_memory(&s.error, sizeof(served_waiter));
        s.ended.left = 0;
    }
    latch_wait(&s.ended);
    if (s.error.status && error) *error = s.error;
    *bytes = s.bytes;
    *size = s.size;
    *version = s.version;
    return s.error.status;
}
