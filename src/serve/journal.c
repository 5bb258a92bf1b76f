#define _POSIX_C_SOURCE 200809L
#include "journal.h"

#include <pthread.h>
#include <time.h>

#include "joining.h"
#include "server_clock.h"

enum {
    GROUP_ENTRIES = 512,     /* of one transaction, at most: it takes some milliseconds */
    GROUP_BYTES = 4 << 20,   /* the same; one entry may be more */
    TURN_ENTRIES = 16,       /* that one bandit has before it is another's turn */
    SETTLE_PORTION = 512,    /* decisions settled in one transaction */
    SETTLE_EACH = 128,       /* of one bandit */
    REMOVE_PORTION = 512,    /* events removed in one transaction */
    SCAN_PORTION = 1024,     /* events looked at between two transactions */
    SETTLE_GRAIN = 10000,    /* microseconds: waits that end within so long are settled together */
    RETRY_PAUSE = 1000000,   /* microseconds after a failure, before it tries by itself */
    LONGEST_PAUSE = 60000000 /* microseconds; nothing needs it, but it costs nothing either */
};

typedef struct entry_list {
    journal_entry *first, *last;
} entry_list;

/* A bandit in the writer's hands. */
typedef struct kept_bandit {
    joined_bandit joined, before; /* before: as it was when the transaction began; only where it is touched */
    bool touched, is_new;
    entry_list entries;            /* that wait to be written */
    struct kept_bandit *next_turn; /* among those that have some */
    struct kept_bandit *next_touched;
} kept_bandit;

/* Events to remove. */
typedef struct removal {
    uint32_t bandit;
    int64_t before;
    uint64_t keep_from; /* the first event that a restart needs; 0: not looked for yet */
    uint64_t scanned;   /* it was looked for up to this event */
    bool is_scanned;
    struct removal *next;
} removal;

struct journal {
    memory memory;
    store *store;
    store_reader *reader; /* the writer's */
    journal_options options;
    pthread_t thread;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;
    entry_list incoming;
    removal *removals;
    size_t waiting_entries, waiting_bytes;
    bool stopping;
    journal_counts counts;

    pthread_mutex_t clock_lock; /* of what follows */
    server_clock clock;

    /* The writer's alone. */
    kept_bandit **bandits; /* (count) by number; the first is of entries whose bandit is new, or unknown */
    size_t count, capacity;
    kept_bandit *turns, *last_turn; /* those with entries, in turn */
    kept_bandit *touched;
    size_t settle_from;
    int64_t earliest;    /* deadline of all bandits, or before it */
    int64_t quiet_until; /* after a failure, of the clock that never jumps */
    journal_counts working;
};

/* ---- time ---- */

int64_t journal_time(journal *self)
{
    pthread_mutex_lock(&self->clock_lock);
    if (self->options.clock)
        self->clock = server_clock_start(self->clock.time, self->options.clock(self->options.clock_context), 0);
    else
        server_clock_at(&self->clock, server_clock_wall(), server_clock_real());
    int64_t time = self->clock.time;
    pthread_mutex_unlock(&self->clock_lock);
    return time;
}

/* ---- handing in ---- */

static size_t entry_bytes(const journal_entry *entry)
{
    return sizeof *entry + entry->event.id.length + entry->event.reward_id.length + entry->event.size;
}

static void list_add(entry_list *list, journal_entry *first, journal_entry *last)
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
        bytes += entry_bytes(entry);
        last = entry;
    }
    pthread_mutex_lock(&self->lock);
    bool room = !self->stopping && self->waiting_entries + count <= self->options.most_entries &&
                self->waiting_bytes + bytes <= self->options.most_bytes;
    if (room) {
        self->waiting_entries += count;
        self->waiting_bytes += bytes;
        list_add(&self->incoming, first, last);
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
    entry->done = wake_waiter;
    entry->context = &waiting;
    entry->next = NULL;
    if (!journal_submit(self, entry))
        return status_fail(error, EE_FILE_ERROR, "journal: too much is waiting to be written; try again later");
    pthread_mutex_lock(&waiting.lock);
    while (!waiting.done) pthread_cond_wait(&waiting.wake, &waiting.lock);
    pthread_mutex_unlock(&waiting.lock);
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

/* ---- the bandits ---- */

static ee_status keep_bandit(journal *self, const joined_bandit *joined, kept_bandit **out, ee_error *error)
{
    size_t number = joined->number;
    kept_bandit *kept;
    ee_status status =
        memory_grow(&self->memory, &self->bandits, &self->capacity, number + 1, sizeof *self->bandits, error);
    if (!status) status = memory_create(&self->memory, &kept, 1, sizeof *kept, error);
    if (status) return status;
    kept->joined = *joined;
    self->bandits[number] = kept;
    if (self->count <= number) self->count = number + 1;
    if (out) *out = kept;
    return EE_OK;
}

/* NULL where there is none of this number, or it is 0. */
static kept_bandit *find_bandit(const journal *self, uint32_t number)
{
    return number && number < self->count ? self->bandits[number] : NULL;
}

static void touch(journal *self, kept_bandit *kept)
{
    if (kept->touched) return;
    kept->before = kept->joined;
    kept->touched = true;
    kept->next_touched = self->touched;
    self->touched = kept;
}

/* Ends the transaction for the bandits: tells of what is new, or brings back what was. */
static void release_touched(journal *self, bool written)
{
    for (kept_bandit *kept = self->touched, *next; kept; kept = next) {
        next = kept->next_touched;
        kept->touched = false;
        uint32_t number = kept->joined.number;
        if (written && self->options.appended && kept->joined.news > kept->before.news)
            self->options.appended(self->options.context, number, kept->joined.news);
        if (!written) kept->joined = kept->before;
        if (!written && kept->is_new) {
            self->bandits[number] = NULL;
            memory_free(kept);
            continue;
        }
        kept->is_new = false;
        if (kept->joined.deadline < self->earliest) self->earliest = kept->joined.deadline;
    }
    self->touched = NULL;
}

/* ---- one entry ---- */

static ee_status refuse(journal_entry *entry, const char *sentence)
{
    entry->verdict = JOURNAL_FAILED;
    status_fail(&entry->error, EE_BAD_INPUT, sentence, (unsigned)entry->bandit);
    return EE_OK;
}

static ee_status write_settings(journal *self, kept_bandit *kept, journal_entry *entry, int64_t now, ee_error *error)
{
    joined_bandit *joined = &kept->joined;
    ee_status status = joining_append(self->store, joined, &entry->event, now, error);
    if (status) return status;
    joined->rules = entry->settings->joining;
    joined->archived = entry->archived;
    joined->deadline = now; /* another wait, perhaps: to be looked at anew */
    stored_bandit stored = {.number = joined->number,
                            .archived = joined->archived,
                            .settled_to = joined->settled_to,
                            .settings = {entry->event.body, entry->event.size}};
    return store_put_bandit(self->store, &stored, error);
}

static ee_status write_new_bandit(journal *self, journal_entry *entry, int64_t now, ee_error *error)
{
    joined_bandit joined = {.deadline = INT64_MAX};
    ee_status status = store_add_bandit(self->store, entry->name, &joined.number, &entry->error);
    if (status == EE_BAD_INPUT) { /* the name is not new */
        entry->verdict = JOURNAL_FAILED;
        return EE_OK;
    }
    if (status) return status_fail(error, status, "%s", entry->error.message);
    kept_bandit *kept;
    status = keep_bandit(self, &joined, &kept, error);
    if (status) return status;
    kept->is_new = true;
    touch(self, kept);
    entry->bandit = joined.number;
    return write_settings(self, kept, entry, now, error);
}

static ee_status write_entry(journal *self, journal_entry *entry, int64_t now, ee_error *error)
{
    event_kind kind = entry->event.kind;
    entry->verdict = JOURNAL_DONE;
    entry->earlier = NULL;
    if (kind == EVENT_SETTINGS && entry->bandit == 0) return write_new_bandit(self, entry, now, error);
    kept_bandit *kept = find_bandit(self, entry->bandit);
    if (!kept) return refuse(entry, "bandit: there is none of number %u");
    touch(self, kept);
    if (kept->joined.archived && (kind == EVENT_DECISION || kind == EVENT_REWARD || kind == EVENT_MODEL))
        return refuse(entry, "bandit: number %u is archived; restore it first");
    switch (kind) {
    case EVENT_DECISION:
        return joining_decision(self->store, &kept->joined, entry, now, &self->working, error);
    case EVENT_REWARD:
        return joining_reward(self->store, &kept->joined, entry, now, &self->working, error);
    case EVENT_SETTINGS:
        return write_settings(self, kept, entry, now, error);
    case EVENT_STEP:
    case EVENT_CHECKPOINT:
    case EVENT_MODEL:
        return joining_append(self->store, &kept->joined, &entry->event, now, error);
    case EVENT_SETTLED:
        break;
    }
    return refuse(entry, "journal: bandit %u: only the journal settles");
}

/* ---- what one transaction writes ---- */

static void await_turn(journal *self, kept_bandit *kept)
{
    kept->next_turn = NULL;
    if (self->turns)
        self->last_turn->next_turn = kept;
    else
        self->turns = kept;
    self->last_turn = kept;
}

/* Sorts what was handed in by bandit. */
static void distribute(journal *self, journal_entry *first)
{
    for (journal_entry *entry = first, *next; entry; entry = next) {
        next = entry->next;
        entry->next = NULL;
        kept_bandit *kept = find_bandit(self, entry->bandit);
        if (!kept) kept = self->bandits[0];
        if (!kept->entries.first) await_turn(self, kept);
        list_add(&kept->entries, entry, entry);
    }
}

/* The next group: of each bandit some in turn, until it is large enough. */
static journal_entry *take_group(journal *self, size_t *count, size_t *bytes)
{
    entry_list group = {0};
    *count = *bytes = 0;
    while (self->turns && *count < GROUP_ENTRIES && *bytes < GROUP_BYTES) {
        kept_bandit *kept = self->turns;
        self->turns = kept->next_turn;
        for (size_t i = 0; kept->entries.first && i < TURN_ENTRIES && *bytes < GROUP_BYTES; i++) {
            journal_entry *entry = kept->entries.first;
            kept->entries.first = entry->next;
            entry->next = NULL;
            list_add(&group, entry, entry);
            *bytes += entry_bytes(entry);
            ++*count;
        }
        if (kept->entries.first) await_turn(self, kept);
    }
    return group.first;
}

static bool is_quiet(const journal *self)
{
    return self->quiet_until && server_clock_real() < self->quiet_until;
}

static bool is_due(const journal *self, int64_t now)
{
    return self->earliest < INT64_MAX - SETTLE_GRAIN && self->earliest + SETTLE_GRAIN <= now && !is_quiet(self);
}

/* Settles what is due, a portion of it: of each bandit some, and the next time from the bandit on where it ended. One
 * that is looked at counts, so that many of them take no longer than one. */
static ee_status settle_due(journal *self, int64_t now, ee_error *error)
{
    size_t left = SETTLE_PORTION, start = self->settle_from;
    self->earliest = INT64_MAX;
    for (size_t i = 0; i < self->count; i++) {
        size_t place = (start + i) % self->count, settled;
        kept_bandit *kept = find_bandit(self, (uint32_t)place);
        if (!kept) continue;
        if (kept->joined.deadline <= now && left) {
            touch(self, kept);
            size_t most = left < SETTLE_EACH ? left : SETTLE_EACH;
            ee_status status = joining_settle(self->store, &kept->joined, now, most, &settled, &self->working, error);
            if (status) return status;
            left -= settled ? settled : 1;
            self->settle_from = place + 1;
        }
        if (kept->joined.deadline < self->earliest) self->earliest = kept->joined.deadline;
    }
    return EE_OK;
}

/* Something that has to reach the disk, to see whether it can. */
static ee_status write_probe(journal *self, ee_error *error)
{
    for (size_t i = 1; i < self->count; i++) {
        if (!self->bandits[i]) continue;
        const joined_bandit *joined = &self->bandits[i]->joined;
        stored_bandit same = {.number = joined->number, .archived = joined->archived, .settled_to = joined->settled_to};
        return store_put_bandit(self->store, &same, error);
    }
    return EE_OK;
}

static double seconds_since(int64_t start)
{
    return (double)(server_clock_real() - start) / 1e6;
}

/* ---- telling what became of it ---- */

typedef struct telling {
    journal_entry *entry;
    bool told;
} telling;

static ee_status tell_earlier(void *context, const event *found, ee_error *error)
{
    telling *self = context;
    (void)error;
    self->entry->earlier = found;
    self->told = true;
    self->entry->done(self->entry);
    return EE_OK;
}

static void tell(journal *self, journal_entry *entry)
{
    if (entry->verdict == JOURNAL_REPEATED && entry->event.kind == EVENT_DECISION) {
        telling once = {.entry = entry};
        ee_error error;
        ee_status status =
            store_read_one(self->reader, entry->bandit, entry->event.number, tell_earlier, &once, &error);
        if (once.told) return;
        entry->verdict = JOURNAL_FAILED;
        status_fail(&entry->error, status, "%s", error.message);
    }
    entry->done(entry);
}

static void tell_all(journal *self, journal_entry *first, const ee_error *failure)
{
    for (journal_entry *entry = first, *next; entry; entry = next) {
        next = entry->next;
        if (failure) {
            entry->verdict = JOURNAL_FAILED;
            entry->error = *failure;
            if (entry->event.kind == EVENT_SETTINGS && entry->event.number == 1) entry->bandit = 0; /* not made */
        }
        tell(self, entry);
    }
}

/* ---- one transaction ---- */

static ee_status write_all(journal *self, journal_entry *first, ee_error *error)
{
    int64_t now = journal_time(self);
    ee_status status = store_begin(self->store, error);
    if (status) return status;
    for (journal_entry *entry = first; entry && !status; entry = entry->next)
        status = write_entry(self, entry, now, error);
    if (!status && is_due(self, now)) status = settle_due(self, now, error);
    if (!status && !self->working.writable) status = write_probe(self, error);
    if (status) store_rollback(self->store);
    return status;
}

/* Commits, and takes the time of it. */
static ee_status commit(journal *self, size_t entries, ee_error *error)
{
    int64_t start = server_clock_real();
    ee_status status = store_commit(self->store, error);
    if (status) return status;
    double seconds = seconds_since(start);
    self->working.transactions++;
    self->working.sync_seconds += seconds;
    if (self->options.synced) self->options.synced(self->options.context, seconds, entries);
    return EE_OK;
}

/* What was counted becomes known, or is taken back. */
static void publish(journal *self, bool written, size_t entries, size_t bytes)
{
    pthread_mutex_lock(&self->lock);
    if (!written) {
        self->working = self->counts;
        self->working.failures++;
    }
    self->working.writable = written;
    self->counts = self->working;
    self->waiting_entries -= entries;
    self->waiting_bytes -= bytes;
    pthread_mutex_unlock(&self->lock);
    self->quiet_until = written ? 0 : server_clock_real() + RETRY_PAUSE;
}

static void write_group(journal *self)
{
    size_t count, bytes;
    journal_entry *first = take_group(self, &count, &bytes);
    ee_error error = {0};
    int64_t earliest = self->earliest;
    ee_status status = write_all(self, first, &error);
    if (!status) status = commit(self, count, &error);
    if (status) self->earliest = earliest;
    publish(self, !status, count, bytes);
    tell_all(self, first, status ? &error : NULL);
    release_touched(self, !status);
}

/* ---- removing what is old ---- */

void journal_forget_before(journal *self, uint32_t bandit, int64_t before)
{
    removal *wanted;
    if (memory_create(NULL, &wanted, 1, sizeof *wanted, NULL)) return;
    wanted->bandit = bandit;
    wanted->before = before;
    pthread_mutex_lock(&self->lock);
    wanted->next = self->removals;
    self->removals = wanted;
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->lock);
}

static ee_status start_after_checkpoint(void *context, const event *found, ee_error *error)
{
    removal *self = context;
    checkpoint_body body;
    ee_status status = checkpoint_body_read(found->body, found->size, &body, error);
    if (status) return status;
    self->scanned = body.upto;
    self->keep_from = body.upto + 1;
    return EE_OK;
}

/* What was settled after the checkpoint may be learned by the record of a decision before it. */
static ee_status keep_settled(void *context, const event *found, ee_error *error)
{
    removal *self = context;
    (void)error;
    if (found->decision < self->keep_from) self->keep_from = found->decision;
    return EE_OK;
}

/* Looks for what a restart from the last checkpoint needs, a portion at a time. */
static ee_status scan_portion(journal *self, removal *wanted, bool *more, ee_error *error)
{
    kept_bandit *kept = find_bandit(self, wanted->bandit);
    uint64_t checkpoint = 0, last;
    ee_status status = EE_OK;
    *more = false;
    if (!kept) return EE_OK;
    if (!wanted->keep_from) {
        status = store_last(self->reader, wanted->bandit, EVENT_CHECKPOINT, INT64_MAX, &checkpoint, error);
        if (status || !checkpoint) return status;
        status = store_read_one(self->reader, wanted->bandit, checkpoint, start_after_checkpoint, wanted, error);
    }
    if (!status)
        status = store_read(self->reader, wanted->bandit, wanted->scanned, 1u << EVENT_SETTLED, SCAN_PORTION,
                            keep_settled, wanted, &last, error);
    if (status) return status;
    wanted->is_scanned = last <= wanted->scanned;
    wanted->scanned = last;
    if (wanted->is_scanned && wanted->keep_from > kept->joined.settled_to)
        wanted->keep_from = kept->joined.settled_to + 1;
    *more = true;
    return EE_OK;
}

static ee_status remove_portion(journal *self, const removal *wanted, bool *more, ee_error *error)
{
    ee_status status = store_begin(self->store, error);
    if (status) return status;
    status = store_remove(self->store, wanted->bandit, wanted->before, wanted->keep_from, REMOVE_PORTION, more, error);
    if (!status) return commit(self, 0, error);
    store_rollback(self->store);
    return status;
}

static void drop_removal(journal *self, removal *which)
{
    pthread_mutex_lock(&self->lock);
    removal **place = &self->removals;
    while (*place != which) place = &(*place)->next;
    *place = which->next;
    pthread_mutex_unlock(&self->lock);
    memory_free(which);
}

static void remove_some(journal *self)
{
    pthread_mutex_lock(&self->lock);
    removal *wanted = self->removals;
    pthread_mutex_unlock(&self->lock);
    if (!wanted) return;
    bool more = false, removing = wanted->is_scanned;
    ee_error error;
    ee_status status =
        removing ? remove_portion(self, wanted, &more, &error) : scan_portion(self, wanted, &more, &error);
    if (removing) publish(self, !status, 0, 0);
    if (status || !more) drop_removal(self, wanted);
}

/* ---- the writer ---- */

/* Microseconds to the next thing that nobody hands in; 0: it is due. */
static int64_t pause_of(journal *self)
{
    int64_t real = server_clock_real();
    if (self->quiet_until) return self->quiet_until > real ? self->quiet_until - real : 0;
    int64_t now = journal_time(self), longest = self->options.clock ? SETTLE_GRAIN : LONGEST_PAUSE;
    if (is_due(self, now)) return 0;
    if (self->earliest >= INT64_MAX - SETTLE_GRAIN) return longest;
    int64_t pause = self->earliest + SETTLE_GRAIN - now;
    return pause < longest ? pause : longest;
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
    pthread_mutex_lock(&self->lock);
    if (pause && !self->incoming.first && !self->removals && !self->stopping) wait_for(self, pause);
    journal_entry *first = self->incoming.first;
    self->incoming = (entry_list){0};
    bool over = self->stopping && !first && !self->turns;
    pthread_mutex_unlock(&self->lock);
    distribute(self, first);
    return !over;
}

static void *run(void *context)
{
    journal *self = context;
    while (gather(self)) {
        if (self->turns || pause_of(self) == 0) write_group(self);
        remove_some(self);
    }
    return NULL;
}

/* ---- beginning and end ---- */

static ee_status take_bandit(void *context, const stored_bandit *stored, ee_error *error)
{
    journal *self = context;
    bandit_settings settings = bandit_settings_usual();
    ee_status status = bandit_settings_read(&settings, stored->settings.bytes, stored->settings.length, false, error);
    joined_bandit joined = {.number = stored->number,
                            .events = stored->events,
                            .time = stored->time,
                            .news = stored->events,
                            .settled_to = stored->settled_to,
                            .archived = stored->archived,
                            .rules = settings.joining};
    if (stored->time > self->clock.time) self->clock.time = stored->time;
    return status ? status : keep_bandit(self, &joined, NULL, error);
}

static ee_status prepare(journal *self, ee_error *error)
{
    ee_status status = store_reader_create(self->store, &self->reader, error);
    if (!status) status = keep_bandit(self, &(joined_bandit){0}, NULL, error);
    if (!status) status = store_each_bandit(self->reader, take_bandit, self, error);
    if (!self->options.clock)
        self->clock = server_clock_start(self->clock.time, server_clock_wall(), server_clock_real());
    return status;
}

static void free_journal(journal *self)
{
    for (removal *wanted = self->removals, *next; wanted; wanted = next) {
        next = wanted->next;
        memory_free(wanted);
    }
    store_reader_free(self->reader);
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
    if (!self->options.most_bytes) self->options.most_bytes = (size_t)256 << 20;
    self->counts.writable = self->working.writable = true;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_init(&self->clock_lock, NULL);
    status = prepare(self, error);
    if (!status && pthread_create(&self->thread, NULL, run, self))
        status = status_fail(error, EE_NO_MEMORY, "journal: the system has no thread for it");
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
