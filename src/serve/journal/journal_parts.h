/* The journal from inside. From the bottom: journal_clock.c has the time; journal_queue.c hands in entries;
 * journal_turns.c sorts them by bandit; journal_group.c writes a transaction; journal_spool.c writes to the spool and
 * delivers from it; journal_removal.c removes old events; journal_tasks.c runs other changes; journal.c runs all of
 * them in its thread. */
#ifndef EENET_JOURNAL_PARTS_H
#define EENET_JOURNAL_PARTS_H

#include <pthread.h>

#include "journal.h"
#include "serve/system/server_clock.h"
#include "spool.h"

enum {
    SETTLE_PORTION = 256, /* decisions settled in one transaction */
    RETRY_PAUSE = 250000  /* microseconds after a failure, before it tries without a new entry */
};

typedef struct entry_list {
    journal_entry *first, *last;
} entry_list;

/* The entries of a bandit that wait to be written. */
typedef struct bandit_queue {
    entry_list entries;
    struct bandit_queue *next_turn; /* among those that have some */
    uint64_t news;                  /* the last event that `appended` reported */
} bandit_queue;

/* Events to remove. */
typedef struct removal {
    uint32_t bandit;
    int64_t before;
    uint64_t keep_from; /* the first event that a restart needs; 0: not looked for yet */
    uint64_t scanned;   /* it was looked for up to this event */
    bool is_scanned;
    struct removal *next;
} removal;

/* A function to run: journal_run. */
typedef struct journal_task {
    journal_function *function;
    void *context;
    bool done;
    ee_error error;
    struct journal_task *next;
} journal_task;

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
    journal_task *tasks; /* the first to run first */
    pthread_cond_t task_done;
    size_t waiting_entries, waiting_bytes;
    bool stopping;
    journal_counts counts;
    int64_t shown_until; /* the spool accepts entries: of journal_elapsed_now; INT64_MAX: the database is not away */

    pthread_mutex_t clock_lock; /* of what follows */
    server_clock clock;

    stored_clock written_clock; /* the writer's: the state that the store has */
    bool write_clock;           /* the writer's: write it, even if it is the same */

    /* The writer's alone. */
    bandit_queue **queues; /* (queue_count) by the bandit's number; the first for bandits that are new or unknown */
    size_t queue_count, queue_capacity;
    bandit_queue *turns, *last_turn; /* those with entries, in turn */
    uint32_t due[SETTLE_PORTION];    /* (due_count) bandits to settle in the next group */
    size_t due_count;
    uint32_t settle_from; /* the bandit to begin with */
    int64_t earliest;     /* deadline of all bandits, or before it */
    int64_t quiet_until;  /* after a failure, of the clock that never jumps */
    journal_counts working;
    spool *spool;          /* NULL: none */
    int64_t failing_since; /* of journal_elapsed_now; INT64_MAX: the last transaction succeeded */
    ee_error failure;      /* of the last one */
    uint32_t foreign;      /* the bandit of another process that delivery waits for; 0: none */
    bool position_known;   /* the spool knows what is delivered */
    uint32_t *needed;      /* (needed_count) bandits of the batch to deliver */
    size_t needed_count, needed_capacity;
};

/* ---- journal_clock.c ---- */

/* The two clocks of the system, or those of the test. */
int64_t journal_wall_now(const journal *self);
int64_t journal_elapsed_now(const journal *self);
/* Tests that move one clock and no other: log time is what it says. */
bool journal_has_one_clock(const journal *self);

/* ---- journal_queue.c ---- */

/* Adds a chain at the end. */
void entry_list_add(entry_list *list, journal_entry *first, journal_entry *last);
size_t journal_entry_bytes(const journal_entry *entry);

/* What was counted becomes known, or is taken back. entries, bytes: those that no longer wait. */
void journal_publish(journal *self, bool written, size_t entries, size_t bytes);
/* The same after something other than a transaction: what was counted becomes known. */
void journal_publish_counts(journal *self, size_t entries, size_t bytes);

/* ---- journal_turns.c: in the writer's thread ---- */

/* Makes queues for the bandits that the store has. */
ee_status journal_add_queues(journal *self, ee_error *error);

/* Sorts what was handed in by bandit. */
void journal_distribute(journal *self, journal_entry *first);

/* The state of the bandits was changed other than by a group. */
void journal_note_states(journal *self);

/* The next group of entries: of each bandit some in turn, until it is large enough. */
journal_entry *journal_take_group(journal *self, size_t *count, size_t *bytes);

/* A transaction succeeded: counts it. all: of any bandit, decisions may have been settled. */
void journal_note_group(journal *self, const store_group *group, size_t entries, bool all);
/* Reports what is new of its bandits. */
void journal_report_touched(journal *self, const store_group *group);

/* ---- journal_group.c: in the writer's thread ---- */

/* Writes a group of the entries, settles what is due, and reports the verdicts. */
void journal_write_group(journal *self);

/* Microseconds until the journal has something to write without a new entry: decisions to settle, a change of the
 * clock, or a retry after a failure. INT64_MAX: nothing. */
int64_t journal_due_in(const journal *self, const server_clock *clock);

/* ---- journal_spool.c: in the writer's thread ---- */

/* Opens the spool, if there is to be one, and finds out what of it is delivered. *last becomes the time of its last
 * record, if that is later. */
ee_status journal_open_spool(journal *self, int64_t *last, ee_error *error);

/* Whether entries go to the spool now, or wait in it. */
bool journal_is_spooling(const journal *self);
/* Takes a group to the spool, and delivers some of what it has. */
void journal_spool_group(journal *self);

/* A transaction, begun at `start` of server_clock_real, failed because the store is away; or one succeeded. */
void journal_note_failure(journal *self, const ee_error *error, int64_t start);
void journal_note_success(journal *self);
/* Whether the entries of a group that failed can go to the spool: then those that it takes are there, the verdicts are
 * set, and group->first may be another one of them. */
bool journal_spool_failed(journal *self, store_group *group);
/* Calls done of entries whose verdicts are the spool's. */
void journal_finish_spooled(journal *self, journal_entry *first);

/* ---- journal_tasks.c ---- */

/* Runs the first task, if there is one. In the writer's thread. */
void journal_run_task(journal *self);

/* ---- journal_removal.c ---- */

/* Continues what is to be removed: a portion of it. In the writer's thread. */
void journal_remove_some(journal *self);
void journal_free_removals(journal *self);

#endif
