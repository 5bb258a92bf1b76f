/* Entries go to the spool while the database is away, and from there to the database. */
#include "journal_parts.h"

enum {
    DELIVERED_GROUPS = 4, /* for each group that comes: so the spool becomes empty under load, too */
    /* A try that takes long, such as connecting, keeps entries waiting: the pause after it is PAUSE_SHARE times as
     * long, but at most MOST_PAUSE microseconds. */
    PAUSE_SHARE = 4,
    MOST_PAUSE = 5000000
};

/* ---- its state ---- */

static bool is_failing(const journal *self)
{
    return self->failing_since < INT64_MAX;
}

/* Whether the database has been away for too long. */
static bool is_over(const journal *self)
{
    return is_failing(self) &&
           (double)(journal_elapsed_now(self) - self->failing_since) * 1e-6 >= self->options.spool_seconds;
}

static bool is_quiet(const journal *self)
{
    return self->quiet_until && server_clock_real() < self->quiet_until;
}

bool journal_is_spooling(const journal *self)
{
    if (!self->spool) return false;
    if (spool_count(self->spool)) return true;
    return is_failing(self) && !is_over(self) && (self->turns || is_quiet(self));
}

/* Makes the state known. entries, bytes: those that no longer wait. */
static void show(journal *self, size_t entries, size_t bytes)
{
    if (!self->spool) return;
    self->working.spooled = spool_count(self->spool);
    self->working.spooling = !self->foreign && (is_failing(self) || self->working.spooled);
    int64_t seconds = (int64_t)(self->options.spool_seconds * 1e6);
    pthread_mutex_lock(&self->lock);
    self->shown_until = is_failing(self) ? self->failing_since + seconds : INT64_MAX;
    pthread_mutex_unlock(&self->lock);
    journal_publish_counts(self, entries, bytes);
}

void journal_note_failure(journal *self, const ee_error *error, int64_t start)
{
    if (!self->spool) return;
    int64_t now = server_clock_real(), pause = PAUSE_SHARE * (now - start);
    if (!is_failing(self)) self->failing_since = journal_elapsed_now(self);
    self->failure = *error;
    self->position_known = false;
    if (pause > MOST_PAUSE) pause = MOST_PAUSE;
    self->quiet_until = now + (pause > RETRY_PAUSE ? pause : RETRY_PAUSE);
    show(self, 0, 0);
}

void journal_note_success(journal *self)
{
    self->failing_since = INT64_MAX;
    self->foreign = 0;
    if (!self->spool) return;
    self->working.spooled = spool_count(self->spool);
    self->working.spooling = self->working.spooled > 0;
    pthread_mutex_lock(&self->lock);
    self->shown_until = INT64_MAX;
    pthread_mutex_unlock(&self->lock);
}

/* ---- opening ---- */

static ee_status learn_position(journal *self, ee_error *error)
{
    uint64_t position = 0;
    if (self->position_known || !spool_count(self->spool)) return EE_OK;
    ee_status status = store_spool_position(self->store, spool_name(self->spool), &position, error);
    if (status) return status;
    spool_delivered(self->spool, position);
    self->position_known = true;
    return EE_OK;
}

static const double SPOOL_PATIENCE = 1; /* seconds */

ee_status journal_open_spool(journal *self, int64_t *last, ee_error *error)
{
    const char *folder = self->options.spool_folder;
    if (!folder || (self->options.spool_seconds <= 0 && !spool_exists(folder))) return EE_OK;
    if (!store_is_database(self->store))
        return status_fail(error, EE_BAD_OPTION, "journal: only a store that is a database can have a spool");
    ee_status status = spool_open(folder, &self->spool, error);
    if (!status && self->options.spool_owner) status = spool_claim(self->spool, self->options.spool_owner, error);
    if (status) return status;
    /* It waits for the standby: without one, delivery asks again. */
    learn_position(self, NULL);
    store_set_patience(self->store, SPOOL_PATIENCE); /* requests wait meanwhile, and the spool is there for them */
    if (spool_time(self->spool) > *last) *last = spool_time(self->spool);
    self->position_known = false; /* a delivery of the process before may be committing */
    show(self, 0, 0);
    return EE_OK;
}

/* ---- entries that come ---- */

static bool refuse(journal_entry *entry, entry_verdict verdict, ee_status status, const char *message)
{
    entry->verdict = verdict;
    status_fail(&entry->error, status, "%s", message);
    return true;
}

/* As joining refuses it. */
static bool refuse_of_bandit(journal *self, journal_entry *entry)
{
    const bandit_state *state = store_bandit_state(self->store, entry->bandit);
    if (!state || state->purged) return refuse(entry, ENTRY_FAILED, EE_BAD_INPUT, "bandit: there is no such bandit");
    if (!state->owned)
        return refuse(entry, ENTRY_MOVED, EE_FILE_ERROR, "store: another server owns the bandit; try again");
    if (!state->archived) return false;
    return refuse(entry, ENTRY_FAILED, EE_BAD_INPUT, "bandit: it is archived; restore it first");
}

static bool refuse_entry(journal *self, journal_entry *entry)
{
    bool taken = spool_takes(entry->event.kind);
    if (taken && refuse_of_bandit(self, entry)) return true;
    if (is_failing(self) && (!taken || is_over(self)))
        return refuse(entry, ENTRY_FAILED, EE_FILE_ERROR, self->failure.message);
    if (!taken)
        return refuse(entry, ENTRY_FAILED, EE_FILE_ERROR,
                      "journal: events of the spool are being delivered to the store; try again");
    if (!self->foreign) return false;
    return refuse(entry, ENTRY_FAILED, EE_FILE_ERROR,
                  "journal: the spool has events of a bandit that another server owns; try again");
}

/* The last of those that are written together with this one. */
static journal_entry *last_together(journal_entry *first)
{
    while (first->with_next && first->next) first = first->next;
    return first;
}

static bool is_cut_round(const journal_entry *first, const journal_entry *last)
{
    size_t count = 0;
    for (const journal_entry *entry = first;; entry = entry->next, count++) {
        if (entry->slot_count != first->slot_count || (entry->slot_count && entry->slot_index != count)) return true;
        if (entry == last) break;
    }
    return first->slot_count && first->slot_count != count + 1;
}

/* Those that are written together are refused together. */
static bool refuse_together(journal *self, journal_entry *first, journal_entry *last)
{
    bool refused = false;
    for (journal_entry *entry = first; !refused; entry = entry->next) {
        refused = refuse_entry(self, entry);
        if (refused && entry != first) {
            first->verdict = entry->verdict;
            first->error = entry->error;
        }
        if (entry == last) break;
    }
    if (!refused && first->event.kind == EVENT_DECISION && is_cut_round(first, last))
        refused = refuse(first, ENTRY_FAILED, EE_BAD_INPUT, "journal: a round with slots is submitted as a whole");
    for (journal_entry *entry = first; refused && entry != last;) {
        entry = entry->next;
        entry->verdict = first->verdict;
        entry->error = first->error;
    }
    return refused;
}

static void count_known(journal *self, const journal_entry *first)
{
    for (const journal_entry *entry = first; entry; entry = entry->next) {
        self->working.repeated_decisions += entry->verdict == ENTRY_REPEATED;
        self->working.conflicts += entry->verdict == ENTRY_CONFLICT;
    }
}

/* Writes to the spool what it can take, and sets all verdicts. Returns the chain, which has another order. */
static journal_entry *spool_entries(journal *self, journal_entry *first)
{
    entry_list taken = {0}, refused = {0};
    ee_error error = {0};
    for (journal_entry *entry = first, *next; entry; entry = next) {
        journal_entry *last = last_together(entry);
        next = last->next;
        last->next = NULL;
        entry_list_add(refuse_together(self, entry, last) ? &refused : &taken, entry, last);
    }
    if (!taken.first) return refused.first;
    if (spool_append(self->spool, taken.first, journal_time(self), &error))
        for (journal_entry *entry = taken.first; entry; entry = entry->next)
            refuse(entry, ENTRY_FAILED, EE_FILE_ERROR, error.message);
    else
        count_known(self, taken.first);
    taken.last->next = refused.first;
    return taken.first;
}

bool journal_spool_failed(journal *self, store_group *group)
{
    if (!self->spool || !group->first || group->in_doubt || is_over(self)) return false;
    group->first = spool_entries(self, group->first);
    show(self, 0, 0);
    return true;
}

void journal_finish_spooled(journal *self, journal_entry *first)
{
    for (journal_entry *entry = first, *next; entry; entry = next) {
        ee_error error = {0};
        next = entry->next;
        if (entry->verdict == ENTRY_REPEATED &&
            spool_earlier(self->spool, entry->event.number, &entry->earlier, &error))
            refuse(entry, ENTRY_FAILED, error.status, error.message);
        entry->done(entry);
    }
}

/* ---- delivering ---- */

/* Prepares entries of the spool for the store. *now: a time that is not before the last event of their bandits.
 * Returns a bandit that another process owns; 0: there is none. */
static uint32_t prepare(journal *self, const spool_batch *batch, int64_t *now)
{
    *now = batch->time;
    for (journal_entry *entry = batch->first; entry; entry = entry->next) {
        const bandit_state *state = store_bandit_state(self->store, entry->bandit);
        bool is_gone = state && state->purged; /* no owner is needed: the store refuses the entry */
        if (!is_gone && (!state || !state->owned)) return entry->bandit;
        if (state->time > *now) *now = state->time;
        entry->generated_id = false; /* the id is known if the entry was written before, and that was not noticed */
    }
    return 0;
}

static bool is_listed(const journal *self, uint32_t bandit)
{
    for (size_t i = 0; i < self->needed_count; i++)
        if (self->needed[i] == bandit) return true;
    return false;
}

/* Lists the bandits of a batch, each once. */
static void list_bandits(journal *self, const spool_batch *batch)
{
    self->needed_count = 0;
    for (const journal_entry *entry = batch->first; entry; entry = entry->next) {
        if (is_listed(self, entry->bandit)) continue;
        if (memory_grow(&self->memory, &self->needed, &self->needed_capacity, self->needed_count + 1,
                        sizeof *self->needed, NULL))
            return; /* it is tried again */
        self->needed[self->needed_count++] = entry->bandit;
    }
}

/* Removes bandits from the list that were removed for good: they have no owner. */
static void skip_purged(journal *self)
{
    size_t kept = 0;
    bool answers = true; /* else the store is asked again with the next try */
    for (size_t i = 0; i < self->needed_count; i++) {
        uint32_t bandit = self->needed[i];
        const bandit_state *state = store_bandit_state(self->store, bandit);
        if (answers && (!state || !state->owned)) answers = !store_note_purged(self->store, bandit, NULL);
        state = store_bandit_state(self->store, bandit);
        if (!state || !state->purged) self->needed[kept++] = bandit;
    }
    self->needed_count = kept;
    journal_add_queues(self, NULL);
}

static void await_owner(journal *self, const spool_batch *batch, uint32_t bandit)
{
    self->foreign = bandit;
    self->position_known = false; /* a delivery may have been committing until the bandit is owned */
    self->quiet_until = server_clock_real() + RETRY_PAUSE;
    show(self, 0, 0);
    list_bandits(self, batch);
    skip_purged(self);
    if (self->options.needs && self->needed_count)
        self->options.needs(self->options.context, self->needed, self->needed_count);
}

static void fail_delivery(journal *self, const ee_error *error, int64_t start)
{
    journal_publish(self, false, 0, 0);
    journal_note_failure(self, error, start);
}

static uint64_t count_refused(const journal_entry *first)
{
    uint64_t count = 0;
    for (const journal_entry *entry = first; entry; entry = entry->next) count += entry->verdict == ENTRY_FAILED;
    return count;
}

/* Writes a group of the spool's entries to the store. false: not now. */
static bool deliver(journal *self, const spool_batch *batch)
{
    int64_t now, start = server_clock_real();
    ee_error error = {0};
    uint32_t foreign = prepare(self, batch, &now);
    store_group group = {.first = batch->first,
                         .now = now,
                         .spool = spool_name(self->spool),
                         .spool_before = batch->last - batch->count,
                         .spool_position = batch->last};
    ee_status status = foreign ? EE_OK : store_write(self->store, &group, &error);
    if (status) foreign = prepare(self, batch, &now); /* it may have lost one just now */
    if (foreign) {
        await_owner(self, batch, foreign);
        return false;
    }
    self->foreign = 0;
    if (status) {
        fail_delivery(self, &error, start);
        return false;
    }
    self->working.spool_dropped += count_refused(batch->first);
    size_t count = batch->count;
    spool_delivered(self->spool, batch->last);
    journal_note_group(self, &group, count, false);
    journal_note_success(self);
    journal_publish(self, true, 0, 0);
    journal_report_touched(self, &group);
    return true;
}

static void deliver_some(journal *self)
{
    for (int i = 0; i < DELIVERED_GROUPS; i++) {
        spool_batch batch = {0};
        ee_error error = {0};
        int64_t start = server_clock_real();
        ee_status status = learn_position(self, &error);
        if (!status) status = spool_read(self->spool, &batch, &error);
        if (status) fail_delivery(self, &error, start);
        if (status || !batch.count || !deliver(self, &batch)) break;
    }
    show(self, 0, 0);
}

void journal_spool_group(journal *self)
{
    size_t count, bytes;
    journal_entry *first = journal_take_group(self, &count, &bytes);
    if (first) first = spool_entries(self, first);
    show(self, count, bytes);
    journal_finish_spooled(self, first);
    if (!is_quiet(self) && spool_count(self->spool)) deliver_some(self);
}
