/* What the files of joining share: the items of its working set. Pointers to ids are valid until the next join_add_id,
 * those to decisions until the next join_add_decision. */
#ifndef EENET_JOIN_SET_H
#define EENET_JOIN_SET_H

#include "joining.h"

/* NULL: the group does not refer to it. */
join_id *join_find_id(const joining *self, uint32_t bandit, json_text id);
join_decision *join_find_decision(const joining *self, uint32_t bandit, uint64_t number);
join_reward_id *join_find_reward_id(const joining *self, uint32_t bandit, json_text id, json_text reward_id);

/* Each is added once. *place: in `decisions`. */
ee_status join_add_id(joining *self, uint32_t bandit, json_text id, join_id **out, ee_error *error);
ee_status join_add_decision(joining *self, uint32_t bandit, const stored_decision *row, uint32_t *place,
                            ee_error *error);
ee_status join_add_reward_id(joining *self, uint32_t bandit, json_text id, json_text reward_id, ee_error *error);
ee_status join_add_unclaimed(joining *self, join_id *id, const join_unclaimed *what, ee_error *error);

/* Empty metrics, whose place does not change until the group ends. */
ee_status join_take_metrics(joining *self, join_metrics **out, ee_error *error);

/* Empties the set and keeps its memory. */
void join_clear(joining *self);

#endif
