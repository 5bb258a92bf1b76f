/* What each kind of entry does: the rules of joining.h, applied to the working set of a group. They fail only when
 * memory runs out or the group is invalid: then all of it is undone. */
#ifndef EENET_JOIN_RULES_H
#define EENET_JOIN_RULES_H

#include "joining.h"

/* Appends the event, which gets its number and time. */
ee_status join_append(joining *self, join_bandit *bandit, event *what, ee_error *error);

/* Write the event of the entry and those that follow from it, and set its verdict. A repeated decision gets the number
 * of its event. The first slot of a round represents all of them, which are chained to it (with_next) and get their
 * verdicts too. */
ee_status join_write_decision(joining *self, join_bandit *bandit, store_entry *entry, ee_error *error);
ee_status join_write_reward(joining *self, join_bandit *bandit, store_entry *entry, ee_error *error);
ee_status join_write_activation(joining *self, join_bandit *bandit, store_entry *entry, ee_error *error);

/* Settles the decisions that were fetched, and sets the deadline: if it is not after now, there are more. */
ee_status join_settle_due(joining *self, join_bandit *bandit, const join_due *due, ee_error *error);

/* Settles a pending decision with nothing, whatever rewards it has. */
ee_status join_write_settlement(joining *self, join_bandit *bandit, store_entry *entry, ee_error *error);

#endif
