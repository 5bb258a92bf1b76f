#define _GNU_SOURCE
#include "trainers.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/archive.h"
#include "engine/snapshot.h"
#include "restoring.h"

enum { MOST_STRIDE = 64 };
static const double RETRY = 1; /* seconds until what failed is tried again */

double trainers_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the queue ---- */

/* With the queue's mutex. */
static void enqueue(served_bandits *all, served_bandit *bandit, double due)
{
    bandit->turn = TURN_QUEUED;
    bandit->due = due;
    bandit->next = due > 0 ? NULL : all->first;
    if (due <= 0)
        all->first = bandit;
    else if (all->last)
        all->last->next = bandit;
    else
        all->first = bandit;
    if (!bandit->next) all->last = bandit;
    pthread_cond_signal(&all->queued);
}

void trainers_ask(served_bandit *bandit, double due)
{
    served_bandits *all = bandit->all;
    pthread_mutex_lock(&all->queue);
    if (due > 0 && due < bandit->step_due) due = bandit->step_due;
    if (bandit->turn == TURN_RUNNING) {
        bandit->again = true;
        bandit->due = fmin(bandit->due, due);
    } else if (bandit->turn == TURN_NONE) {
        enqueue(all, bandit, due);
    } else if (due < bandit->due) {
        bandit->due = due;
        pthread_cond_signal(&all->queued);
    }
    pthread_mutex_unlock(&all->queue);
}

/* With the mutex: takes the first that is due out of the queue. *soonest becomes when the next of the others is. */
static served_bandit *take_due(served_bandits *all, double now, double *soonest)
{
    served_bandit *before = NULL;
    *soonest = INFINITY;
    for (served_bandit *bandit = all->first; bandit; before = bandit, bandit = bandit->next) {
        *soonest = fmin(*soonest, bandit->due);
        if (bandit->due > now) continue;
        if (before)
            before->next = bandit->next;
        else
            all->first = bandit->next;
        if (all->last == bandit) all->last = before;
        bandit->turn = TURN_RUNNING;
        bandit->again = false;
        bandit->due = INFINITY;
        return bandit;
    }
    return NULL;
}

static void wait_until(served_bandits *all, double when)
{
    struct timespec until = {.tv_sec = (time_t)when};
    until.tv_nsec = (long)((when - (double)until.tv_sec) * 1e9);
    pthread_cond_timedwait(&all->queued, &all->queue, &until);
}

/* The turn is over; the bandit asks for another at due, if it is finite, besides what others have asked for. */
static void end_turn(served_bandit *bandit, double due, double step_due)
{
    served_bandits *all = bandit->all;
    pthread_mutex_lock(&all->queue);
    bandit->turn = TURN_NONE;
    bandit->step_due = step_due;
    if (bandit->again) due = fmin(due, bandit->due);
    if (isfinite(due)) enqueue(all, bandit, due);
    pthread_mutex_unlock(&all->queue);
}

/* ---- what happens in a turn ---- */

typedef struct turn {
    served_bandits *all;
    served_bandit *bandit;
    store_reader *log;
    double step_due;
} turn;

static bool must_stop(void *context)
{
    return atomic_load(&((served_bandits *)context)->hurry);
}

static void set_trouble(served_bandit *bandit, const ee_error *error)
{
    pthread_mutex_lock(&bandit->mutex);
    snprintf(bandit->standing.trouble, sizeof bandit->standing.trouble, "%s", error ? error->message : "");
    pthread_mutex_unlock(&bandit->mutex);
}

/* Shows how the model stands after something happened to it. */
static void show(served_bandit *bandit)
{
    follower_counts counts = follower_read_counts(bandit->model);
    size_t bytes = ee_bandit_memory(follower_bandit(bandit->model));
    pthread_mutex_lock(&bandit->mutex);
    served_standing *standing = &bandit->standing;
    standing->counts = counts;
    standing->version = bandit->version;
    standing->taken = bandit->taken;
    standing->stride = bandit->stride;
    standing->memory = bytes + (bandit->snapshot ? memory_bytes(&bandit->snapshot->memory) : 0);
    standing->trouble[0] = 0;
    bandit->published = trainers_now();
    pthread_mutex_unlock(&bandit->mutex);
}

static void call_waiters(served_bandit *bandit, const ee_error *error)
{
    pthread_mutex_lock(&bandit->mutex);
    served_waiter *waiter = bandit->waiters;
    bandit->waiters = NULL;
    pthread_mutex_unlock(&bandit->mutex);
    for (served_waiter *next; waiter; waiter = next) {
        next = waiter->next;
        waiter->ready(waiter->context, error);
        memory_free(waiter);
    }
}

/* Frees the model. What of it is not in a checkpoint is in the log. */
static void put_to_sleep(served_bandit *bandit)
{
    if (!bandit->model) return;
    served_bandit_close(bandit);
    follower_free(bandit->model);
    bandit->model = NULL;
    bandit->unwritten = (step_body){0};
    atomic_fetch_sub(&bandit->all->awake, 1);
    pthread_mutex_lock(&bandit->mutex);
    bandit->tired = false;
    bandit->standing.sleeps++;
    bandit->standing.memory = 0;
    pthread_mutex_unlock(&bandit->mutex);
}

/* ---- waking ---- */

/* The one that was asked longest ago makes room. */
static void tire_another(served_bandits *all, const served_bandit *awoken)
{
    served_bandit *oldest = NULL, *bandit;
    double asked = INFINITY;
    if (!all->options.most_awake || atomic_load(&all->awake) <= all->options.most_awake) return;
    for (size_t i = 0; (bandit = served_bandits_at(all, i)); i++) {
        pthread_mutex_lock(&bandit->mutex);
        if (bandit != awoken && bandit->awake && !bandit->tired && bandit->asked < asked) {
            oldest = bandit;
            asked = bandit->asked;
        }
        pthread_mutex_unlock(&bandit->mutex);
    }
    if (!oldest) return;
    pthread_mutex_lock(&oldest->mutex);
    oldest->tired = true;
    pthread_mutex_unlock(&oldest->mutex);
    trainers_ask(oldest, trainers_now());
}

static ee_status wake(turn *t, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    uint32_t number = bandit->number;
    ee_status status = restore_at(t->log, number, UINT64_MAX, &bandit->model, &bandit->version, error);
    if (status) return status;
    bandit->saved_version = bandit->version;
    bandit->saved_upto = follower_upto(bandit->model);
    bandit->saved = trainers_now();
    status = restore_steps(bandit->model, t->log, number, must_stop, t->all, &bandit->version, error);
    bandit->taken = follower_upto(bandit->model);
    if (!status) status = served_bandit_open(bandit, error);
    if (status) {
        follower_free(bandit->model);
        bandit->model = NULL;
        return status;
    }
    atomic_fetch_add(&t->all->awake, 1);
    pthread_mutex_lock(&bandit->mutex);
    bandit->asked = trainers_now();
    bandit->standing.wakes++;
    pthread_mutex_unlock(&bandit->mutex);
    show(bandit);
    tire_another(t->all, bandit);
    return EE_OK;
}

/* ---- steps ---- */

static ee_status publish(served_bandit *bandit, ee_error *error)
{
    ee_bandit *model = follower_bandit(bandit->model);
    ee_status status;
    if (model == bandit->shown) {
        status = snapshot_update(bandit->snapshot, model, bandit->version, error);
    } else { /* it was replaced */
        served_bandit_close(bandit);
        status = served_bandit_open(bandit, error);
    }
    if (status)
        put_to_sleep(bandit); /* it wakes with what the log has */
    else
        show(bandit);
    return status;
}

static ee_status write_event(turn *t, event_kind kind, const void *body, size_t size, uint64_t *number, ee_error *error)
{
    journal_entry entry = {.bandit = t->bandit->number, .event = {.kind = kind, .body = body, .size = size}};
    ee_status status = journal_write(t->all->written, &entry, error);
    *number = entry.event.number;
    return status;
}

/* Writes that the step was taken, and then publishes what it made. */
static ee_status write_step(turn *t, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    uint8_t body[STEP_BODY_SIZE];
    uint64_t number;
    step_body_write(&bandit->unwritten, body);
    ee_status status = write_event(t, EVENT_STEP, body, sizeof body, &number, error);
    if (status) return status;
    bandit->version = number;
    bandit->taken = bandit->unwritten.upto;
    bandit->unwritten = (step_body){0};
    return publish(bandit, error);
}

static uint64_t next_stride(const served_bandits *all, uint64_t stride, uint64_t behind)
{
    if (behind > all->options.most_behind) return stride < MOST_STRIDE ? 2 * stride : stride;
    return behind < all->options.most_behind / 4 && stride > 1 ? stride / 2 : stride;
}

static ee_status take_step(turn *t, uint64_t behind, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    const served_options *options = &t->all->options;
    double begin = trainers_now();
    bandit->stride = next_stride(t->all, bandit->stride, behind);
    bool full = behind > options->step_events;
    step_body step = {bandit->taken + (full ? options->step_events : behind), bandit->stride};
    t->step_due = full ? begin : begin + options->publish_interval;
    ee_status status = follower_step(bandit->model, t->log, bandit->number, &step, must_stop, t->all, error);
    pthread_mutex_lock(&bandit->mutex);
    bandit->standing.train_seconds += trainers_now() - begin;
    pthread_mutex_unlock(&bandit->mutex);
    if (status) {
        put_to_sleep(bandit);
        return status;
    }
    bandit->unwritten = step;
    return write_step(t, error);
}

/* ---- checkpoints ---- */

static ee_status read_version(void *context, const event *from, ee_error *error)
{
    checkpoint_body body;
    ee_status status = checkpoint_body_read(from->body, from->size, &body, error);
    if (!status) *(uint64_t *)context = body.version;
    return status;
}

/* Removes the models of the checkpoints that are one too many, and of the one before, should that have failed. */
static ee_status remove_older(turn *t, uint64_t checkpoint, ee_error *error)
{
    uint32_t number = t->bandit->number;
    size_t kept = t->all->options.checkpoints;
    ee_status status = EE_OK;
    for (size_t i = 1; i < kept + 2 && checkpoint && !status; i++) {
        uint64_t version;
        status = store_last(t->log, number, EVENT_CHECKPOINT, checkpoint - 1, &checkpoint, error);
        if (status || !checkpoint || i < kept) continue;
        status = store_read_one(t->log, number, checkpoint, read_version, &version, error);
        if (!status) status = store_remove_model(t->all->kept, number, version, error);
    }
    return status;
}

static ee_status write_checkpoint(turn *t, const void *model, size_t size, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    checkpoint_body body = {
        .version = bandit->version,
        .upto = bandit->taken,
        .checksum = archive_checksum(model, size),
        .size = size,
    };
    uint8_t *bytes = NULL;
    size_t body_size;
    uint64_t number = 0;
    ee_status status = follower_state(bandit->model, &body.state, &body.state_size, error);
    if (!status) status = store_save_model(t->all->kept, bandit->number, bandit->version, model, size, error);
    if (!status) status = checkpoint_body_write(&body, NULL, &bytes, &body_size, error);
    if (!status) status = write_event(t, EVENT_CHECKPOINT, bytes, body_size, &number, error);
    memory_free(bytes);
    return status ? status : remove_older(t, number, error);
}

static ee_status save_checkpoint(turn *t, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    void *bytes;
    size_t size;
    bandit->saved = trainers_now(); /* also where it fails: it is tried again after a while */
    ee_status status = ee_bandit_save_bytes(follower_bandit(bandit->model), &bytes, &size, error);
    if (status) return status;
    status = write_checkpoint(t, bytes, size, error);
    ee_bytes_free(bytes);
    if (status) return status;
    bandit->saved_version = bandit->version;
    bandit->saved_upto = bandit->taken;
    pthread_mutex_lock(&bandit->mutex);
    bandit->standing.checkpoints++;
    pthread_mutex_unlock(&bandit->mutex);
    return EE_OK;
}

static bool has_unsaved(const served_bandit *bandit)
{
    return bandit->version != bandit->saved_version && !bandit->unwritten.upto;
}

static bool checkpoint_is_due(const served_bandit *bandit, double now)
{
    const served_options *options = &bandit->all->options;
    if (!has_unsaved(bandit)) return false;
    return bandit->taken - bandit->saved_upto >= options->checkpoint_events ||
           now - bandit->saved >= options->checkpoint_seconds;
}

/* ---- turns ---- */

static bool is_idle(served_bandit *bandit, double now)
{
    double after = bandit->all->options.sleep_seconds;
    pthread_mutex_lock(&bandit->mutex);
    bool idle = bandit->tired || (after > 0 && now - bandit->asked >= after);
    pthread_mutex_unlock(&bandit->mutex);
    return idle;
}

/* Where its model is: wakes it, or takes a step. Returns whether there is more to take. */
static ee_status go_on(turn *t, bool waited, bool *more, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    uint64_t events = atomic_load(&bandit->events);
    *more = events > bandit->taken;
    ee_status status = EE_OK;
    if (!bandit->model && (waited || *more))
        status = wake(t, error);
    else if (bandit->unwritten.upto)
        status = write_step(t, error);
    else if (bandit->model && *more && trainers_now() >= bandit->step_due)
        status = take_step(t, events - bandit->taken, error);
    *more = atomic_load(&bandit->events) > bandit->taken;
    return status;
}

static void rest(turn *t, bool more, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    double now = trainers_now();
    if (!bandit->model) return;
    bool sleeps = !more && is_idle(bandit, now);
    if ((checkpoint_is_due(bandit, now) || (sleeps && has_unsaved(bandit))) && save_checkpoint(t, error))
        set_trouble(bandit, error);
    if (sleeps) put_to_sleep(bandit);
}

static void give_turn(turn *t)
{
    served_bandit *bandit = t->bandit;
    ee_error error = {0};
    bool more = false;
    double due = INFINITY;
    t->step_due = bandit->step_due;
    pthread_mutex_lock(&bandit->mutex);
    bool archived = bandit->archived, waited = bandit->waiters;
    pthread_mutex_unlock(&bandit->mutex);
    if (archived) {
        if (bandit->model && has_unsaved(bandit) && save_checkpoint(t, &error)) set_trouble(bandit, &error);
        put_to_sleep(bandit);
        status_fail(&error, EE_BAD_INPUT, "bandit: %s is archived", bandit->name);
        call_waiters(bandit, &error);
    } else if (go_on(t, waited, &more, &error)) {
        set_trouble(bandit, &error);
        call_waiters(bandit, bandit->model ? NULL : &error);
        due = trainers_now() + RETRY;
    } else {
        if (bandit->model) call_waiters(bandit, NULL);
        rest(t, more, &error);
        if (more) due = fmax(t->step_due, 1e-9);
    }
    end_turn(bandit, due, t->step_due);
}

/* Seconds from one look at idle bandits to the next. */
static double look_interval(const served_options *options)
{
    const double most = 1;
    double shortest = options->checkpoint_seconds;
    if (options->sleep_seconds > 0) shortest = fmin(shortest, options->sleep_seconds);
    return fmin(most, shortest / 4);
}

/* Gives a turn to bandits that have nothing to learn but a checkpoint or their sleep before them. */
static void look_around(served_bandits *all, double now)
{
    served_bandit *bandit;
    for (size_t i = 0; (bandit = served_bandits_at(all, i)); i++) {
        pthread_mutex_lock(&bandit->mutex);
        bool awake = bandit->awake;
        pthread_mutex_unlock(&bandit->mutex);
        if (awake) trainers_ask(bandit, now);
    }
}

static void *train(void *context)
{
    served_bandits *all = context;
    turn t = {.all = all};
    ee_error error;
    setpriority(PRIO_PROCESS, 0, 10); /* of this thread alone: answers go first */
    while (store_reader_create(all->kept, &t.log, &error) && !atomic_load(&all->stopping)) usleep(100000);
    pthread_mutex_lock(&all->queue);
    while (!atomic_load(&all->stopping)) {
        double now = trainers_now(), soonest;
        bool looks = now >= all->next_look;
        if (looks) all->next_look = now + look_interval(&all->options);
        t.bandit = looks ? NULL : take_due(all, now, &soonest);
        if (!looks && !t.bandit) {
            wait_until(all, fmin(soonest, all->next_look));
            continue;
        }
        pthread_mutex_unlock(&all->queue);
        if (looks)
            look_around(all, now);
        else
            give_turn(&t);
        pthread_mutex_lock(&all->queue);
    }
    pthread_mutex_unlock(&all->queue);
    store_reader_free(t.log);
    return NULL;
}

/* ---- starting and stopping ---- */

ee_status trainers_start(served_bandits *self, ee_error *error)
{
    size_t wanted = self->options.trainers;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!wanted) wanted = cores > 3 ? (size_t)cores / 2 : 1;
    ee_status status = memory_create(&self->memory, &self->threads, wanted, sizeof *self->threads, error);
    while (!status && self->thread_count < wanted) {
        if (pthread_create(&self->threads[self->thread_count], NULL, train, self))
            status = status_fail(error, EE_NO_MEMORY, "serve: could not start a thread to train in");
        else
            self->thread_count++;
    }
    return status;
}

void trainers_stop(served_bandits *self)
{
    ee_error error = {0};
    turn t = {.all = self};
    pthread_mutex_lock(&self->queue);
    atomic_store(&self->stopping, true);
    pthread_cond_broadcast(&self->queued);
    pthread_mutex_unlock(&self->queue);
    for (size_t i = 0; i < self->thread_count; i++) pthread_join(self->threads[i], NULL);
    bool saves = !atomic_load(&self->hurry) && !store_reader_create(self->kept, &t.log, NULL);
    for (size_t i = 0; i < self->count; i++) {
        t.bandit = self->bandits[i];
        if (saves && t.bandit->model && has_unsaved(t.bandit) && save_checkpoint(&t, &error))
            set_trouble(t.bandit, &error);
        put_to_sleep(t.bandit);
        status_fail(&error, EE_BAD_INPUT, "bandit: the server is stopping");
        call_waiters(t.bandit, &error);
    }
    store_reader_free(t.log);
}
