/* One transaction: the entries that it includes, the bandits whose decisions it settles, and the verdicts. */
#include "journal_parts.h"

enum {
    GROUP_ENTRIES = 512,   /* of one transaction, at most: it takes some milliseconds */
    GROUP_BYTES = 4 << 20, /* the same; one entry may be more */
    TURN_ENTRIES = 16,     /* that one bandit has before it is another's turn */
    SETTLE_EACH = 128,     /* of one bandit */
    SETTLE_GRAIN = 10000   /* microseconds: waits that end within so long are settled together */
};

/* ---- queues ---- */

ee_status journal_add_queues(journal *self, ee_error *error)
{
    size_t count = store_bandit_count(self->store) + 1;
    ee_status status =
        memory_grow(&self->memory, &self->queues, &self->queue_capacity, count, sizeof *self->queues, error);
    while (!status && self->queue_count < count) {
        bandit_queue *queue;
        status = memory_create(&self->memory, &queue, 1, sizeof *queue, error);
        if (!status) self->queues[self->queue_count++] = queue;
    }
    return status;
}

static void await_turn(journal *self, bandit_queue *queue)
{
    queue->next_turn = NULL;
    if (self->turns)
        self->last_turn->next_turn = queue;
    else
        self->turns = queue;
    self->last_turn = queue;
}

void journal_distribute(journal *self, journal_entry *first)
{
    for (journal_entry *entry = first, *next; entry; entry = next) {
        next = entry->next;
        entry->next = NULL;
        bandit_queue *queue = self->queues[entry->bandit < self->queue_count ? entry->bandit : 0];
        if (!queue->entries.first) await_turn(self, queue);
        entry_list_add(&queue->entries, entry, entry);
    }
}

/* The next group: of each bandit some in turn, until it is large enough. */
static journal_entry *take_group(journal *self, size_t *count, size_t *bytes)
{
    entry_list group = {0};
    *count = *bytes = 0;
    while (self->turns && *count < GROUP_ENTRIES && *bytes < GROUP_BYTES) {
        bandit_queue *queue = self->turns;
        self->turns = queue->next_turn;
        bool together = false;
        for (size_t i = 0; queue->entries.first && (together || (i < TURN_ENTRIES && *bytes < GROUP_BYTES)); i++) {
            journal_entry *entry = queue->entries.first;
            together = entry->with_next;
            queue->entries.first = entry->next;
            entry->next = NULL;
            entry_list_add(&group, entry, entry);
            *bytes += journal_entry_bytes(entry);
            ++*count;
        }
        if (queue->entries.first) await_turn(self, queue);
    }
    return group.first;
}

/* ---- decisions whose wait is over ---- */

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

/* Lists the bandits to settle, from the one on at which the last group ended. */
static void collect_due(journal *self, int64_t now)
{
    uint32_t count = (uint32_t)store_bandit_count(self->store);
    self->due_count = 0;
    for (uint32_t i = 0; i < count && self->due_count < SETTLE_PORTION; i++) {
        uint32_t number = (self->settle_from + i) % count + 1;
        if (store_bandit_state(self->store, number)->deadline <= now) self->due[self->due_count++] = number;
    }
}

/* When a wait ends next: looks at the bandits that the group touched, or at all of them. */
static void update_earliest(journal *self, const store_group *group, bool all)
{
    size_t count = all ? store_bandit_count(self->store) : group->touched_count;
    if (all) self->earliest = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = all ? (uint32_t)i + 1 : group->touched[i];
        int64_t deadline = store_bandit_state(self->store, number)->deadline;
        if (deadline < self->earliest) self->earliest = deadline;
    }
    if (group->due_done) self->settle_from = group->due[group->due_done - 1];
}

/* ---- what became of the entries ---- */

static void finish(journal *self, journal_entry *entry)
{
    ee_error error;
    if (entry->verdict == ENTRY_REPEATED && entry->event.kind == EVENT_DECISION &&
        store_read_one(self->reader, entry->bandit, entry->event.number, &entry->earlier, &error)) {
        entry->verdict = ENTRY_FAILED;
        entry->error = error;
    }
    entry->done(entry);
}

static void finish_all(journal *self, journal_entry *first)
{
    for (journal_entry *entry = first, *next; entry; entry = next) {
        next = entry->next;
        finish(self, entry);
    }
}

/* Reports what is new of the bandits. */
static void report_touched(journal *self, const store_group *group)
{
    journal_add_queues(self, NULL); /* without one a bandit shares the first, and news are reported once more */
    for (size_t i = 0; i < group->touched_count; i++) {
        uint32_t number = group->touched[i];
        const bandit_state *state = store_bandit_state(self->store, number);
        bandit_queue *queue = number < self->queue_count ? self->queues[number] : NULL;
        if (self->options.appended && (!queue || state->news > queue->news))
            self->options.appended(self->options.context, number, state->news);
        if (queue) queue->news = state->news;
        if (self->options.waits) self->options.waits(self->options.context, number, state->waiting, state->defaulted);
    }
}

void journal_note_states(journal *self)
{
    size_t count = store_bandit_count(self->store);
    self->working.waiting = 0;
    self->earliest = INT64_MAX;
    for (uint32_t number = 1; number <= count; number++) {
        const bandit_state *state = store_bandit_state(self->store, number);
        bandit_queue *queue = number < self->queue_count ? self->queues[number] : NULL;
        self->working.waiting += state->waiting;
        if (state->deadline < self->earliest) self->earliest = state->deadline;
        if (!queue || state->news <= queue->news) continue;
        queue->news = state->news;
        if (self->options.appended) self->options.appended(self->options.context, number, state->news);
        if (self->options.waits) self->options.waits(self->options.context, number, state->waiting, state->defaulted);
    }
    pthread_mutex_lock(&self->lock);
    self->counts = self->working;
    pthread_mutex_unlock(&self->lock);
}

/* ---- one transaction ---- */

static void add_counts(journal_counts *into, const store_counts *from)
{
    into->decisions += from->decisions;
    into->repeated_decisions += from->repeated_decisions;
    into->conflicts += from->conflicts;
    into->joined += from->joined;
    into->repeated += from->repeated;
    into->late += from->late;
    into->unknown += from->unknown;
    into->claimed += from->claimed;
    into->defaulted += from->defaulted;
    into->abandoned += from->abandoned;
    into->activated += from->activated;
    into->inactive += from->inactive;
    into->waiting += (uint64_t)from->waiting;
}

static void note_written(journal *self, const store_group *group, const stored_clock *clock, size_t entries)
{
    add_counts(&self->working, &group->counts);
    self->working.transactions++;
    self->working.sync_seconds += group->sync_seconds;
    if (self->options.synced) self->options.synced(self->options.context, group->sync_seconds, entries);
    self->written_clock = *clock;
    self->write_clock = false;
}

void journal_write_group(journal *self)
{
    size_t count, bytes;
    journal_entry *first = take_group(self, &count, &bytes);
    server_clock at = journal_clock(self);
    stored_clock clock = {at.time, at.ahead, at.in_doubt};
    bool due = !at.in_doubt && journal_due_in(self, &at) <= 0;
    self->due_count = 0;
    if (due) collect_due(self, at.time);
    store_group group = {.first = first,
                         .now = at.time,
                         .clock = is_other_clock(self, &at) ? &clock : NULL,
                         .due = self->due,
                         .due_count = self->due_count,
                         .settle_each = SETTLE_EACH,
                         .settle_total = SETTLE_PORTION,
                         .probe = !self->working.writable};
    bool written = store_write(self->store, &group, NULL) == EE_OK;
    if (written) note_written(self, &group, &clock, count);
    if (written) update_earliest(self, &group, due);
    journal_publish(self, written, count, bytes);
    finish_all(self, first);
    if (written) report_touched(self, &group);
}
