#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "clock_guard.h"
#include "journal_parts.h"

/* Microseconds: how soon a jump of the clock is noticed without traffic. A clock that tests move is read more often. */
enum { LONGEST_PAUSE = 1000000, LONGEST_PAUSE_OWN_CLOCK = 10000 };

/* ---- time ---- */

static int64_t wall_now(const journal *self)
{
    return self->options.clock ? self->options.clock(self->options.clock_context) : server_clock_wall();
}

static int64_t elapsed_now(const journal *self)
{
    return self->options.elapsed ? self->options.elapsed(self->options.clock_context) : server_clock_elapsed();
}

/* Tests move this clock and no other: log time is what it says. */
static bool has_one_clock(const journal *self)
{
    return self->options.clock && !self->options.elapsed;
}

server_clock journal_clock(journal *self)
{
    pthread_mutex_lock(&self->clock_lock);
    if (has_one_clock(self))
        self->clock = server_clock_start(self->clock.time, 0, wall_now(self), 0);
    else
        server_clock_at(&self->clock, wall_now(self), elapsed_now(self));
    server_clock now = self->clock;
    pthread_mutex_unlock(&self->clock_lock);
    return now;
}

int64_t journal_time(journal *self)
{
    return journal_clock(self).time;
}

int64_t journal_wall_time(journal *self)
{
    server_clock now = journal_clock(self);
    return now.time - now.ahead;
}

bool journal_accept_clock(journal *self, clock_acceptance as)
{
    journal_clock(self);
    pthread_mutex_lock(&self->clock_lock);
    bool accepted = self->clock.in_doubt && server_clock_accept(&self->clock, as);
    pthread_mutex_unlock(&self->clock_lock);
    pthread_mutex_lock(&self->lock);
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->lock);
    return accepted;
}

/* ---- handing in ---- */

size_t journal_entry_bytes(const journal_entry *entry)
{
    return sizeof *entry + entry->event.id.length + entry->event.reward_id.length + entry->event.size;
}

void entry_list_add(entry_list *list, journal_entry *first, journal_entry *last)
{
    if (list->first)
        list->last->next = first;
    else
        list->first = first;
    list->last = last;
}

bool journal_submit(journal *self, journal_entry *first)
{
    size_t count = 0, bytes = 0;
    journal_entry *last = first;
    for (journal_entry *entry = first; entry; entry = entry->next) {
        count++;
        bytes += journal_entry_bytes(entry);
        last = entry;
    }
    pthread_mutex_lock(&self->lock);
    bool room = !self->stopping && self->waiting_entries + count <= self->options.most_entries &&
                self->waiting_bytes + bytes <= self->options.most_bytes;
    if (room) {
        self->waiting_entries += count;
        self->waiting_bytes += bytes;
        entry_list_add(&self->incoming, first, last);
        pthread_cond_signal(&self->wake);
    }
    pthread_mutex_unlock(&self->lock);
    return room;
}

typedef struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool done;
} waiter;

static void wake_waiter(journal_entry *entry)
{
    waiter *self = entry->context;
    pthread_mutex_lock(&self->lock);
    self->done = true;
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->lock);
}

ee_status journal_write(journal *self, journal_entry *entry, ee_error *error)
{
    waiter waiting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    journal_entry asked = *entry;
    asked.done = wake_waiter;
    asked.context = &waiting;
    asked.next = NULL;
    if (!journal_submit(self, &asked))
        return status_fail(error, EE_FILE_ERROR, "journal: too many entries are waiting to be written; try again");
    pthread_mutex_lock(&waiting.lock);
    while (!waiting.done) pthread_cond_wait(&waiting.wake, &waiting.lock);
    pthread_mutex_unlock(&waiting.lock);
    asked.earlier = NULL; /* only while done runs */
    asked.done = entry->done;
    asked.context = entry->context;
    *entry = asked;
    if (entry->verdict != JOURNAL_FAILED && entry->verdict != JOURNAL_CONFLICT) return EE_OK;
    return status_fail(error, entry->error.status, "%s", entry->error.message);
}

journal_counts journal_read_counts(journal *self)
{
    pthread_mutex_lock(&self->lock);
    journal_counts counts = self->counts;
    counts.waiting_entries = self->waiting_entries;
    pthread_mutex_unlock(&self->lock);
    return counts;
}

/* ---- the writer ---- */

/* How long to wait for entries; 0: there is work to do. */
static int64_t pause_of(journal *self)
{
    int64_t longest = self->options.clock ? LONGEST_PAUSE_OWN_CLOCK : LONGEST_PAUSE;
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
    if (pause && !self->incoming.first && !(removes && self->removals) && !self->stopping) wait_for(self, pause);
    journal_entry *first = self->incoming.first;
    self->incoming = (entry_list){0};
    bool over = self->stopping && !first && !self->turns;
    pthread_mutex_unlock(&self->lock);
    journal_distribute(self, first);
    return !over;
}

static void *run(void *context)
{
    journal *self = context;
    while (gather(self)) {
        if (self->turns || pause_of(self) == 0) journal_write_group(self);
        if (!journal_clock(self).in_doubt) journal_remove_some(self);
    }
    if (pause_of(self) == 0) journal_write_group(self); /* the next start is to know the state of the clock */
    return NULL;
}

/* ---- beginning and end ---- */

static ee_status take_bandit(journal *self, const stored_bandit *stored, clock_guard *guard, ee_error *error)
{
    bandit_settings settings = bandit_settings_usual();
    ee_status status =
        bandit_settings_read(&settings, stored->settings.bytes, stored->settings.length, SETTINGS_STORED, error);
    joined_bandit joined = {.number = stored->number,
                            .events = stored->events,
                            .time = stored->time,
                            .news = stored->events,
                            .settled_to = stored->settled_to,
                            .archived = stored->archived,
                            .rules = settings.joining};
    if (!status) status = store_count_waiting(self->reader, stored->number, stored->settled_to, &joined.waiting, error);
    if (!status) status = clock_guard_add(guard, self->reader, stored, settings.retention_days, joined.waiting, error);
    self->counts.waiting += joined.waiting;
    if (self->options.waits) self->options.waits(self->options.context, joined.number, joined.waiting, 0);
    return status ? status : journal_keep_bandit(self, &joined, NULL, error);
}

static ee_status prepare(journal *self, ee_error *error)
{
    const journal_options *options = &self->options;
    stored_bandits list = {0};
    ee_status status = store_reader_create(self->store, &self->reader, error);
    if (!status) status = journal_keep_bandit(self, &(joined_bandit){0}, NULL, error);
    if (!status) status = store_read_clock(self->reader, &self->written_clock, error);
    clock_guard guard = {.before = self->written_clock,
                         .wall = wall_now(self),
                         .retention_days = options->retention_days,
                         .most_days_off = options->most_days_off,
                         .last = self->written_clock.time};
    if (!status) status = store_list_bandits(self->reader, &list, error);
    for (size_t i = 0; i < list.count && !status; i++) status = take_bandit(self, &list.bandits[i], &guard, error);
    stored_bandits_free(&list);
    self->working = self->counts;
    if (status) return status;
    self->clock = server_clock_start(guard.last, 0, guard.last, 0);
    if (has_one_clock(self)) return EE_OK;
    return clock_guard_start(&guard, options->accept_clock, elapsed_now(self), &self->clock, &self->write_clock, error);
}

static void free_journal(journal *self)
{
    journal_free_removals(self);
    store_reader_free(self->reader);
    event_batch_free(&self->batch);
    pthread_cond_destroy(&self->wake);
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
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
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
