/* A bandit that meets the events of a log, with vectors or named features. */
#ifndef EENET_LOGGED_BANDIT_H
#define EENET_LOGGED_BANDIT_H

#include "candidate.h"

typedef struct logged_bandit {
    ee_bandit *bandit;
    ee_snapshot *snapshot; /* once it is frozen: what it knew then. A bandit learns names from every round it sees */
    ee_scratch *scratch;
    uint64_t *ids; /* (id_capacity) of the arms of an event with vectors */
    size_t id_capacity;
} logged_bandit;

/* self starts as zeros, and is to be released, on failure too. setup->text is the policy. */
ee_status logged_bandit_create(logged_bandit *self, const candidate_setup *setup, const char *policy, ee_error *error);
ee_status logged_bandit_load(logged_bandit *self, const candidate_setup *setup, const char *path, ee_error *error);
void logged_bandit_release(logged_bandit *self);

/* From now on it learns nothing, names neither. */
ee_status logged_bandit_freeze(logged_bandit *self, ee_error *error);

/* Probabilities and scores (event->count), each unless NULL, by what it knows; then it learns the event, if asked to.
 * Called once for each event; of a slot, a second time with round->again. */
ee_status logged_bandit_play(logged_bandit *self, const candidate_round *round, bool learn, double *pi,
                             ee_score *scores, ee_error *error);

#endif
