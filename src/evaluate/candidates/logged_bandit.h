/* A bandit that meets the events of a log, with vectors or named features. */
#ifndef EENET_LOGGED_BANDIT_H
#define EENET_LOGGED_BANDIT_H

#include "candidate.h"
#include "limited_arms.h"

typedef struct logged_bandit {
    ee_bandit *bandit;
    ee_snapshot *snapshot; /* when frozen: its state then. A bandit would learn names from every round it sees */
    ee_scratch *scratch;
    uint64_t *ids; /* (id_capacity) of the arms of an event with vectors */
    size_t id_capacity;
    limited_arms limited;
} logged_bandit;

/* self starts as zeros; release it, also after a failure. setup->text is the policy. */
ee_status logged_bandit_create(logged_bandit *self, const candidate_setup *setup, const char *policy, ee_error *error);
ee_status logged_bandit_load(logged_bandit *self, const candidate_setup *setup, const char *path, ee_error *error);
void logged_bandit_release(logged_bandit *self);

/* Stops all learning, also of names. */
ee_status logged_bandit_freeze(logged_bandit *self, ee_error *error);

/* Sets probabilities and scores (event->count), each unless NULL; then learns the event if learn is true. Call it once
 * per event; for a slot, a second time with round->again. The probabilities are those within the limits of the event;
 * a frozen bandit does not know any. */
ee_status logged_bandit_play(logged_bandit *self, const candidate_round *round, bool learn, double *pi,
                             ee_score *scores, ee_error *error);

#endif
