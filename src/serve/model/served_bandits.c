/* All bandits: loading their table from the store, starting and stopping what trains them. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>

#include "restoring.h"
#include "served_inside.h"

served_options served_options_usual(void)
{
    return (served_options){
        .publish_interval = 0.1,
        .step_seconds = 0.05,
        .step_events = 4096,
        .most_behind = 20000,
        .checkpoint_events = 100000,
        .checkpoint_seconds = 300,
        .checkpoints = 3,
        .sleep_seconds = 600,
    };
}

/* ---- changes ---- */

ee_status served_bandits_set(served_bandits *self, uint32_t number, json_text name, const bandit_settings *settings,
                             bool archived, ee_error *error)
{
    served_bandit *bandit = served_bandits_find_number(self, number);
    if (!bandit) return served_table_add(self, number, name, settings, archived, &bandit, error);
    served_bandits_change(self, number, settings, archived);
    return EE_OK;
}

/* Guardrails can be held and released without a change; a bandit without any needs them to be held. */
static bool changes_guard(const bandit_settings *before, const bandit_settings *next)
{
    bool held_alike = (before->held == HELD_FALLBACK) == (next->held == HELD_FALLBACK);
    return strcmp(before->guardrails, next->guardrails) != 0 || (!next->guardrails[0] && !held_alike);
}

void served_bandits_change(served_bandits *self, uint32_t number, const bandit_settings *settings, bool archived)
{
    served_bandit *bandit = served_bandits_find_number(self, number);
    if (!bandit) return;
    pthread_mutex_lock(&bandit->mutex);
    bool changes = changes_guard(&bandit->settings, settings), falls_back = settings->held == HELD_FALLBACK;
    if (changes && bandit->guard_age != GUARD_NONE) bandit->guard_age = GUARD_OLD;
    /* A release may come with a smaller rollout, so it waits for other guardrails. */
    if (falls_back || bandit->guard_age == GUARD_CURRENT) guardrails_hold(bandit->guard, falls_back);
    bandit->settings = *settings;
    bandit->archived = archived;
    pthread_mutex_unlock(&bandit->mutex);
    turn_queue_ask(&self->queue, &bandit->turn, changes);
}

void served_bandits_remove(served_bandits *self, served_bandit *bandit)
{
    pthread_mutex_lock(&bandit->mutex);
    bandit->removed = true;
    pthread_mutex_unlock(&bandit->mutex);
    served_table_remove(self, bandit);
    served_bandit_await_turn(bandit);
}

void served_bandits_appended(served_bandits *self, uint32_t number, uint64_t last)
{
    served_bandit *bandit = served_bandits_find_number(self, number);
    if (!bandit) return; /* a new one, which served_bandits_set follows on: its first event is taken already */
    pthread_mutex_lock(&bandit->mutex);
    if (bandit->events <= bandit->standing.taken) bandit->oldest = turn_queue_now();
    bandit->events = last;
    pthread_mutex_unlock(&bandit->mutex);
    turn_queue_ask(&self->queue, &bandit->turn, false);
}

uint64_t served_bandits_memory(const served_bandits *self)
{
    return atomic_load(&((served_bandits *)(uintptr_t)self)->used);
}

const training_metrics *served_bandits_training(const served_bandits *self)
{
    return &self->training;
}

/* ---- starting and stopping ---- */

static ee_status add_stored(served_bandits *self, const stored_bandit *stored, ee_error *error)
{
    served_bandit *bandit;
    const bandit_state *state = store_bandit_state(self->kept, stored->number);
    bandit_settings settings = bandit_settings_usual();
    if (!state || !state->owned) return EE_OK;
    ee_status status =
        bandit_settings_read(&settings, stored->settings.bytes, stored->settings.length, SETTINGS_STORED, error);
    return status ? status
                  : served_table_add(self, stored->number, stored->name, &settings, stored->archived, &bandit, error);
}

/* Finds out how far its model has followed the log. The bandit has no turn yet, or none that does anything. */
static ee_status survey(served_bandit *bandit, store_reader *log, ee_error *error)
{
    const unsigned kinds = 1U << EVENT_DECISION | 1U << EVENT_SETTLED | 1U << EVENT_SETTINGS | 1U << EVENT_MODEL;
    trainer_turn t = {bandit->all, bandit, log};
    uint64_t number, last;
    step_body step;
    ee_status status = store_last_of(log, bandit->number, kinds, UINT64_MAX, &last, error);
    if (!status) status = store_last(log, bandit->number, EVENT_STEP, UINT64_MAX, &number, error);
    if (!status && number) {
        bandit->version = number;
        status = restore_next_step(log, bandit->number, number - 1, &number, &step, error);
        if (!status) bandit->taken = step.upto;
    }
    if (!status && last > bandit->taken) status = trainer_find_oldest(&t, bandit->taken, &bandit->oldest, error);
    if (status) return status;
    bandit->events = last;
    bandit->standing.version = bandit->version;
    bandit->standing.taken = bandit->taken;
    if (last > bandit->taken && !bandit->archived) turn_queue_ask(&bandit->all->queue, &bandit->turn, false);
    return EE_OK;
}

ee_status served_bandits_adopt(served_bandits *self, uint32_t number, json_text name, const bandit_settings *settings,
                               bool archived, store_reader *log, ee_error *error)
{
    served_bandit *bandit;
    ee_status status = served_table_make(self, number, name, settings, archived, &bandit, error);
    if (status) return status;
    status = survey(bandit, log, error);
    if (!status) status = served_table_insert(self, bandit, error);
    if (status) served_table_discard(self, bandit);
    if (!status && !archived) turn_queue_ask(&self->queue, &bandit->turn, false);
    return status;
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
    turn_queue_init(&self->queue);
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

void served_bandits_interrupt(served_bandits *self)
{
    atomic_store(&self->interrupted, true);
}

void served_bandits_stop(served_bandits *self, double save_seconds)
{
    trainers_stop(self, turn_queue_now() + save_seconds);
}

void served_bandits_free(served_bandits *self)
{
    if (!self) return;
    served_table_free(self);
    turn_queue_destroy(&self->queue);
    pthread_rwlock_destroy(&self->lock);
    memory_release(&self->memory);
}
