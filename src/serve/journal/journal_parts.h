/* The journal from inside. journal.c hands in, waits and begins and ends; journal_group.c writes a transaction;
 * journal_removal.c removes what is old. */
#ifndef EENET_JOURNAL_PARTS_H
#define EENET_JOURNAL_PARTS_H

#include <pthread.h>

#include "joining.h"
#include "serve/system/server_clock.h"

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
    store_reader *reader; /* the writer's, like the batch */
    event_batch batch;
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

    stored_clock written_clock; /* the writer's: the state that the store has */
    bool write_clock;           /* the writer's: write it, even if it is the same */

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

/* Adds a chain at the end. */
void entry_list_add(entry_list *list, journal_entry *first, journal_entry *last);
size_t journal_entry_bytes(const journal_entry *entry);

/* ---- journal_group.c: in the writer's thread ---- */

ee_status journal_keep_bandit(journal *self, const joined_bandit *joined, kept_bandit **out, ee_error *error);

/* NULL where there is none of this number, or it is 0. */
kept_bandit *journal_find_bandit(const journal *self, uint32_t number);

/* Sorts what was handed in by bandit. */
void journal_distribute(journal *self, journal_entry *first);

/* Writes a group of those, settles what is due, and tells what became of them. */
void journal_write_group(journal *self);

/* Microseconds until the journal has something to write without a new entry: decisions to settle, a change of the
 * clock, or a retry after a failure. INT64_MAX: nothing. */
int64_t journal_due_in(const journal *self, const server_clock *clock);

/* Commits, and takes the time of it. */
ee_status journal_commit(journal *self, size_t entries, ee_error *error);

/* What was counted becomes known, or is taken back. entries, bytes: those that no longer wait. */
void journal_publish(journal *self, bool written, size_t entries, size_t bytes);

/* ---- journal_removal.c ---- */

/* Goes on with what is to be removed: a portion of it. In the writer's thread. */
void journal_remove_some(journal *self);
void journal_free_removals(journal *self);

#endif
