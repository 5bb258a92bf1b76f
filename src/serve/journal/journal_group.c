/* One transaction: the entries that it includes, the bandits whose decisions it settles, and the verdicts. */
#include "journal_parts.h"

enum {
    SETTLE_EACH = 128,   /* of one bandit */
    SETTLE_GRAIN = 10000 /* microseconds: waits that end within so long are settled together */
};

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
    if (self->spool && spool_count(self->spool)) return 0;
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

/* ---- what became of the entries ---- */

static void finish(journal *self, journal_entry *entry)
{
    ee_error error;
    if (entry->verdict == ENTRY_REPEATED && entry->event.kind == EVENT_DECISION &&
        store_read_one(self->reader, entry->bandit, entry->event.number, &entry->earlier, &error)) {
        entry->verdict = ENTRY_FAILED;
        entry->error = error;
        entry->error.status = EE_FILE_ERROR; /* it is there: the request can be repeated */
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

/* ---- one transaction ---- */

static void write_group(journal *self)
{
    size_t count, bytes;
    journal_entry *first = journal_take_group(self, &count, &bytes);
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
    ee_error error = {0};
    int64_t start = server_clock_real();
    if (store_write(self->store, &group, &error)) {
        bool away = error.status == EE_FILE_ERROR;
        journal_publish(self, false, count, bytes);
        if (away) journal_note_failure(self, &error, start);
        if (away && journal_spool_failed(self, &group))
            journal_finish_spooled(self, group.first);
        else
            finish_all(self, first);
        return;
    }
    self->written_clock = clock;
    self->write_clock = false;
    journal_note_group(self, &group, count, due);
    journal_note_success(self);
    journal_publish(self, true, count, bytes);
    journal_report_touched(self, &group); /* first: after a response, its event is counted */
    finish_all(self, first);
}

void journal_write_group(journal *self)
{
    if (journal_is_spooling(self))
        journal_spool_group(self);
    else
        write_group(self);
}
