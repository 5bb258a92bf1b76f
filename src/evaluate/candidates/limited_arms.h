/* The arms of an event that a candidate may choose from, and the limits of its draw (log_limits). It learns from these
 * arms too, as a server's bandit does: without ids, arms are identified by their number among them. */
#ifndef EENET_LIMITED_ARMS_H
#define EENET_LIMITED_ARMS_H

#include "base/memory.h"
#include "data/logs/log.h"

/* {0} has none. */
typedef struct limited_arms {
    memory memory;
    ee_limits limits;
    size_t *starts;
    uint32_t *indices, *groups;
    float *values, *boosts;
    uint64_t *ids;
    size_t start_capacity, index_capacity, group_capacity, value_capacity, boost_capacity, id_capacity;
} limited_arms;

/* Of all arms of an event that has limits: those that are not excluded, which borrow from self and all. */
ee_status limited_arms_make(limited_arms *self, const log_event *event, const ee_arms *all, ee_arms *out,
                            ee_error *error);
void limited_arms_release(limited_arms *self);

/* The number of an action that is not excluded among these arms. */
size_t limited_arms_number(const log_event *event, size_t action);

/* In place: the probabilities of these arms become those of all arms (event->count). NaN, which means unknown, stays.
 */
void limited_arms_spread(const log_event *event, double *pi);

#endif
