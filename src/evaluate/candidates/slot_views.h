/* The slots of an event as events: each was a decision among the actions left by earlier slots, with its own
 * probabilities and reward. Code that can play an event can play a slot. */
#ifndef EENET_SLOT_VIEWS_H
#define EENET_SLOT_VIEWS_H

#include "candidate.h"

/* One slot. */
typedef struct slot_view {
    log_event event;       /* of the actions that were possible, in the order of their numbers */
    candidate_round round; /* of it */
    bool skipped;          /* its reward is unknown */

    size_t *numbers; /* (event.count) of the actions in the whole event */
    log_limits limits;
    float *boosts;
    uint32_t *shares;
    double *probabilities;
    json_text *names;
    size_t *starts;
    uint32_t *indices;
    float *values;
    ee_round *features;
    size_t number_capacity, probability_capacity, name_capacity, start_capacity, index_capacity, value_capacity;
    size_t boost_capacity, share_capacity;
} slot_view;

/* {0} has none. */
typedef struct slot_views {
    memory memory;
    slot_view *views; /* (count) */
    size_t count, made, capacity;
    struct text *joined; /* the context of a slot; see data/values/text.h */
    json_room json;
} slot_views;

/* Whether an event is evaluated slot by slot. A slate is not: its actions belong to one slot each, and it has one
 * reward. */
static inline bool slot_views_apply(const log_event *of)
{
    return of->slot_count > 0 && !of->slate;
}

/* Of the event of this round; they borrow from it. features: named features are needed and were read successfully
 * (candidate_read_features). */
ee_status slot_views_make(slot_views *self, const candidate_round *round, bool features, ee_error *error);
void slot_views_release(slot_views *self);

#endif
