/* The rules by which a decision and its rewards become one event to learn from. They work on the store, within a
 * transaction, and are the same whoever calls.
 *
 * - A reward counts when it comes within the wait time after its decision: time of the reward <= time of the decision
 *   + wait. What comes later is REWARD_LATE.
 * - With `first` the first reward settles the decision at once. With the other aggregations the end of the wait does.
 * - A decision that has no reward at the end of its wait is settled with the default reward, or with nothing.
 * - A reward for an id that no decision has is REWARD_UNKNOWN. When that decision comes, the reward counts from then
 *   on: a second REWARD event, REWARD_CLAIMED, follows the decision.
 * - The rules that count are those in force when the reward comes, or the wait ends. */
#ifndef EENET_JOINING_H
#define EENET_JOINING_H

#include "journal.h"

/* What the journal knows of a bandit. */
typedef struct joined_bandit {
    uint32_t number;
    uint64_t events; /* number of the last */
    int64_t time;    /* of it */
    uint64_t settled_to;
    bool archived;
    bandit_settings settings;
} joined_bandit;

/* Writes what the entry asks for at this time: appends its event, and those that follow from it. entry->verdict tells.
 * Fails only where the store does: then the transaction is to be rolled back. */
ee_status joining_decision(store *into, joined_bandit *bandit, journal_entry *entry, int64_t now, ee_error *error);
ee_status joining_reward(store *into, joined_bandit *bandit, journal_entry *entry, int64_t now, ee_error *error);

/* Settles decisions whose wait is over, at most `most`; *more: there are more of them. *next: when the first that still
 * waits is over; INT64_MAX: none does. */
ee_status joining_settle(store *into, joined_bandit *bandit, int64_t now, size_t most, bool *more, int64_t *next,
                         journal_counts *counts, ee_error *error);

#endif
