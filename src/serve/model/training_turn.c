/* One turn of a bandit. Steps are bounded by time; publishing and saving a huge model are not, so they happen less
 * often the longer they take. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>

#include "engine/snapshot.h"
#include "restoring.h"
#include "serve/system/server_clock.h"
#include "served_inside.h"
#include "stored_models.h"

enum { MOST_STRIDE = 64, MOST_WAITING = 5 /* times its processor time, a step may take */ };
static const double RETRY = 1; /* seconds until what failed is tried again */

static bool is_interrupted(void *context)
{
    return atomic_load(&((served_bandits *)context)->interrupted);
}

static void set_trouble(served_bandit *bandit, const ee_error *error)
{
    pthread_mutex_lock(&bandit->mutex);
    snprintf(bandit->standing.trouble, sizeof bandit->standing.trouble, "%s", error ? error->message : "");
    pthread_mutex_unlock(&bandit->mutex);
}

ee_status trainer_find_oldest(trainer_turn *t, uint64_t taken, double *oldest, ee_error *error)
{
    const follower *model = t->bandit->model;
    const event *first;
    int64_t time, now = t->all->written ? journal_wall_time(t->all->written) : server_clock_wall();
    if (!model || follower_upto(model) != taken || !follower_next_time(model, &time)) {
        ee_status status = store_read_one(t->log, t->bandit->number, taken + 1, &first, error);
        if (status && status != EE_BAD_INPUT) return status;
        time = status ? now : first->time; /* retention has removed it */
    }
    *oldest = turn_queue_now() - fmax(0, 1e-6 * (double)(now - time));
    return EE_OK;
}

/* The published model follows the log up to here. */
static ee_status note_taken(trainer_turn *t, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    double oldest = 0;
    pthread_mutex_lock(&bandit->mutex);
    bool behind = bandit->events > bandit->taken;
    bandit->standing.taken = bandit->taken;
    pthread_mutex_unlock(&bandit->mutex);
    if (!behind) return EE_OK;
    ee_status status = trainer_find_oldest(t, bandit->taken, &oldest, error);
    if (status) return status;
    pthread_mutex_lock(&bandit->mutex);
    bandit->oldest = oldest;
    pthread_mutex_unlock(&bandit->mutex);
    return EE_OK;
}

/* With the bandit's mutex. */
static void set_memory(served_bandit *bandit, uint64_t bytes)
{
    atomic_fetch_add(&bandit->all->used, bytes - bandit->standing.memory);
    bandit->standing.memory = bytes;
}

/* Shows the state of the model after it was published. */
static ee_status show(trainer_turn *t, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    follower_counts counts = follower_read_counts(bandit->model);
    size_t bytes = follower_memory(bandit->model);
    uint64_t limited = ee_bandit_info(follower_bandit(bandit->model)).limited;
    pthread_mutex_lock(&bandit->mutex);
    served_standing *standing = &bandit->standing;
    standing->counts = counts;
    standing->limited = limited;
    standing->version = bandit->version;
    standing->stride = bandit->stride;
    set_memory(bandit, bytes + (bandit->snapshot ? memory_bytes(&bandit->snapshot->memory) : 0));
    standing->trouble[0] = 0;
    bandit->published = turn_queue_now();
    pthread_mutex_unlock(&bandit->mutex);
    return note_taken(t, error);
}

static void call(served_waiter *waiters, const ee_error *error)
{
    for (served_waiter *next; waiters; waiters = next) {
        next = waiters->next;
        waiters->ready(waiters->context, error);
        memory_free(waiters);
    }
}

static served_waiter *take_waiters(served_bandit *bandit)
{
    pthread_mutex_lock(&bandit->mutex);
    served_waiter *waiters = bandit->waiters;
    bandit->waiters = NULL;
    pthread_mutex_unlock(&bandit->mutex);
    return waiters;
}

/* Frees the model. What of it is not in a checkpoint is in the log. */
static void put_to_sleep(served_bandit *bandit)
{
    if (!bandit->model) return;
    served_bandit_close(bandit);
    follower_free(bandit->model);
    bandit->model = NULL;
    bandit->unwritten = (step_body){0};
    bandit->unpublished = false;
    pthread_mutex_lock(&bandit->mutex);
    bandit->tired = false;
    bandit->standing.sleeps++;
    set_memory(bandit, 0);
    pthread_mutex_unlock(&bandit->mutex);
}

/* ---- loading ---- */

static ee_status wake(trainer_turn *t, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    uint32_t number = bandit->number;
    bandit_settings settings = served_bandit_settings(bandit);
    ee_status status = restore_at(t->log, number, &settings, UINT64_MAX, &bandit->model, &bandit->version, error);
    if (status) return status;
    bandit->saved_version = bandit->version;
    bandit->saved_upto = follower_upto(bandit->model);
    double begin = turn_queue_thread_seconds();
    bandit->saved = turn_queue_now();
    status = restore_steps(bandit->model, t->log, number, is_interrupted, t->all, &bandit->version, error);
    bandit->taken = follower_upto(bandit->model);
    bandit->unsaved = turn_queue_thread_seconds() - begin;
    if (!status) status = served_bandit_open(bandit, t->log, error);
    if (status) {
        follower_free(bandit->model);
        bandit->model = NULL;
        return status;
    }
    pthread_mutex_lock(&bandit->mutex);
    bandit->asked = turn_queue_now();
    bandit->standing.wakes++;
    bandit->standing.saved = bandit->saved_upto;
    pthread_mutex_unlock(&bandit->mutex);
    bandit->publish_due = 0;
    return show(t, error);
}

/* One that cannot be woken is not tried for each that asks: that would take the trainers from all others. */
static ee_status try_to_wake(trainer_turn *t, ee_error *error)
{
    enum { SHARE = 10 }; /* 1/SHARE of a trainer's time */
    served_bandit *bandit = t->bandit;
    double begin = turn_queue_now();
    if (begin < bandit->wake_due) {
        *error = bandit->wake_error;
        return error->status;
    }
    if (is_interrupted(t->all)) return status_fail(error, EE_BAD_INPUT, "the server is stopping");
    ee_status status = wake(t, error);
    if (!status) return EE_OK;
    double end = turn_queue_now();
    bandit->wake_due = end + fmax(RETRY, SHARE * (end - begin));
    bandit->wake_error = *error;
    return status;
}

/* ---- steps ---- */

/* Publishing copies the model. It may take a fifth of the bandit's time: a huge model is published less often. */
static ee_status publish(trainer_turn *t, ee_error *error)
{
    enum { PAUSE = 4 };
    served_bandit *bandit = t->bandit;
    ee_bandit *model = follower_bandit(bandit->model);
    double begin = turn_queue_now();
    ee_status status;
    if (model == bandit->shown)
        status = snapshot_update(bandit->snapshot, model, bandit->version, error);
    else /* it was replaced */
        status = served_bandit_reopen(bandit, error);
    double end = turn_queue_now();
    metric_observe(&t->all->training.publish_seconds, end - begin);
    bandit->publish_due = end + PAUSE * (end - begin);
    bandit->unpublished = false;
    if (!status) return show(t, error);
    put_to_sleep(bandit); /* it is loaded again with what the log has */
    return status;
}

static ee_status publish_if_due(trainer_turn *t, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    bool is_due = follower_bandit(bandit->model) != bandit->shown || turn_queue_now() >= bandit->publish_due;
    return bandit->unpublished && is_due ? publish(t, error) : EE_OK;
}

static ee_status write_event(trainer_turn *t, event_kind kind, const void *body, size_t size, uint64_t *number,
                             ee_error *error)
{
    journal_entry entry = {.bandit = t->bandit->number, .event = {.kind = kind, .body = body, .size = size}};
    ee_status status = journal_write(t->all->written, &entry, error);
    *number = entry.event.number;
    return status;
}

/* Writes that the step was taken, and then publishes the model unless that was done just now. */
static ee_status write_step(trainer_turn *t, ee_error *error)
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
    bandit->unpublished = true;
    return publish_if_due(t, error);
}

static uint64_t next_stride(const served_bandits *all, uint64_t stride, uint64_t behind)
{
    if (behind > all->options.most_behind) return stride < MOST_STRIDE ? 2 * stride : stride;
    return behind < all->options.most_behind / 4 && stride > 1 ? stride / 2 : stride;
}

typedef struct step_limit {
    served_bandits *all;
    double end, last_end; /* turn_queue_now */
    double thread_end;    /* turn_queue_thread_seconds */
} step_limit;

/* A step is over after so much processor time: on a busy machine, or if the log is far away, the same time on the clock
 * would make many small steps, and writing a step takes several waits. The thread's clock is slower to read. */
static bool step_is_over(void *context)
{
    const step_limit *limit = context;
    double now = turn_queue_now();
    return is_interrupted(limit->all) || now >= limit->last_end ||
           (now >= limit->end && turn_queue_thread_seconds() >= limit->thread_end);
}

/* Whether the step failed because the database is away: the model is unchanged, and continues to decide. */
static bool is_away(const trainer_turn *t, ee_status status)
{
    return status == EE_FILE_ERROR && store_is_database(t->all->kept) &&
           follower_upto(t->bandit->model) == t->bandit->taken;
}

static ee_status take_step(trainer_turn *t, uint64_t behind, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    const served_options *options = &t->all->options;
    double begin = turn_queue_now(), thread_begin = turn_queue_thread_seconds();
    step_limit limit = {.all = t->all,
                        .end = begin + options->step_seconds,
                        .last_end = begin + MOST_WAITING * options->step_seconds,
                        .thread_end = thread_begin + options->step_seconds};
    bandit->stride = next_stride(t->all, bandit->stride, behind);
    uint64_t most = behind < options->step_events ? behind : options->step_events;
    step_body step = {bandit->taken + most, bandit->stride};
    ee_status status = follower_advance(bandit->model, t->log, bandit->number, &step, step_is_over, &limit, error);
    double seconds = turn_queue_now() - begin;
    bool all_taken = step.upto == bandit->taken + behind;
    bandit->turn.earliest = all_taken ? begin + options->publish_interval : 0;
    metric_observe(&t->all->training.step_seconds, seconds);
    metric_observe_count(&t->all->training.step_events, step.upto - bandit->taken);
    pthread_mutex_lock(&bandit->mutex);
    bandit->standing.train_seconds += seconds;
    pthread_mutex_unlock(&bandit->mutex);
    if (is_away(t, status)) return status;
    if (status) {
        put_to_sleep(bandit);
        return status;
    }
    bandit->unsaved += turn_queue_thread_seconds() - thread_begin;
    bandit->unwritten = step;
    return write_step(t, error);
}

/* ---- checkpoints ---- */

static ee_status read_version(trainer_turn *t, uint64_t checkpoint, uint64_t *version, ee_error *error)
{
    const event *from;
    checkpoint_body body = {0};
    ee_status status = store_read_one(t->log, t->bandit->number, checkpoint, &from, error);
    if (!status) status = checkpoint_body_read(from->body, from->size, &body, error);
    if (!status) *version = body.version;
    return status;
}

/* Removes the models of the versions that are one too many, and of the one before, should that have failed. A version
 * that was saved again has more than one checkpoint. */
static ee_status remove_older(trainer_turn *t, uint64_t checkpoint, ee_error *error)
{
    uint32_t number = t->bandit->number;
    size_t kept = t->all->options.checkpoints;
    uint64_t version = t->bandit->version;
    ee_status status = EE_OK;
    for (size_t i = 1; i < kept + 2 && !status;) {
        uint64_t newer = version;
        status = store_last(t->log, number, EVENT_CHECKPOINT, checkpoint - 1, &checkpoint, error);
        if (status || !checkpoint) return status;
        status = read_version(t, checkpoint, &version, error);
        if (status || version == newer) continue;
        if (i++ < kept) continue;
        bool proof = false;
        status = stored_models_keep(t->log, number, version, &proof, error);
        if (!status && !proof) status = blob_remove(store_blobs(t->all->kept), blob_model(number, version), error);
    }
    return status;
}

static ee_status write_checkpoint(trainer_turn *t, const void *model, size_t size, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    checkpoint_body body = {
        .version = bandit->version,
        .upto = bandit->taken,
        .checksum = checkpoint_checksum(model, size),
        .size = size,
    };
    uint8_t *bytes = NULL;
    size_t body_size;
    uint64_t number = 0;
    ee_status status = follower_state(bandit->model, FOLLOWER_FORMAT, &body.state, &body.state_size, error);
    if (!status)
        status = blob_put(store_blobs(t->all->kept), blob_model(bandit->number, bandit->version), model, size, error);
    if (!status) status = checkpoint_body_write(&body, NULL, &bytes, &body_size, error);
    if (!status) status = write_event(t, EVENT_CHECKPOINT, bytes, body_size, &number, error);
    memory_free(bytes);
    return status ? status : remove_older(t, number, error);
}

static ee_status save_checkpoint(trainer_turn *t, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    void *bytes;
    size_t size;
    bandit->saved = turn_queue_now();
    bandit->save_failed = true;
    ee_status status = ee_bandit_save_bytes(follower_bandit(bandit->model), &bytes, &size, error);
    if (status) return status;
    status = write_checkpoint(t, bytes, size, error);
    ee_bytes_free(bytes);
    if (status) return status;
    bandit->save_seconds = turn_queue_now() - bandit->saved;
    bandit->save_failed = false;
    bandit->unsaved = 0;
    bandit->saved_version = bandit->version;
    bandit->saved_upto = bandit->taken;
    pthread_mutex_lock(&bandit->mutex);
    bandit->standing.checkpoints++;
    bandit->standing.saved = bandit->saved_upto;
    bandit->save_wanted = false;
    pthread_mutex_unlock(&bandit->mutex);
    return EE_OK;
}

static bool has_unsaved(const served_bandit *bandit)
{
    return bandit->version != bandit->saved_version && !bandit->unwritten.upto;
}

static void save_unsaved(trainer_turn *t)
{
    ee_error error;
    if (t->bandit->model && has_unsaved(t->bandit) && save_checkpoint(t, &error)) set_trouble(t->bandit, &error);
}

/* Saving takes a fifth of the time at most. Training is counted in processor time, which the next owner needs to repeat
 * it: on a busy machine the same time on the clock would save a model that has hardly learned. */
static bool is_costly_to_lose(const served_bandit *bandit)
{
    enum { SHARE = 4 };
    double least = bandit->all->options.relearn_seconds;
    return least > 0 && bandit->unsaved >= fmax(least, SHARE * bandit->save_seconds);
}

/* One that failed is tried again after a while, not after each step. */
static bool checkpoint_is_due(const served_bandit *bandit, double now)
{
    enum { PAUSE = 10 }; /* seconds after a failure: the database may have been away */
    const served_options *options = &bandit->all->options;
    double age = now - bandit->saved;
    bool many = bandit->taken - bandit->saved_upto >= options->checkpoint_events;
    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&bandit->mutex);
    bool wanted = bandit->save_wanted;
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&bandit->mutex);
    if (is_costly_to_lose(bandit) && (!bandit->save_failed || age >= PAUSE)) return true;
    return wanted || (many && !bandit->save_failed) || age >= options->checkpoint_seconds;
}

/* ---- memory ---- */

/* The idle bandit that was asked longest ago, but not the one that was asked last; NULL: there is none. *leaving: bytes
 * of those that are being unloaded. */
static served_bandit *find_oldest(served_bandits *all, uint64_t *leaving)
{
    served_bandit *oldest = NULL, *bandit;
    double first = INFINITY, last = -INFINITY;
    *leaving = 0;
    for (size_t i = 0; (bandit = served_bandits_at(all, i)); i++) {
        pthread_mutex_lock(&bandit->mutex);
        bool idle = bandit->awake && !bandit->tired && bandit->events <= bandit->standing.taken;
        if (bandit->tired) *leaving += bandit->standing.memory;
        if (bandit->awake) last = fmax(last, bandit->asked);
        if (idle && bandit->asked < first) {
            oldest = bandit;
            first = bandit->asked;
        }
        pthread_mutex_unlock(&bandit->mutex);
    }
    return first < last ? oldest : NULL;
}

/* Unloads idle bandits until the models fit into the memory. */
static void make_room(served_bandits *all)
{
    uint64_t leaving, limit = all->options.memory;
    while (limit && atomic_load(&all->used) > limit) {
        served_bandit *oldest = find_oldest(all, &leaving);
        if (!oldest || atomic_load(&all->used) <= limit + leaving) return;
        pthread_mutex_lock(&oldest->mutex);
        oldest->tired = oldest->awake;
        pthread_mutex_unlock(&oldest->mutex);
        turn_queue_ask(&all->queue, &oldest->turn, false);
    }
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

static uint64_t last_event(served_bandit *bandit)
{
    pthread_mutex_lock(&bandit->mutex);
    uint64_t events = bandit->events;
    pthread_mutex_unlock(&bandit->mutex);
    return events;
}

/* Whether the settings have other guardrails. */
static bool has_old_guard(served_bandit *bandit)
{
    pthread_mutex_lock(&bandit->mutex);
    bool is_old = bandit->guard_age == GUARD_OLD;
    pthread_mutex_unlock(&bandit->mutex);
    return is_old;
}

static ee_status renew_guard(trainer_turn *t, ee_error *error)
{
    ee_status status = served_bandit_renew_guard(t->bandit, t->log, error);
    if (status) put_to_sleep(t->bandit); /* it is loaded again with guardrails that the log has */
    return status;
}

/* Loads the bandit, or changes its guardrails, or takes a step, or publishes. */
static ee_status go_on(trainer_turn *t, bool waited, ee_error *error)
{
    served_bandit *bandit = t->bandit;
    uint64_t events = last_event(bandit);
    bool more = events > bandit->taken;
    if (!bandit->model) return waited || more ? try_to_wake(t, error) : EE_OK;
    if (has_old_guard(bandit)) return renew_guard(t, error);
    if (bandit->unwritten.upto) return write_step(t, error);
    if (is_interrupted(t->all)) return EE_OK;
    if (more && turn_queue_now() >= bandit->turn.earliest) return take_step(t, events - bandit->taken, error);
    return publish_if_due(t, error);
}

/* When the next turn is due, if nobody asks for one. */
static double next_due(served_bandit *bandit)
{
    if (last_event(bandit) > bandit->taken) return bandit->turn.earliest;
    return bandit->unpublished ? bandit->publish_due : INFINITY;
}

static void rest(trainer_turn *t)
{
    served_bandit *bandit = t->bandit;
    double now = turn_queue_now();
    if (!bandit->model) return;
    bool sleeps = last_event(bandit) <= bandit->taken && is_idle(bandit, now);
    if (sleeps || checkpoint_is_due(bandit, now)) save_unsaved(t);
    if (sleeps) put_to_sleep(bandit);
    make_room(t->all);
}

/* Nobody waits for an archived or removed bandit, except those that come after it is restored. */
static void refuse(const served_bandit *bandit, served_waiter *waiters)
{
    ee_error error;
    status_fail(&error, EE_BAD_INPUT, "bandit: %s is archived or removed", bandit->name);
    call(waiters, &error);
}

double trainer_turn_give(trainer_turn *t)
{
    served_bandit *bandit = t->bandit;
    ee_error error = {0};
    served_waiter *waiters = take_waiters(bandit); /* who comes later waits for the next turn */
    pthread_mutex_lock(&bandit->mutex);
    bool removed = bandit->removed, archived = bandit->archived || removed;
    pthread_mutex_unlock(&bandit->mutex);
    if (archived) {
        if (!removed) save_unsaved(t);
        put_to_sleep(bandit);
        refuse(bandit, waiters);
        return INFINITY;
    }
    if (go_on(t, waiters, &error)) {
        set_trouble(bandit, &error);
        call(waiters, bandit->model ? NULL : &error);
        return fmax(turn_queue_now() + RETRY, bandit->wake_due);
    }
    call(waiters, NULL);
    rest(t);
    pthread_mutex_lock(&bandit->mutex);
    bandit->turn.since = bandit->events > bandit->standing.taken ? bandit->oldest : 0;
    pthread_mutex_unlock(&bandit->mutex);
    return bandit->model && !is_interrupted(t->all) ? next_due(bandit) : INFINITY;
}

/* How long a checkpoint takes: as the last one, or by the model's size. */
static double expected_save_seconds(const served_bandit *bandit)
{
    const double bytes_per_second = 100e6;
    return bandit->save_seconds > 0 ? bandit->save_seconds : (double)bandit->standing.memory / bytes_per_second;
}

void trainer_turn_last(trainer_turn *t, double until)
{
    served_bandit *bandit = t->bandit;
    ee_error error;
    if (turn_queue_now() + expected_save_seconds(bandit) < until) save_unsaved(t);
    put_to_sleep(bandit);
    status_fail(&error, EE_BAD_INPUT, "bandit: the server is stopping");
    call(take_waiters(bandit), &error);
}
