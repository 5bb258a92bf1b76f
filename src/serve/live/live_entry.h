/* A bandit in the list of live.c: its state, and its published report. */
#ifndef EENET_LIVE_ENTRY_H
#define EENET_LIVE_ENTRY_H

#include <pthread.h>

#include "live.h"

typedef struct live_entry {
    served_bandit *bandit;

    /* Under the lock. */
    text report; /* NULL bytes: none yet */
    struct {
        char name[BANDIT_NAME_SIZE];
        live_point now;
    } values[LIVE_TRACKS]; /* (value_count) */
    size_t value_count;
    guard_numbers guard;
    double asked; /* time of the last request; seconds */

    /* Owned by the thread that has the turn. */
    live_bandit state;
    bool open;
    bool more, stale; /* there are more events to process; the report lacks a count that was not due */
    uint64_t taken;   /* events of the log at its last turn */
    uint64_t saved;   /* number of changes that were saved */
    double due, news, shown, save_due, count_due, waiting;
    bool alarmed;              /* there is an alarm that the log lacked at the last turn */
    double alarm_due;          /* when it is reported again */
    uint64_t promotion, alarm; /* the last ones in the lists */
    text promotions, alarms;
    ee_error trouble;
} live_entry;

/* Seconds of a monotonic clock. */
double live_now(void);

/* Writes a new report and publishes it under the lock. */
void live_entry_show(live_entry *entry, pthread_mutex_t *lock, ee_error *error);

/* Saves the state if it has changed. If that fails, a restart computes it from the log. */
void live_entry_save(live_entry *entry, const live_options *options);
void live_entry_put_away(live_entry *entry);

/* For live_find_standing. */
ee_status live_entry_standing(live_entry *entry, const char *challenger, uint64_t test, live_standing *out,
                              ee_error *error);

#endif
