/* One transaction: the entries it includes, what each of them writes, the decisions it settles, and the verdicts. If it
 * fails, the state of the bandits in memory is unchanged. */
#include "journal_parts.h"

enum {
    GROUP_ENTRIES = 512,   /* of one transaction, at most: it takes some milliseconds */
    GROUP_BYTES = 4 << 20, /* the same; one entry may be more */
    TURN_ENTRIES = 16,     /* that one bandit has before it is another's turn */
    SETTLE_PORTION = 256,  /* decisions settled in one transaction */
    SETTLE_EACH = 128,     /* of one bandit */
    SETTLE_GRAIN = 10000,  /* microseconds: waits that end within so long are settled together */
    RETRY_PAUSE = 250000   /* microseconds after a failure, before it tries by itself */
};

/* ---- the bandits ---- */

ee_status journal_keep_bandit(journal *self, const joined_bandit *joined, kept_bandit **out, ee_error *error)
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

kept_bandit *journal_find_bandit(const journal *self, uint32_t number)
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
        if (written && self->options.waits)
            self->options.waits(self->options.context, number, kept->joined.waiting, kept->joined.defaulted);
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
    joined->deadline = now; /* the wait may have changed: check again */
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
    status = journal_keep_bandit(self, &joined, &kept, error);
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
    kept_bandit *kept = journal_find_bandit(self, entry->bandit);
    if (!kept) return refuse(entry, "bandit: there is no bandit with the number %u");
    touch(self, kept);
    if (kept->joined.archived &&
        (kind == EVENT_DECISION || kind == EVENT_REWARD || kind == EVENT_ACTIVATED || kind == EVENT_MODEL))
        return refuse(entry, "bandit: number %u is archived; restore it first");
    switch (kind) {
    case EVENT_DECISION:
        return joining_decision(self->store, &kept->joined, entry, now, &self->working, error);
    case EVENT_REWARD:
        return joining_reward(self->store, &kept->joined, entry, now, &self->working, error);
    case EVENT_ACTIVATED:
        return joining_activation(self->store, &kept->joined, entry, now, &self->working, error);
    case EVENT_SETTINGS:
        return write_settings(self, kept, entry, now, error);
    case EVENT_STEP:
    case EVENT_CHECKPOINT:
    case EVENT_MODEL:
    case EVENT_PROMOTION:
        return joining_append(self->store, &kept->joined, &entry->event, now, error);
    case EVENT_SETTLED:
        break;
    }
    return refuse(entry, "journal: bandit %u: only the journal settles decisions");
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

void journal_distribute(journal *self, journal_entry *first)
{
    for (journal_entry *entry = first, *next; entry; entry = next) {
        next = entry->next;
        entry->next = NULL;
        kept_bandit *kept = journal_find_bandit(self, entry->bandit);
        if (!kept) kept = self->bandits[0];
        if (!kept->entries.first) await_turn(self, kept);
        entry_list_add(&kept->entries, entry, entry);
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
        bool together = false;
        for (size_t i = 0; kept->entries.first && (together || (i < TURN_ENTRIES && *bytes < GROUP_BYTES)); i++) {
            journal_entry *entry = kept->entries.first;
            together = entry->with_next;
            kept->entries.first = entry->next;
            entry->next = NULL;
            entry_list_add(&group, entry, entry);
            *bytes += journal_entry_bytes(entry);
            ++*count;
        }
        if (kept->entries.first) await_turn(self, kept);
    }
    return group.first;
}

/* Whether the store has another state of the clock than this. */
static bool is_other_clock(const journal *self, const server_clock *now)
{
    const stored_clock *written = &self->written_clock;
    return self->write_clock || now->ahead != written->ahead || now->in_doubt != written->in_doubt;
}

int64_t journal_due_in(const journal *self, const server_clock *clock)
{
    if (self->quiet_until) return self->quiet_until - server_clock_real();
    if (is_other_clock(self, clock)) return 0;
    if (clock->in_doubt) return INT64_MAX;
    return self->earliest < INT64_MAX - SETTLE_GRAIN ? self->earliest + SETTLE_GRAIN - clock->time : INT64_MAX;
}

/* Settles what is due, a portion of it: of each bandit some, and the next time from the bandit on where it ended. One
 * that is looked at counts, so that many of them take no longer than one. */
static ee_status settle_due(journal *self, int64_t now, ee_error *error)
{
    size_t left = SETTLE_PORTION, start = self->settle_from;
    self->earliest = INT64_MAX;
    for (size_t i = 0; i < self->count; i++) {
        size_t place = (start + i) % self->count, settled;
        kept_bandit *kept = journal_find_bandit(self, (uint32_t)place);
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

/* Something that has to reach the disk, to see whether it can. What is written as it was does not: so it is changed,
 * and changed back. */
static ee_status write_probe(journal *self, ee_error *error)
{
    size_t i = 1;
    while (i < self->count && !self->bandits[i]) i++;
    if (i == self->count) return EE_OK;
    const joined_bandit *joined = &self->bandits[i]->joined;
    stored_bandit same = {.number = joined->number, .archived = joined->archived, .settled_to = joined->settled_to};
    stored_bandit other = same;
    other.archived = !same.archived;
    ee_status status = store_put_bandit(self->store, &other, error);
    return status ? status : store_put_bandit(self->store, &same, error);
}

/* ---- telling what became of it ---- */

static void tell(journal *self, journal_entry *entry)
{
    if (entry->verdict == JOURNAL_REPEATED && entry->event.kind == EVENT_DECISION) {
        ee_error error;
        if (store_read_one(self->reader, entry->bandit, entry->event.number, &entry->earlier, &error)) {
            entry->verdict = JOURNAL_FAILED;
            entry->error = error;
        }
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

/* Writes an entry, unless the one before it, with which it belongs together, was not. */
static ee_status write_after(journal *self, const journal_entry *before, journal_entry *entry, int64_t now,
                             ee_error *error)
{
    bool together = before && before->with_next;
    bool refused = together && (before->verdict == JOURNAL_CONFLICT || before->verdict == JOURNAL_FAILED);
    if (!refused && together && entry->slot_index > 0) return EE_OK;
    if (!refused) return write_entry(self, entry, now, error);
    entry->verdict = before->verdict;
    entry->error = before->error;
    return EE_OK;
}

/* A change of the clock is written before the first event that has it, in the same transaction. */
static ee_status write_all(journal *self, journal_entry *first, stored_clock *clock, ee_error *error)
{
    server_clock at = journal_clock(self);
    *clock = (stored_clock){at.time, at.ahead, at.in_doubt};
    ee_status status = store_begin(self->store, error);
    if (status) return status;
    if (is_other_clock(self, &at)) status = store_put_clock(self->store, clock, error);
    for (journal_entry *entry = first, *before = NULL; entry && !status; before = entry, entry = entry->next)
        status = write_after(self, before, entry, at.time, error);
    if (!status && !at.in_doubt && journal_due_in(self, &at) <= 0) status = settle_due(self, at.time, error);
    if (!status && !self->working.writable) status = write_probe(self, error);
    if (status) store_rollback(self->store);
    return status;
}

ee_status journal_commit(journal *self, size_t entries, ee_error *error)
{
    int64_t start = server_clock_real();
    ee_status status = store_commit(self->store, error);
    if (status) return status;
    double seconds = (double)(server_clock_real() - start) / 1e6;
    self->working.transactions++;
    self->working.sync_seconds += seconds;
    if (self->options.synced) self->options.synced(self->options.context, seconds, entries);
    return EE_OK;
}

void journal_publish(journal *self, bool written, size_t entries, size_t bytes)
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

void journal_write_group(journal *self)
{
    size_t count, bytes;
    journal_entry *first = take_group(self, &count, &bytes);
    ee_error error = {0};
    int64_t earliest = self->earliest;
    stored_clock clock;
    ee_status status = write_all(self, first, &clock, &error);
    if (!status) status = journal_commit(self, count, &error);
    if (status) {
        self->earliest = earliest;
    } else {
        self->written_clock = clock;
        self->write_clock = false;
    }
    journal_publish(self, !status, count, bytes);
    tell_all(self, first, status ? &error : NULL);
    release_touched(self, !status);
}
