/* The events of all bandits, with what joining needs to know of them. Blobs (models, ...) are in blobs.h. These two
 * headers are all that the rest of the server sees of the store: no SQL and no path of the data folder exists outside
 * this folder.
 *
 * Durability: what store_write returned EE_OK for is there after a crash of the program or of the machine. If it fails
 * (a full disk), nothing of the group is stored, the store is as before, and the next call may succeed.
 *
 * Times: the writer uses log time, which never goes back; readers get wall times (system/server_clock.h).
 *
 * Threads: store_write and store_remove belong to one thread, the journal's. Reading goes through a store_reader, one
 * for each thread; it sees what was committed and never waits for the writer.
 *
 * Implementations: a store is an opaque handle with a table of functions (store_methods.h), chosen when it is opened:
 * SQLite in a folder, or PostgreSQL. What must be the same in both, the rules of joining and the order of a write, is
 * not in the table: joining.h and store.c.
 *
 * Owners: a process writes only to the bandits that it owns. In a folder it owns all of them. On a database that a
 * fleet shares, each bandit has one owner at a time (leases.h), and only the leader creates bandits. bandit_state, the
 * writer's copy of what the database knows of a bandit, is loaded when the process becomes the owner and never read
 * again, because nobody else can write: each group checks in its transaction that the lease is still ours. Entries of
 * other bandits get ENTRY_MOVED. Readers assume nothing: they may be in other processes. */
#ifndef EENET_STORE_H
#define EENET_STORE_H

#include "blobs.h"
#include "event_batch.h"
#include "metric_values.h"
#include "serve/settings/bandit_settings.h"

typedef struct store store;
typedef struct store_reader store_reader;

/* Opens or creates a store: a folder, or a database ("postgresql://..."). It owns all bandits, so one process may do it
 * at a time (EE_FILE_ERROR with a sentence for the second). A store of an older version is brought up to this one's;
 * one of a newer is refused. */
ee_status store_open(const char *where, store **out, ee_error *error);
/* The same for a server of a fleet: it owns nothing until store_own. server: its number (leases.h). synchronous: what
 * is written is on the disk of a standby too, if synchronous_standby_names has one; else the database's
 * synchronous_commit decides. */
ee_status store_open_shared(const char *where, uint64_t server, bool synchronous, store **out, ee_error *error);
void store_close(store *self);

/* For a server that starts: whether a database that cannot be reached is waited for. */
typedef struct store_waiting {
    double seconds; /* from store_wait_at_start on */
    /* Waits, and returns false if the process is asked to end. */
    bool (*pause)(double seconds);
    /* Gets a sentence when it begins to wait, and when it has a connection. */
    void (*report)(void *context, const char *sentence);
    void *context;
} store_waiting;

/* From now on, connecting to a database in this process is tried again, with longer and longer pauses, while it fails
 * for a reason that may pass: no server is there, it does not answer, it is starting or stopping, it has no connection
 * left, or none of the hosts accepts writes. What does not pass fails at once: a wrong password, an unknown database.
 * NULL: from now on it is tried once. The process counts as a server from the first call on: it gives each host 2
 * seconds, because another may be the primary, and other programs 10, unless the connection string has
 * connect_timeout. */
void store_wait_at_start(const store_waiting *how);

/* ---- entries ---- */

typedef enum entry_verdict {
    ENTRY_DONE,     /* written */
    ENTRY_REPEATED, /* was written before, or has no effect: for a DECISION, `earlier` has the first one */
    ENTRY_CONFLICT, /* another request, or reward, has this id */
    ENTRY_FAILED,   /* not written: entry->error says why */
    ENTRY_REFUSED,  /* a refused DECISION that was not made before */
    ENTRY_MOVED,    /* not written: another process owns the bandit, or creates bandits */
    ENTRY_SPOOLED   /* durable in the journal's spool, to be written later: its outcome is not known yet */
} entry_verdict;

typedef struct store_entry store_entry;

/* Something to write: an event and what the store has to know about it. */
struct store_entry {
    uint32_t bandit;
    event event; /* kind, id, value, reward_id, body, as the kind has them; number, time, outcome and decision are
                    filled in. All bytes stay unchanged until the entry is done */
    uint64_t request[2];           /* DECISION: as in its body */
    bool generated_id;             /* DECISION: the id is new for certain: made by us, not by the caller */
    bool refused;                  /* DECISION: it is not made, and `error` says why. It is only looked up: if it was
                                      made before, this is a retry */
    bool deferred;                 /* DECISION: as in its body */
    size_t slot_index, slot_count; /* DECISION: as in its body */
    bool with_next; /* in one transaction with the next of the chain, which is of the same bandit; if this
                       one is refused, that one is too */
    const bandit_settings *settings; /* SETTINGS: those that its body has */
    bool archived;                   /* SETTINGS: whether the bandit is from now on */
    json_text name;                  /* SETTINGS with bandit 0: a new bandit; bandit becomes its number */

    /* For the journal: called in its thread, after the sync. It must not wait. */
    void (*done)(store_entry *entry);
    void *context;

    entry_verdict verdict;
    ee_error error;
    const event *earlier; /* DECISION repeated: what is stored; valid while done runs */
    store_entry *next;
};

/* ---- writing ---- */

/* What joining did. */
typedef struct store_counts {
    uint64_t decisions, repeated_decisions, conflicts;
    uint64_t joined, repeated, late, unknown, claimed, defaulted, abandoned;
    uint64_t activated, inactive; /* deferred decisions: activated; settled without that */
    int64_t waiting;              /* by how much the number of pending decisions grew */
} store_counts;

/* What the writer knows of a bandit. */
typedef struct bandit_state {
    uint32_t number;
    bool owned;          /* by this process; if not, nothing below is known, except `purged` (store_note_purged) */
    uint64_t events;     /* number of the last */
    int64_t time;        /* of it: log time */
    uint64_t news;       /* number of the last that a model learns from: DECISION, SETTLED, SETTINGS, MODEL */
    uint64_t settled_to; /* all decisions up to this event are settled */
    int64_t deadline;    /* no wait is over before; INT64_MAX: nothing waits */
    uint64_t waiting;    /* decisions that are not settled */
    uint64_t unclaimed;  /* rewards and activations whose decision is not known */
    uint64_t defaulted;  /* decisions settled by the default reward since the store was opened */
    bool archived;
    bool purged; /* removed for good, or being removed: it takes no events */
    joining_rules rules;
} bandit_state;

/* What the log's clock did at a log time: system/server_clock.h says what that is. */
typedef struct stored_clock {
    int64_t time;
    int64_t ahead; /* log time minus wall time, from then on; 0 before the first */
    bool in_doubt;
} stored_clock;

/* A group of entries: one transaction. */
typedef struct store_group {
    store_entry *first; /* chained by next, written in this order; may be NULL */
    int64_t now;        /* the log time of all its events, not before the last event of a bandit */
    const stored_clock
        *clock; /* a change of the clock at this time, after the last event if `ahead` changes; NULL: none */
    /* Bandits whose pending decisions are to be settled if their wait is over, after the entries: of each at most
     * settle_each, of all together settle_total. */
    const uint32_t *due; /* (due_count) */
    size_t due_count, settle_each, settle_total;
    bool probe; /* write something in any case, to see whether it is possible */
    /* Entries that come from a spool (journal/spool.h): everything after spool_before, up to spool_position, is
     * delivered with the group. If more than spool_before is delivered already, or one of the entries would be
     * ENTRY_MOVED, the group fails. Only databases; spool NULL: they do not. */
    const char *spool;
    uint64_t spool_before, spool_position;

    /* Results. */
    size_t due_done; /* how many of due were looked at: the rest has to come again */
    store_counts counts;
    const uint32_t *touched; /* (touched_count) bandits that may have changed; valid until the next call */
    size_t touched_count;
    double sync_seconds; /* duration of the commit */
    bool in_doubt;       /* on failure: the commit was sent, and may have succeeded */
} store_group;

/* Writes a group and sets the verdict of each entry. On failure all verdicts are ENTRY_FAILED with this error. */
ee_status store_write(store *self, store_group *group, ee_error *error);

/* Whether the store is a database on a network, which can be away for a while, and can take entries of a spool. */
bool store_is_database(const store *self);
/* The position up to which the entries of a spool are delivered; 0: none is. Only of a database. */
ee_status store_spool_position(store *self, const char *spool, uint64_t *position, ee_error *error);

/* Removes events before a log time, with their decisions and ids, but none from `keep_from` or the first pending
 * decision on, and not the last event. Removes at most `limit`, to keep the transaction short, and rounds with slots as
 * a whole. *more: there is more to remove. */
ee_status store_remove(store *self, uint32_t bandit, int64_t before, uint64_t keep_from, size_t limit, bool *more,
                       ee_error *error);

/* ---- removing a bandit for good: in the thread that writes ---- */

/* Decides it: from now on no reader lists the bandit, it takes no events, and its name is free. Its number stays taken.
 * What is left of it is removed by store_purge_some, after a crash too. */
ee_status store_purge(store *self, uint32_t bandit, ee_error *error);
/* Removes up to `limit` rows and overwrites their bytes. *more: call again. store_scrub follows. */
ee_status store_purge_some(store *self, uint32_t bandit, size_t limit, bool *more, ee_error *error);
/* Once everything else of it, such as files, is removed: it is no longer in store_purge_next. */
ee_status store_purge_end(store *self, uint32_t bandit, ee_error *error);
/* The first bandit above `after` whose removal was decided and has not ended; 0: none. */
ee_status store_purge_next(store *self, uint32_t after, uint32_t *bandit, ee_error *error);

/* ---- erasing decisions: in the thread that writes ---- */

/* Removes the content of events in one transaction, and overwrites its bytes: id, value, reward id and body, with what
 * joining knows of them. Events that are erased already stay as they are. The REWARD events of a decision come before
 * it; the decision is settled. */
ee_status store_erase(store *self, uint32_t bandit, const uint64_t *numbers, size_t count, ee_error *error);
/* Overwrites copies of removed content that the database still has in unused places: its write-ahead log, and `count`
 * pages from *page on, which starts at 0 and grows. *more: call again; if *page has not grown, a reader such as a
 * backup needs the write-ahead log: try again after a pause. */
ee_status store_scrub(store *self, uint64_t *page, size_t count, bool *more, ee_error *error);

/* For how long a write may look for the outcome of a commit whose connection was lost; default: 10 s. Only of a
 * database. */
void store_set_patience(store *self, double seconds);

/* ---- owners: in the thread that writes; only of a store that was opened with store_open_shared ---- */

enum { LEADER = 0 }; /* the number that the lease of the leader has */

/* This process has the lease of a bandit, or of the leader, with this token: loads what the writer knows of it. If the
 * lease is another's by now, *owned is false. */
ee_status store_own(store *self, uint32_t bandit, uint64_t token, bool *owned, ee_error *error);
/* Entries get ENTRY_MOVED from now on. */
void store_disown(store *self, uint32_t bandit);
/* Asks whether a bandit of another process was removed for good. If so its state is `purged` from now on, and its
 * entries are refused as those of a bandit that does not exist. */
ee_status store_note_purged(store *self, uint32_t bandit, ee_error *error);
/* The token of a bandit that this process owns; 0: it does not. Any thread may ask. */
uint64_t store_token(const store *self, uint32_t bandit);

/* Bandits are numbered from 1 without gaps, archived and removed ones too. The state is valid until the next write;
 * only for the thread that writes. NULL: there is none of this number. */
size_t store_bandit_count(const store *self);
const bandit_state *store_bandit_state(const store *self, uint32_t number);

/* ---- reading: everything is copied, and no transaction is open between calls ---- */

ee_status store_reader_create(store *self, store_reader **out, ee_error *error);
void store_reader_free(store_reader *self);

/* Opens a store for reading only; another process may be writing to it. For replay and backup. */
ee_status store_open_reader(const char *where, store_reader **out, ee_error *error);

/* A bandit as it is stored. */
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

/* A copy of the bandits, including archived ones but not removed ones, in the order of their numbers. Release with
 * stored_bandits_free, which accepts {0}. */
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

/* Replaces the batch by those of these events (no number twice) that exist, in this order, up to about
 * EVENT_BATCH_BYTES. *looked: how many of the numbers were looked for, at least one. */
ee_status store_read_these(store_reader *self, uint32_t bandit, const uint64_t *numbers, size_t count, event_batch *out,
                           size_t *looked, ee_error *error);

/* Events never change, with these exceptions: this process erased or purged some, or a bandit became its own or
 * another's. How often that happened: whatever was read before is out of date if the number has grown. Retention does
 * not count: it removes nothing that a model still has to learn. */
uint64_t store_rewrites(void);

/* The number of the decision that has an id; 0 if none has. */
ee_status store_find_id(store_reader *self, uint32_t bandit, json_text id, uint64_t *number, ee_error *error);

/* The number of the last event of a kind at or below `upto`; 0: none. */
ee_status store_last(store_reader *self, uint32_t bandit, event_kind kind, uint64_t upto, uint64_t *number,
                     ee_error *error);

/* The same for several kinds, whose bits (1 << kind) are set. It looks at all events after the one that it finds. */
ee_status store_last_of(store_reader *self, uint32_t bandit, unsigned kinds, uint64_t upto, uint64_t *number,
                        ee_error *error);

/* The settings of SETTINGS event `number`. */
ee_status store_read_settings(store_reader *self, uint32_t bandit, uint64_t number, bandit_settings *out,
                              ee_error *error);
/* The settings in force at event `number`; *out is unchanged if they were removed from the log. */
ee_status store_settings_at(store_reader *self, uint32_t bandit, uint64_t number, bandit_settings *out,
                            ee_error *error);

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
    /* Totals of its metrics so far; NULL: none, or it is settled. Readers do not read them. */
    metric_values *metrics;
} stored_decision;

/* The first decisions with numbers above `after`, settled or not: *count, at most limit, into out. */
ee_status store_next_decisions(store_reader *self, uint32_t bandit, uint64_t after, stored_decision *out, size_t limit,
                               size_t *count, ee_error *error);

/* How many decisions with numbers above `after` are not settled. It looks at all of them. */
ee_status store_count_waiting(store_reader *self, uint32_t bandit, uint64_t after, uint64_t *count, ee_error *error);

/* Wall times go back when a wrong clock was corrected, so the time of an event may be outside those of its neighbours.
 */

/* The first event at or after a wall time; past the last event if there is none. */
ee_status store_find_time(store_reader *self, uint32_t bandit, int64_t time, uint64_t *number, ee_error *error);
/* The event after the last one before a wall time. */
ee_status store_find_end(store_reader *self, uint32_t bandit, int64_t time, uint64_t *number, ee_error *error);

/* How many events there are before a log time. */
ee_status store_count_before(store_reader *self, uint32_t bandit, int64_t time, uint64_t *count, ee_error *error);

/* ---- the rest ---- */

/* The blobs beside the events; they live as long as the store or the reader. */
blobs *store_blobs(const store *self);
const blobs *store_reader_blobs(const store_reader *self);
/* Removes all blobs of a bandit. */
ee_status store_remove_blobs(store *self, uint32_t bandit, ee_error *error);

/* Copies a store that another process may be writing to: a consistent, synced snapshot in a new folder, which gets its
 * name when it is complete and verified. verify (may be NULL) gets the folder of the copy; if it fails, so does the
 * backup. progress (may be NULL) gets the share that is done; false stops the copy. */
typedef ee_status backup_verify(void *context, const char *copy, ee_error *error);
ee_status store_backup(const char *folder, const char *to, backup_verify *verify,
                       bool (*progress)(void *context, double share), void *context, ee_error *error);

/* Bytes on the disk, including blobs. */
uint64_t store_bytes(const store *self);

/* Of the file system that the store is on, in bytes; free: what the server can still write. false: not known. */
typedef struct store_space {
    uint64_t size, free;
} store_space;
bool store_disk_space(const store *self, store_space *out);

#endif
