/* Private to the writer of the store with PostgreSQL.
 *
 * A group is two round trips: BEGIN with the locks and everything that the group refers to; then all changes with
 * COMMIT. Statements are queued by pg_queue and sent by pg_flush, which a method calls only if it needs a result.
 *
 * Fence: a transaction first locks the rows of log_ends of its bandits and compares their tokens with those that this
 * process has, and their owners with its number: a failover may lose a move, and the next one has the same token. A
 * takeover changes the token, so it waits for a transaction that has the lock, and the next one of the old owner finds
 * another token: the bandit is disowned, and nothing of it is written. */
#ifndef EENET_PG_WRITER_H
#define EENET_PG_WRITER_H

#include <pthread.h>

#include "pg_session.h"
#include "serve/store/store_methods.h"
#include "serve/store/store_rows.h"
#include "store_pg.h"

enum {
    PG_BEGIN,
    PG_COMMIT,
    PG_ROLLBACK,
    PG_LOAD_BANDITS,
    PG_LAST_BANDIT,
    PG_FIND_TOKEN,
    PG_IS_PURGED,
    PG_LOCK_ENDS,
    PG_HAS_EVENT,
    PG_HAS_END,
    PG_FETCH_DECISIONS,
    PG_FETCH_UNCLAIMED,
    PG_FETCH_REWARD_IDS,
    PG_FETCH_NAMES,
    PG_FETCH_SLOTS,
    PG_FIND_WAITING,
    PG_READ_BANDIT,
    PG_WRITE_BANDIT,
    PG_WRITE_CHANGES,
    PG_SET_CHECKSUM,
    PG_ADD_END,
    PG_SET_ENDS,
    PG_COUNT_CHANGE,
    PG_WRITE_EVENTS,
    PG_WRITE_DECISIONS,
    PG_CHANGE_DECISIONS,
    PG_WRITE_IDS,
    PG_WRITE_REWARD_IDS,
    PG_WRITE_UNCLAIMED,
    PG_REMOVE_UNCLAIMED,
    PG_WRITE_CLOCK,
    PG_SUM_CLOCK,
    PG_DELIVER,
    PG_PROBE,
    PG_FIND_OLDEST,
    PG_FIND_REWARD_IDS,
    PG_FIND_EARLY,
    PG_REMOVE_REWARD_IDS,
    PG_FORGET_IDS,
    PG_FORGET_REWARD_IDS,
    PG_REMOVE_DECISIONS,
    PG_REMOVE_EVENTS,
    PG_READ_BODY,
    PG_KEEP_SETTINGS,
    PG_PURGE,
    PG_PURGE_EVENTS,
    PG_PURGE_DECISIONS,
    PG_PURGE_IDS,
    PG_PURGE_REWARD_IDS,
    PG_PURGE_UNCLAIMED,
    PG_PURGE_END,
    PG_LIST_PURGED,
    PG_READ_EVENTS,
    PG_BLANK_EVENTS,
    PG_STATEMENTS
};

/* A row of log_ends that the transaction has locked. */
typedef struct pg_locked {
    uint32_t bandit;
    stored_end end;
    bool whole; /* its checksum is right */
    uint64_t token, owner;
} pg_locked;

typedef struct pg_queued {
    const char *what; /* for the message, "could not WHAT" */
    bool wanted;      /* pg_take returns its result */
} pg_queued;

typedef struct pg_vacuum pg_vacuum; /* pg_scrub.c */

typedef struct pg_store {
    store base;
    char *where;
    uint64_t server;  /* number in the fleet; 0: alone, it owns everything */
    bool synchronous; /* commits wait for a standby, if there is one */
    pg_connection *connection;
    uint64_t session;           /* pg_connections, of the session that is prepared */
    pg_values values;           /* of the next statement */
    pthread_mutex_t token_lock; /* the writer changes tokens, and those who write blobs read them */
    uint64_t *tokens;           /* (token_count) by number, the leader's first; 0: not owned */
    size_t token_count, token_capacity;

    /* Of the transaction. */
    bool begun;
    uint64_t begun_in; /* pg_connections, of the session that it is in */
    uint32_t *leases;  /* (lease_count) that the group needs */
    size_t lease_count, lease_capacity;
    pg_queued *queue; /* (queued) statements whose results were not taken yet; those up to `taken` were */
    size_t queued, taken, queue_capacity;
    pg_locked *locked; /* (locked_count) in the order of their numbers */
    size_t locked_count, locked_capacity;
    int64_t proof[2];             /* what shows that it was committed: place and checksum of an event */
    bool has_proof, proof_is_end; /* end: bandit and checksum of a row of log_ends */

    int64_t patience; /* microseconds that a failed commit looks for its outcome */
    /* A commit failed, and nobody knows whether it was done: to be loaded again before anything else. */
    uint32_t *doubtful; /* (doubtful_count) */
    size_t doubtful_count, doubtful_capacity;

    pg_vacuum *vacuum;
    pthread_mutex_t size_lock; /* of the two below: any thread may ask */
    pg_session size_session;
    uint64_t size;
} pg_store;

/* ---- statements ---- */

extern const char *const pg_writer_sql[PG_STATEMENTS]; /* pg_statements.c */

/* pg_transaction.c: connects if there is no connection. */
ee_status pg_connect_session(pg_store *self, ee_error *error);

/* Queues a statement with self->values. */
ee_status pg_queue(pg_store *self, int statement, bool wanted, const char *what, ee_error *error);
/* Sends what is queued; pg_take gets the results of those that are wanted, in order, and pg_finish skips the rest. */
ee_status pg_flush(pg_store *self, ee_error *error);
ee_status pg_take(pg_store *self, PGresult **result, ee_error *error);
ee_status pg_finish(pg_store *self, ee_error *error);
/* Queues one statement, flushes, and takes its result: the last of all. */
ee_status pg_ask(pg_store *self, int statement, const char *what, PGresult **result, ee_error *error);

/* Forgets statements that were queued. */
void pg_forget_queue(pg_store *self);

/* ---- the fence: pg_transaction.c ---- */

/* For blobs: in any thread. context: the pg_store. */
uint64_t pg_find_token(void *context, uint32_t bandit);

/* Queues the lock on these bandits' rows; 0 is the leader's. pg_take_locks takes its result, the first that is wanted,
 * and disowns bandits whose lease is lost. */
ee_status pg_queue_locks(pg_store *self, const uint32_t *bandits, size_t count, ee_error *error);
ee_status pg_take_locks(pg_store *self, const uint32_t *bandits, size_t count, ee_error *error);
/* Locks one bandit. EE_FILE_ERROR: it is another's. */
ee_status pg_lock_bandit(pg_store *self, uint32_t bandit, ee_error *error);
uint64_t pg_token(const pg_store *self, uint32_t bandit);
ee_status pg_set_token(pg_store *self, uint32_t bandit, uint64_t token, ee_error *error);

/* Changes the end of a bandit's log, whose row is locked, by its own statement. */
ee_status pg_change_end(pg_store *self, uint32_t bandit, const end_change *by, ee_error *error);
ee_status pg_set_end(pg_store *self, uint32_t bandit, const stored_end *end, ee_error *error);
/* The other servers look at the bandits again. */
ee_status pg_count_change(pg_store *self, ee_error *error);
/* A row of log_ends that shows later that the transaction was committed, unless there is something better. */
void pg_prove_by_end(pg_store *self, const int64_t columns[END_COLUMNS]);
/* The end of a bandit's log as it was locked. EE_FILE_ERROR: it is damaged. */
ee_status pg_locked_end(const pg_store *self, uint32_t bandit, stored_end *out, ee_error *error);
/* Adds a row of log_ends to the seven arrays of PG_SET_ENDS, of which this is `column`. */
void pg_element_end(pg_store *self, uint32_t bandit, const stored_end *end, int column);

/* ---- the methods ---- */

ee_status pg_fetch(store *base, ee_error *error);
ee_status pg_fetch_slots(store *base, ee_error *error);
ee_status pg_fetch_waiting(store *base, join_due *due, stored_decision *out, size_t limit, size_t *count,
                           ee_error *error);
ee_status pg_apply(store *base, ee_error *error);

ee_status pg_remove(store *base, uint32_t bandit, int64_t before, uint64_t keep_from, size_t limit, bool *more,
                    uint64_t *unclaimed, ee_error *error);
ee_status pg_erase(store *base, uint32_t bandit, const uint64_t *numbers, size_t count, uint64_t *unclaimed,
                   ee_error *error);
ee_status pg_purge(store *base, uint32_t bandit, ee_error *error);
ee_status pg_purge_some(store *base, uint32_t bandit, size_t limit, bool *more, ee_error *error);
ee_status pg_purge_end(store *base, uint32_t bandit, ee_error *error);
ee_status pg_purge_next(store *base, uint32_t after, uint32_t *bandit, ee_error *error);
ee_status pg_is_purged(store *base, uint32_t bandit, bool *purged, ee_error *error);

/* pg_scrub.c: VACUUM in a thread, because it may take minutes. */
ee_status pg_scrub(store *base, uint64_t *page, size_t count, bool *more, ee_error *error);
/* Cancels it. */
void pg_scrub_stop(pg_store *self);

/* pg_spool.c */
ee_status pg_spool_position(store *base, const char *spool, uint64_t *position, ee_error *error);

/* pg_owners.c: what the writer knows of bandits, and loading it. */
ee_status pg_load_all(pg_store *self, ee_error *error);
ee_status pg_own(store *base, uint32_t bandit, uint64_t token, bool *owned, ee_error *error);
void pg_disown(store *base, uint32_t bandit);
/* Loads the bandits again whose state is in doubt. */
ee_status pg_resolve_doubts(pg_store *self, ee_error *error);

#endif
