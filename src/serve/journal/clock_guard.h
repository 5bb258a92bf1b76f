/* Whether the wall clock can be right when the server starts, judged by the last event.
 *
 * - Ahead by more than most_days_off, and decisions would be settled or events removed because of it: refused.
 * - Behind by more than CLOCK_TOLERANCE: refused. The last event, or the clock now, has a wrong time.
 * - Otherwise the server was off for this time, and waits and retention count it.
 *
 * What is refused can be accepted, as elapsed or as corrected (system/server_clock.h). A clock that was in doubt when
 * the server stopped still is: restarting is no way around it. */
#ifndef EENET_CLOCK_GUARD_H
#define EENET_CLOCK_GUARD_H

#include "serve/store/store.h"
#include "serve/system/server_clock.h"

typedef struct clock_guard {
    stored_clock before; /* the clock's last state */
    int64_t wall;        /* now */
    int64_t retention_days, most_days_off;
    int64_t last; /* the latest log time that was given */

    /* What the time since then would do. */
    uint64_t waiting; /* decisions that would be settled, at most */
    uint64_t removed; /* events that retention would remove, at most */
} clock_guard;

/* Adds a bandit. retention_days: its own; 0: it has none. */
ee_status clock_guard_add(clock_guard *self, store_reader *reader, const stored_bandit *bandit, int64_t retention_days,
                          uint64_t waiting, ee_error *error);

/* *out becomes the clock to start with, unless it is refused (EE_BAD_INPUT). *write: the store is to know about it. */
ee_status clock_guard_start(const clock_guard *self, clock_acceptance as, int64_t real, server_clock *out, bool *write,
                            ee_error *error);

#endif
