/* Where the server keeps everything: bandits, their logs, what is known of decisions for joining, and models. The one
 * implementation is SQLite's (store_sqlite.c); nothing above this header knows which one it is.
 *
 * What it promises: what was written between begin and a commit that succeeded is there after a crash of the program or
 * of the machine; of any other, nothing is. A commit that fails (a full disk) leaves the store as before begin, and the
 * next may succeed.
 *
 * Threads: begin to commit, and the calls marked W, belong to one thread, the journal's. Reading goes through a
 * store_reader, one for each thread; it sees what was committed and never waits for the writer.
 *
 * Times: the writer uses log time, which never goes back; readers get wall times (system/server_clock.h). */
#ifndef EENET_STORE_H
#define EENET_STORE_H

#include "event_batch.h"

typedef struct store store;
typedef struct store_reader store_reader;

/* A bandit as the store knows it. */
typedef struct stored_bandit {
    uint32_t number; /* from 1, never given again */
    json_text name;
    bool archived;
    uint64_t events;      /* number of the last event */
    int64_t time;         /* of it: log time */
    uint64_t settled_to;  /* all decisions up to this event are settled */
    uint64_t first_event; /* that is still there; retention removes the first ones */
    json_text settings;   /* those in force, as bandit_settings_write has them */
} stored_bandit;

/* What the log's clock did at a log time: system/server_clock.h says what that is. */
typedef struct stored_clock {
    int64_t time;
    int64_t ahead; /* log time minus wall time, from then on; 0 before the first */
    bool in_doubt;
} stored_clock;

/* A decision as joining needs to know it. */
typedef struct stored_decision {
    uint64_t number; /* of its event */
    int64_t time;    /* log time for the writer, wall time for readers */
    uint64_t request[2];
    uint32_t rewards; /* that were joined so far */
    uint64_t settled; /* number of its SETTLED event; 0: it is not */
    double value;     /* what they are worth, by the aggregation */
    bool inactive;    /* deferred, and not activated yet */
    uint32_t slots;   /* of a round, at its first slot: those that follow it are the others; else 0 */
} stored_decision;

/* Opens or makes the store in a folder, which one process may do at a time (EE_FILE_ERROR with a sentence for the
 * second). A store of an older version is brought up to this one's; one of a newer is refused. */
ee_status store_open(const char *folder, store **out, ee_error *error);
void store_close(store *self);

/* ---- W: writing, between begin and commit ---- */

ee_status store_begin(store *self, ee_error *error);
ee_status store_commit(store *self, ee_error *error);
void store_rollback(store *self);

/* name must be new (EE_BAD_INPUT). The SETTINGS event is appended by the caller. */
ee_status store_add_bandit(store *self, json_text name, uint32_t *number, ee_error *error);
/* Changes what of a bandit changes: archived, settled_to, and the settings where they are not empty; events and time
 * follow from what is appended. */
ee_status store_put_bandit(store *self, const stored_bandit *bandit, ee_error *error);

/* number and log time are set, and follow the bandit's last. */
ee_status store_append(store *self, uint32_t bandit, const event *new, ee_error *error);

/* From this log time on. It is not before the last event of any bandit, and after it if `ahead` changes. */
ee_status store_put_clock(store *self, const stored_clock *clock, ee_error *error);

ee_status store_find_decision(store *self, uint32_t bandit, json_text id, stored_decision *out, bool *found,
                              ee_error *error);
/* The decision of an event. */
ee_status store_get_decision(store *self, uint32_t bandit, uint64_t number, stored_decision *out, bool *found,
                             ee_error *error);
ee_status store_add_decision(store *self, uint32_t bandit, json_text id, const stored_decision *decision,
                             ee_error *error);
ee_status store_put_decision(store *self, uint32_t bandit, const stored_decision *decision, ee_error *error);

/* The id of a round of slots: it finds the decision of its first slot, and is removed with it. */
ee_status store_add_round(store *self, uint32_t bandit, json_text id, uint64_t first, ee_error *error);

/* Up to `most` decisions that are not settled, with numbers above `after` and log times before `before`, in order. All
 * decisions up to *upto were looked at: `after` of the next call, once those of out are settled. *next is the time of
 * the first decision that was not looked at; INT64_MAX: there is none. A call looks at
 * some thousand decisions, because many may be settled already. */
ee_status store_waiting(store *self, uint32_t bandit, uint64_t after, int64_t before, stored_decision *out, size_t most,
                        size_t *count, uint64_t *upto, int64_t *next, ee_error *error);

/* Reward ids: *there whether this one of the decision id came before, and then what it was; else it is added. */
ee_status store_add_reward_id(store *self, uint32_t bandit, json_text id, json_text reward_id, double value,
                              event_outcome outcome, bool *there, double *value_before, event_outcome *outcome_before,
                              ee_error *error);

/* Rewards and activations whose decision is not known: their event is kept by the id until it is claimed. *number is 0
 * past the last. */
ee_status store_add_unclaimed(store *self, uint32_t bandit, json_text id, uint64_t number, ee_error *error);
ee_status store_take_unclaimed(store *self, uint32_t bandit, json_text id, uint64_t *number, event_kind *kind,
                               double *value, ee_error *error);
/* Whether the bandit has any: quick, asked for each decision whose id is the caller's. */
bool store_has_unclaimed(const store *self, uint32_t bandit);

/* Removes events before a log time, with their decisions and ids, but none from `keep_from` or the first pending
 * decision on, and not the last event. Removes at most `most`, to keep the transaction short, and rounds with slots as
 * a whole. *more: there is more to remove. */
ee_status store_remove(store *self, uint32_t bandit, int64_t before, uint64_t keep_from, size_t most, bool *more,
                       ee_error *error);

/* ---- models: whole files, written synced and under a temporary name first. Any thread ---- */

/* number: the version that the body of the CHECKPOINT or MODEL event has. */
ee_status store_save_model(store *self, uint32_t bandit, uint64_t number, const void *bytes, size_t size,
                           ee_error *error);
/* *bytes is to be freed with memory_free. EE_NO_FILE where there is none. */
ee_status store_load_model(store *self, uint32_t bandit, uint64_t number, uint8_t **bytes, size_t *size,
                           ee_error *error);
ee_status store_remove_model(store *self, uint32_t bandit, uint64_t number, ee_error *error);

/* W, outside of a transaction: removes the files of uploaded models that no event names any more, with numbers below
 * `before`: one that is being uploaded has its file before its event. What fails is left for the next time. */
void store_remove_uploads(store *self, uint32_t bandit, uint64_t before);

/* ---- reading: everything is copied, and no transaction is open between calls ---- */

ee_status store_reader_create(store *self, store_reader **out, ee_error *error);
void store_reader_free(store_reader *self);

/* Opens a store for reading only; another process may be writing to it. For replay and backup. */
ee_status store_open_reader(const char *folder, store_reader **out, ee_error *error);

/* A copy of the bandits, including archived ones, in the order of their numbers. Release with stored_bandits_free,
 * which accepts {0}. */
typedef struct stored_bandits {
    stored_bandit *bandits; /* (count) */
    size_t count, capacity;
    memory memory; /* of all this */
} stored_bandits;

ee_status store_list_bandits(store_reader *self, stored_bandits *out, ee_error *error);
void stored_bandits_free(stored_bandits *self);

/* The clock's last state; zeros: it was never in doubt. */
ee_status store_read_clock(store_reader *self, stored_clock *out, ee_error *error);

/* Replaces the batch by the events of a bandit with numbers above `after`, in order, of the kinds whose bits
 * (1 << kind) are set: at most `limit`, and about EVENT_BATCH_BYTES. out->last is where to continue; when it does not
 * grow, there is nothing left. */
ee_status store_read(store_reader *self, uint32_t bandit, uint64_t after, unsigned kinds, size_t limit,
                     event_batch *out, ee_error *error);

/* One event, valid until the next store_read_one of this reader. EE_BAD_INPUT if it does not exist (any more). */
ee_status store_read_one(store_reader *self, uint32_t bandit, uint64_t number, const event **out, ee_error *error);

/* The number of the decision that has an id; 0 where none has. */
ee_status store_find_id(store_reader *self, uint32_t bandit, json_text id, uint64_t *number, ee_error *error);

/* The number of the last event of a kind at or below `upto`; 0: none. */
ee_status store_last(store_reader *self, uint32_t bandit, event_kind kind, uint64_t upto, uint64_t *number,
                     ee_error *error);

/* The same of several kinds, whose bits (1 << kind) are set. It looks at all events after the one that it finds. */
ee_status store_last_of(store_reader *self, uint32_t bandit, unsigned kinds, uint64_t upto, uint64_t *number,
                        ee_error *error);

/* How many decisions with numbers above `after` are not settled. It looks at all of them. */
ee_status store_count_waiting(store_reader *self, uint32_t bandit, uint64_t after, uint64_t *count, ee_error *error);

/* The first decision with a number above `after`, settled or not. */
ee_status store_next_decision(store_reader *self, uint32_t bandit, uint64_t after, stored_decision *out, bool *found,
                              ee_error *error);

/* Wall times go back where a wrong clock was corrected, so events between two others may be outside of their times. */

/* The first event at or after a wall time; past the last event if there is none. */
ee_status store_find_time(store_reader *self, uint32_t bandit, int64_t time, uint64_t *number, ee_error *error);
/* The event after the last one before a wall time. */
ee_status store_find_end(store_reader *self, uint32_t bandit, int64_t time, uint64_t *number, ee_error *error);

/* How many events there are before a log time. */
ee_status store_count_before(store_reader *self, uint32_t bandit, int64_t time, uint64_t *count, ee_error *error);

ee_status store_load_model_of(store_reader *self, uint32_t bandit, uint64_t number, uint8_t **bytes, size_t *size,
                              ee_error *error);

/* Copies a store that another process may be writing to: a consistent, synced snapshot in a new folder, which gets its
 * name when it is complete. progress (may be NULL) gets the share that is done; false stops the copy. */
ee_status store_backup(const char *folder, const char *to, bool (*progress)(void *context, double share), void *context,
                       ee_error *error);

/* Bytes on the disk, the models' too. */
uint64_t store_bytes(const store *self);

/* Of the file system that the store is on, in bytes; free: what the server can still write. false: not known. */
typedef struct store_space {
    uint64_t size, free;
} store_space;
bool store_disk_space(const store *self, store_space *out);

#endif
