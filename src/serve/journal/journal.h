/* The journal: the one place where the order of events is decided. Any thread submits entries without waiting; one
 * thread writes all that have arrived in one transaction, with one sync for all, and then calls each entry's `done`.
 * Because one thread writes, and what it knows is in the store, a reward is joined once and a decision made once,
 * however often and however soon they are repeated, before and after a crash.
 *
 * It takes from all bandits in turn, so that none waits for another's queue. It also settles: a decision whose wait is
 * over gets its SETTLED event. store/joining.h has the rules.
 *
 * If the store cannot write (a full disk), the entries of the transaction fail with EE_FILE_ERROR, and nothing of them
 * is stored. The journal retries with the next ones and recovers without help.
 *
 * With a spool (spool.h), decisions, rewards and activations are accepted while a database is away: they are durable on
 * this machine, get ENTRY_SPOOLED, and are delivered when the database is back, in their order, exactly once, with the
 * log time at which they came. Until all of them are delivered, new ones go through the spool too, nothing is settled
 * at the end of its wait, and entries of other kinds fail. A transaction whose commit was sent, and may have succeeded,
 * is not spooled: its entries fail. */
#ifndef EENET_JOURNAL_H
#define EENET_JOURNAL_H

#include "serve/store/store.h"
#include "serve/system/server_clock.h"

typedef struct journal journal;
typedef store_entry journal_entry;

/* What the journal has done so far; any thread may ask. */
typedef struct journal_counts {
    uint64_t decisions, repeated_decisions, conflicts;
    uint64_t joined, repeated, late, unknown, claimed, defaulted, abandoned;
    uint64_t activated, inactive;    /* deferred decisions: activated; settled without that */
    uint64_t waiting;                /* decisions that are not settled yet */
    uint64_t transactions, failures; /* commits; those that failed */
    uint64_t waiting_entries;        /* submitted and not written yet */
    double sync_seconds;             /* of all commits together */
    bool writable;                   /* the last transaction succeeded */
    uint64_t spooled;                /* entries in the spool, not delivered yet */
    uint64_t spool_dropped;          /* entries of the spool that the store refused: their bandit is archived or gone */
    bool spooling;                   /* new entries go to the spool */
    double spool_seconds_left;       /* for which it accepts entries, if the database stays away */
} journal_counts;

typedef struct journal_options {
    size_t most_entries; /* that may wait to be written; journal_submit refuses more. 0: 65536 */
    size_t most_bytes;   /* of them. 0: 256 MiB */
    size_t checkpoints;  /* the last ones of a bandit, that a restart may begin with; 0: 1. See journal_forget_before */
    /* The two clocks of the system, in microseconds, for tests: the wall clock and, optionally, the one that nobody can
     * set. With `clock` alone, log time is what it says, but never goes back. NULL: the system's. Any thread calls. */
    int64_t (*clock)(void *context);
    int64_t (*elapsed)(void *context);
    void *clock_context;
    bool steady;                   /* those clocks run as the system's do, so they need not be watched more often */
    int64_t most_days_off;         /* since the last event, without accept_clock; 0: any number. See clock_guard.h */
    int64_t retention_days;        /* of bandits that have no such setting; 0: events are never removed */
    clock_acceptance accept_clock; /* at the start, if it would be refused or if the clock is still in doubt */
    /* Called in the journal's thread after each transaction, for each bandit that has new events which a model learns
     * from (DECISION, SETTLED, SETTINGS, MODEL): the number of the last. May be NULL. */
    void (*appended)(void *context, uint32_t bandit, uint64_t last);
    /* Called at the start and after each transaction, for each bandit that it changed: the number of pending decisions,
     * and of those settled with the default reward since the start. May be NULL. */
    void (*waits)(void *context, uint32_t bandit, uint64_t waiting, uint64_t defaulted);
    /* Duration of a commit, for a histogram; may be NULL. */
    void (*synced)(void *context, double seconds, size_t entries);
    /* The spool, only for a database: FOLDER/spool. It accepts entries for spool_seconds after the first failure. NULL,
     * or 0 seconds: none; but what an earlier process left in the folder is delivered. */
    const char *spool_folder;
    const char *spool_owner; /* stands for the database (spool_claim); NULL: not checked */
    double spool_seconds;
    /* Called now and then in the journal's thread while the spool has entries of a bandit that another process owns:
     * these are the bandits of the entries to deliver next, each once. They are delivered when this process owns all of
     * them (store_own). Until then new entries are refused. May be NULL. */
    void (*needs)(void *context, const uint32_t *bandits, size_t count);
    void *context;
} journal_options;

/* Starts the thread. From now on only the journal writes to the store, except for models. EE_BAD_INPUT, and nothing
 * changes, if the clock is far from the last event (clock_guard.h). */
ee_status journal_start(store *into, const journal_options *options, journal **out, ee_error *error);

/* Writes what was submitted, stops, and frees. NULL is allowed. */
void journal_stop(journal *self);

/* Submits a chain of entries, linked by next; those of one bandit are written in this order. false: too many are
 * waiting, and none was taken. */
bool journal_submit(journal *self, journal_entry *first);

/* Writes one entry, or (count) entries in one transaction, and waits for it: not for threads that serve. Sets their
 * done, context, next and with_next. */
ee_status journal_write(journal *self, journal_entry *entry, ee_error *error);
ee_status journal_write_together(journal *self, journal_entry *entries, size_t count, ee_error *error);

/* Removes, in portions, events before a log time, except those that a restart from a stored checkpoint needs; without a
 * checkpoint it removes nothing. A failure cancels it; call again now and then. */
void journal_forget_before(journal *self, uint32_t bandit, int64_t before);

/* Runs a function in the thread that writes, between two transactions, and waits for it: for rare changes of the store
 * that are no entries. It should take some milliseconds, because everything else waits. Not for threads that serve. */
typedef ee_status journal_function(void *context, store *into, ee_error *error);
ee_status journal_run(journal *self, journal_function *function, void *context, ee_error *error);

/* This process owns a bandit, or creates bandits (LEADER), from now on; or it does not any more. As journal_run.
 * *state: what the store knows of the bandit; owned is false if the lease is another's by now. */
ee_status journal_own(journal *self, uint32_t bandit, uint64_t token, bandit_state *state, ee_error *error);
void journal_disown(journal *self, uint32_t bandit);

journal_counts journal_read_counts(journal *self);

/* The log time now, which never goes back: for waits and retention. */
int64_t journal_time(journal *self);

/* The wall time that an event gets now, to compare with events that were read. */
int64_t journal_wall_time(journal *self);

/* The clock now. While it is in doubt, nothing is settled at the end of its wait and nothing is removed; decisions and
 * rewards are written as always. */
server_clock journal_clock(journal *self);

/* Ends the doubt. false: there is none, or a clock that is behind cannot have elapsed. */
bool journal_accept_clock(journal *self, clock_acceptance as);

#endif
