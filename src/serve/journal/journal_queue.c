/* Handing in entries, and what is known of the journal from outside. */
#define _POSIX_C_SOURCE 200809L
#include "journal_parts.h"
#include "serve/system/latch.h"

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

static void entry_done(journal_entry *entry)
{
    entry->earlier = NULL; /* only while done runs */
    latch_count_down(entry->context);
}

ee_status journal_write_together(journal *self, journal_entry *entries, size_t count, ee_error *error)
{
    latch written;
    latch_start(&written, count);
    for (size_t i = 0; i < count; i++) {
        entries[i].done = entry_done;
        entries[i].context = &written;
        entries[i].with_next = i + 1 < count;
        entries[i].next = i + 1 < count ? &entries[i + 1] : NULL;
    }
    bool taken = journal_submit(self, entries);
    if (!taken) written.left = 0;
    latch_wait(&written);
    if (!taken)
        return status_fail(error, EE_FILE_ERROR, "journal: too many entries are waiting to be written; try again");
    for (size_t i = 0; i < count; i++)
        if (entries[i].verdict == ENTRY_FAILED || entries[i].verdict == ENTRY_CONFLICT ||
            entries[i].verdict == ENTRY_MOVED)
            return status_fail(error, entries[i].error.status, "%s", entries[i].error.message);
    return EE_OK;
}

ee_status journal_write(journal *self, journal_entry *entry, ee_error *error)
{
    return journal_write_together(self, entry, 1, error);
}

journal_counts journal_read_counts(journal *self)
{
    pthread_mutex_lock(&self->lock);
    journal_counts counts = self->counts;
    counts.waiting_entries = self->waiting_entries;
    int64_t until = self->shown_until;
    pthread_mutex_unlock(&self->lock);
    if (!self->spool) return counts;
    int64_t left =
        until == INT64_MAX ? (int64_t)(self->options.spool_seconds * 1e6) : until - journal_elapsed_now(self);
    counts.spool_seconds_left = left > 0 ? (double)left * 1e-6 : 0;
    counts.spooling &= until == INT64_MAX || left > 0;
    return counts;
}

/* ---- what became of them ---- */

void journal_publish_counts(journal *self, size_t entries, size_t bytes)
{
    pthread_mutex_lock(&self->lock);
    self->counts = self->working;
    self->waiting_entries -= entries;
    self->waiting_bytes -= bytes;
    pthread_mutex_unlock(&self->lock);
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
