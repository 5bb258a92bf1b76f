/* What an implementation of the store provides. store.c calls it; nothing outside this folder does.
 *
 * A write is: begin, fetch, fetch_slots, fetch_waiting for each bandit that is due, [joining.h decides], apply, commit.
 * After a failure only rollback helps. */
#ifndef EENET_STORE_METHODS_H
#define EENET_STORE_METHODS_H

#include "joining.h"

typedef struct store_methods {
    void (*close)(store *self); /* accepts a store that was opened halfway */

    ee_status (*begin)(store *self, ee_error *error);
    ee_status (*commit)(store *self, ee_error *error);
    void (*rollback)(store *self);

    /* Finds what joining_collect listed in self->joining: decisions of ids, unclaimed events, reward ids, names. If
     * the lease of a bandit is lost, or was not this process's, its state is no longer `owned`. */
    ee_status (*fetch)(store *self, ee_error *error);
    /* Finds self->joining->slots. */
    ee_status (*fetch_slots)(store *self, ee_error *error);
    /* Up to `limit` pending decisions in order, and sets due->upto and due->next. It looks at some thousand decisions
     * at most, because many may be settled already. */
    ee_status (*fetch_waiting)(store *self, join_due *due, stored_decision *out, size_t limit, size_t *count,
                               ee_error *error);
    /* Writes the changes of self->joining. */
    ee_status (*apply)(store *self, ee_error *error);
    ee_status (*write_clock)(store *self, const stored_clock *clock, ee_error *error);
    /* The entries of a spool after `before`, up to `position`, are part of the transaction. Fails if the store has more
     * than those up to `before`. NULL: not supported. */
    ee_status (*deliver)(store *self, const char *spool, uint64_t before, uint64_t position, ee_error *error);
    /* As store_spool_position, outside of a transaction. NULL: not supported. */
    ee_status (*spool_position)(store *self, const char *spool, uint64_t *position, ee_error *error);
    /* Writes something that has to reach the disk and changes nothing. */
    ee_status (*probe)(store *self, ee_error *error);
    /* As store_remove, within a transaction. *unclaimed: how many unclaimed events were among them. */
    ee_status (*remove)(store *self, uint32_t bandit, int64_t before, uint64_t keep_from, size_t limit, bool *more,
                        uint64_t *unclaimed, ee_error *error);

    /* As store_purge, store_purge_some, store_purge_end and store_purge_next, without the working set. */
    ee_status (*purge)(store *self, uint32_t bandit, ee_error *error);
    ee_status (*purge_some)(store *self, uint32_t bandit, size_t limit, bool *more, ee_error *error);
    ee_status (*purge_end)(store *self, uint32_t bandit, ee_error *error);
    ee_status (*purge_next)(store *self, uint32_t after, uint32_t *bandit, ee_error *error);

    /* As store_erase, within a transaction. *unclaimed: how many unclaimed events were among them. */
    ee_status (*erase)(store *self, uint32_t bandit, const uint64_t *numbers, size_t count, uint64_t *unclaimed,
                       ee_error *error);
    /* Whether deleted content is overwritten. Outside of a transaction. */
    ee_status (*overwrite)(store *self, bool on, ee_error *error);
    ee_status (*scrub)(store *self, uint64_t *page, size_t count, bool *more, ee_error *error);

    void (*set_patience)(store *self, double seconds); /* NULL: commits are never in doubt */
    /* As store_own, store_disown and store_token. NULL: the process owns everything. */
    ee_status (*own)(store *self, uint32_t bandit, uint64_t token, bool *owned, ee_error *error);
    void (*disown)(store *self, uint32_t bandit);
    uint64_t (*token)(const store *self, uint32_t bandit);
    /* Whether the removal of a bandit was decided, by any process. Outside of a transaction. NULL: this process owns
     * everything, and knows it. */
    ee_status (*is_purged)(store *self, uint32_t bandit, bool *purged, ee_error *error);

    ee_status (*create_reader)(store *self, store_reader **out, ee_error *error);
    uint64_t (*bytes)(const store *self);
    bool (*disk_space)(const store *self, store_space *out);
} store_methods;

struct store {
    memory memory;
    const store_methods *methods;
    joining *joining;
    blobs *blobs;
    stored_decision *waiting; /* room for fetch_waiting */
    size_t waiting_capacity;
};

/* As the functions of store.h that have the same names. */
typedef struct reader_methods {
    void (*free)(store_reader *self);
    ee_status (*list_bandits)(store_reader *self, stored_bandits *out, ee_error *error);
    ee_status (*read)(store_reader *self, uint32_t bandit, uint64_t after, unsigned kinds, size_t limit,
                      event_batch *out, ee_error *error);
    /* Adds events until the batch has EVENT_BATCH_BYTES. */
    ee_status (*read_these)(store_reader *self, uint32_t bandit, const uint64_t *numbers, size_t count,
                            event_batch *out, ee_error *error);
    ee_status (*find_id)(store_reader *self, uint32_t bandit, json_text id, uint64_t *number, ee_error *error);
    ee_status (*last_of)(store_reader *self, uint32_t bandit, unsigned kinds, uint64_t upto, uint64_t *number,
                         ee_error *error);
    ee_status (*next_decisions)(store_reader *self, uint32_t bandit, uint64_t after, stored_decision *out, size_t limit,
                                size_t *count, ee_error *error);
    ee_status (*count_waiting)(store_reader *self, uint32_t bandit, uint64_t after, uint64_t *count, ee_error *error);
    /* As store_find_time and store_find_end together. */
    ee_status (*find_time)(store_reader *self, uint32_t bandit, int64_t time, uint64_t *first, uint64_t *end,
                           ee_error *error);
    ee_status (*count_before)(store_reader *self, uint32_t bandit, int64_t time, uint64_t *count, ee_error *error);
    ee_status (*read_clock)(store_reader *self, stored_clock *out, ee_error *error);
} reader_methods;

/* Adds a copy, for list_bandits. */
ee_status stored_bandits_add(stored_bandits *self, const stored_bandit *from, ee_error *error);

struct store_reader {
    memory memory;
    const reader_methods *methods;
    event_batch one; /* what store_read_one returned */
    blobs *blobs;
};

#endif
