/* The entries that wait, of each bandit in turn; and what is known of the bandits after a transaction. */
#include "journal_parts.h"

enum {
    GROUP_ENTRIES = 512,   /* of one transaction, at most: it takes some milliseconds */
    GROUP_BYTES = 4 << 20, /* the same; one entry may be more */
    TURN_ENTRIES = 16      /* that one bandit has before it is another's turn */
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

journal_entry *journal_take_group(journal *self, size_t *count, size_t *bytes)
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

/* ---- after a transaction ---- */

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

void journal_note_group(journal *self, const store_group *group, size_t entries, bool all)
{
    add_counts(&self->working, &group->counts);
    self->working.transactions++;
    self->working.sync_seconds += group->sync_seconds;
    if (self->options.synced) self->options.synced(self->options.context, group->sync_seconds, entries);
    update_earliest(self, group, all);
}

void journal_report_touched(journal *self, const store_group *group)
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
