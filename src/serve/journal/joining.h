/* The rules that join a decision with its rewards into one event to learn from. They work on the store, within a
 * transaction.
 *
 * - A reward counts if it arrives within the wait after its decision: time of the reward <= time of the decision
 *   + wait. Later ones are REWARD_LATE.
 * - With `first` the first reward settles the decision at once. With the other aggregations the end of the wait does.
 * - A decision that has no reward at the end of its wait is settled with the default reward, or with nothing.
 * - A reward for an id that no decision has is REWARD_UNKNOWN. When that decision comes, the reward counts from then
 *   on: a second REWARD event, REWARD_CLAIMED, follows the decision.
 * - The rules that count are those in force when the reward comes, and when the decision is settled. What a decision is
 *   worth so far stays, so after a change of the aggregation the next reward is added to it by the new one.
 * - A decision is settled once. A reward that comes when it is settled already counts no more, even where a longer wait
 *   is in force by then: it is REWARD_REPEATED where others counted, else REWARD_LATE.
 * - A deferred decision is settled by its rewards once it is active: by an activation within the wait, with `first` at
 *   once where a reward came before it. Rewards are joined meanwhile. One that is not active at the end of its wait is
 *   settled as SETTLED_INACTIVE, whatever rewards it has.
 * - An activation for an id that no decision has is REWARD_UNKNOWN, and claimed as rewards are. One of a decision that
 *   is active is not logged, and the verdict is JOURNAL_REPEATED. After the wait it is REWARD_LATE.
 * - The slots of a round are separate decisions. The round's id means all of them in an activation, and the first in a
 *   reward. Another request with this id is a conflict, whatever slots it has.
 * - A reward id that came before for this decision, with the same value, is not logged again; the verdict is
 *   JOURNAL_REPEATED, and the outcome what it was then. With another value it is a conflict. */
#ifndef EENET_JOINING_H
#define EENET_JOINING_H

#include "journal.h"

/* What the journal knows of a bandit. */
typedef struct joined_bandit {
    uint32_t number;
    uint64_t events; /* number of the last */
    int64_t time;    /* of it */
    uint64_t news;   /* number of the last that a model learns from: DECISION, SETTLED, SETTINGS, MODEL */
    uint64_t settled_to;
    int64_t deadline;   /* no wait is over before; INT64_MAX: nothing waits */
    uint64_t waiting;   /* decisions that are not settled */
    uint64_t defaulted; /* by the default reward, since the server started */
    bool archived;
    joining_rules rules;
} joined_bandit;

/* All work at the time `now`, which is not before the bandit's last event. They fail only where the store does: then
 * the transaction is to be rolled back, and bandit and counts are to be what they were before it. */

/* Appends the event, which gets its number and time. */
ee_status joining_append(store *into, joined_bandit *bandit, event *what, int64_t now, ee_error *error);

/* Write the event of the entry and those that follow from it, and set entry->verdict. A repeated decision gets the
 * number of its event. The first slot of a round represents all of them, which are chained to it (with_next) and get
 * their verdicts too. */
ee_status joining_decision(store *into, joined_bandit *bandit, journal_entry *entry, int64_t now,
                           journal_counts *counts, ee_error *error);
ee_status joining_reward(store *into, joined_bandit *bandit, journal_entry *entry, int64_t now, journal_counts *counts,
                         ee_error *error);
ee_status joining_activation(store *into, joined_bandit *bandit, journal_entry *entry, int64_t now,
                             journal_counts *counts, ee_error *error);

/* Settles decisions whose wait is over, at most `most`, and sets the deadline: when it is not after now, there are more
 * of them, or to be looked at. *settled becomes how many. */
ee_status joining_settle(store *into, joined_bandit *bandit, int64_t now, size_t most, size_t *settled,
                         journal_counts *counts, ee_error *error);

#endif
