/* Handing in entries, and what is known of the journal from outside. */
#define _POSIX_C_SOURCE 200809L
#include "journal_parts.h"

enum { RETRY_PAUSE = 250000 }; /* microseconds after a failure, before it tries without a new entry */

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
    if (entry->verdict != ENTRY_FAILED && entry->verdict != ENTRY_CONFLICT) return EE_OK;
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

/* ---- what became of them ---- */

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
