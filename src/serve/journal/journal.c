/* The thread that writes. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "clock_guard.h"
#include "journal_parts.h"

/* Microseconds: how soon a jump of the clock is noticed without traffic. A clock that tests move is read more often. */
enum { LONGEST_PAUSE = 1000000, LONGEST_PAUSE_OWN_CLOCK = 10000 };

/* ---- the writer ---- */

/* How long to wait for entries; 0: there is work to do. */
static int64_t pause_of(journal *self)
{
    int64_t longest = self->options.clock && !self->options.steady ? LONGEST_PAUSE_OWN_CLOCK : LONGEST_PAUSE;
    server_clock clock = journal_clock(self);
    int64_t due = journal_due_in(self, &clock);
    if (due < 0) return 0;
    return due < longest ? due : longest;
}

static void wait_for(journal *self, int64_t microseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t nanoseconds = until.tv_nsec + microseconds % 1000000 * 1000;
    until.tv_sec += (time_t)(microseconds / 1000000 + nanoseconds / 1000000000);
    until.tv_nsec = (long)(nanoseconds % 1000000000);
    pthread_cond_timedwait(&self->wake, &self->lock, &until);
}

/* Waits until there is something to do, and takes what was handed in. false: it is over. */
static bool gather(journal *self)
{
    int64_t pause = self->turns ? 0 : pause_of(self);
    bool removes = !journal_clock(self).in_doubt;
    pthread_mutex_lock(&self->lock);
    if (pause && !self->incoming.first && !self->tasks && !(removes && self->removals) && !self->stopping)
        wait_for(self, pause);
    journal_entry *first = self->incoming.first;
    self->incoming = (entry_list){0};
    bool over = self->stopping && !first && !self->turns && !self->tasks;
    pthread_mutex_unlock(&self->lock);
    journal_distribute(self, first);
    return !over;
}

static void *run(void *context)
{
    journal *self = context;
    while (gather(self)) {
        if (self->turns || pause_of(self) == 0) journal_write_group(self);
        journal_run_task(self);
        if (!journal_clock(self).in_doubt) journal_remove_some(self);
    }
    if (pause_of(self) == 0) journal_write_group(self); /* the next start is to know the state of the clock */
    return NULL;
}

/* ---- beginning and end ---- */

/* Takes over what the store knows of a bandit. */
static ee_status take_bandit(journal *self, const stored_bandit *stored, clock_guard *guard, ee_error *error)
{
    const bandit_state *state = store_bandit_state(self->store, stored->number);
    bandit_settings settings = bandit_settings_usual();
    if (!state || !state->owned) return EE_OK; /* another process's */
    ee_status status =
        bandit_settings_read(&settings, stored->settings.bytes, stored->settings.length, SETTINGS_STORED, error);
    if (!status) status = clock_guard_add(guard, self->reader, stored, settings.retention_days, state->waiting, error);
    self->counts.waiting += state->waiting;
    self->queues[stored->number]->news = state->news;
    if (self->options.waits) self->options.waits(self->options.context, stored->number, state->waiting, 0);
    return status;
}

static ee_status prepare(journal *self, ee_error *error)
{
    const journal_options *options = &self->options;
    stored_bandits list = {0};
    ee_status status = store_reader_create(self->store, &self->reader, error);
    if (!status) status = journal_add_queues(self, error);
    if (!status) status = store_read_clock(self->reader, &self->written_clock, error);
    clock_guard guard = {.before = self->written_clock,
                         .wall = journal_wall_now(self),
                         .retention_days = options->retention_days,
                         .most_days_off = options->most_days_off,
                         .last = self->written_clock.time};
    if (!status) status = store_list_bandits(self->reader, &list, error);
    for (size_t i = 0; i < list.count && !status; i++) status = take_bandit(self, &list.bandits[i], &guard, error);
    stored_bandits_free(&list);
    self->working = self->counts;
    if (!status) status = journal_open_spool(self, &guard.last, error);
    if (status) return status;
    self->clock = server_clock_start(guard.last, 0, guard.last, 0);
    if (journal_has_one_clock(self)) return EE_OK;
    return clock_guard_start(&guard, options->accept_clock, journal_elapsed_now(self), &self->clock, &self->write_clock,
                             error);
}

static void free_journal(journal *self)
{
    journal_free_removals(self);
    store_reader_free(self->reader);
    spool_close(self->spool);
    event_batch_free(&self->batch);
    pthread_cond_destroy(&self->wake);
    pthread_cond_destroy(&self->task_done);
    pthread_mutex_destroy(&self->lock);
    pthread_mutex_destroy(&self->clock_lock);
    memory_release(&self->memory);
}

ee_status journal_start(store *into, const journal_options *options, journal **out, ee_error *error)
{
    journal *self;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->store = into;
    self->options = *options;
    if (!self->options.most_entries) self->options.most_entries = 65536;
    if (!self->options.checkpoints) self->options.checkpoints = 1;
    if (!self->options.most_bytes) self->options.most_bytes = (size_t)256 << 20;
    self->counts.writable = true;
    self->failing_since = self->shown_until = INT64_MAX;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_cond_init(&self->task_done, NULL);
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_init(&self->clock_lock, NULL);
    status = prepare(self, error);
    if (!status && pthread_create(&self->thread, NULL, run, self))
        status = status_fail(error, EE_NO_MEMORY, "journal: could not start a thread");
    if (status) {
        free_journal(self);
        return status;
    }
    *out = self;
    return EE_OK;
}

void journal_stop(journal *self)
{
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stopping = true;
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    free_journal(self);
}
