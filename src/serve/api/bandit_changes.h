/* Changes of bandits: each is checked, written as a SETTINGS event, and then takes effect. For the worker, except for
 * service_relearn. */
#ifndef EENET_BANDIT_CHANGES_H
#define EENET_BANDIT_CHANGES_H

#include "serve/live/succession.h"
#include "service_state.h"

/* Writes the settings as an event and applies them. number 0: a new bandit. */
ee_status service_write_settings(service *of, uint32_t number, json_text name, const bandit_settings *settings,
                                 bool archived, ee_error *error);

/* Checks that the library can create the bandit, and those challengers that `before` does not have; before NULL: all of
 * them. */
ee_status service_try_settings(const bandit_settings *settings, const bandit_settings *before, ee_error *error);

/* A schedule of the rollout that does not say when it begins, begins now: microseconds since 1970. */
ee_status service_begin_schedule(bandit_settings *next, int64_t now, ee_error *error);

/* Numbers new tests in *next, begins its schedule, tries what is new, and writes the settings. */
ee_status service_change_settings(service *self, served_bandit *bandit, const bandit_settings *before,
                                  bandit_settings *next, ee_error *error);

/* Whether the model has to learn the log again, because what it learns from rewards is another thing now. */
bool service_changes_objective(const bandit_settings *before, const bandit_settings *next);

/* What the relearner is asked for. */
typedef struct relearning {
    service *of;
    served_bandit *bandit;
    const bandit_settings *before; /* of the bandit, when *next was made from them */
    bandit_settings *next;
    int64_t from;    /* it learns decisions from this time on, microseconds since 1970; INT64_MIN: all */
    const char *why; /* as in succession_write */
    uint64_t number; /* of the new model's MODEL event, once it is written */
    bool overtaken;  /* nothing was written, because the bandit has other settings by now, or is archived or gone */
} relearning;

/* Writes settings and, in the same transaction, a model that has learned the settled decisions of the log by the
 * objective of *next. The old model decides until then, which may take minutes. In the relearner's thread; it asks the
 * worker to write. If the bandit was held or released meanwhile, *next takes that over. */
ee_status service_relearn(relearning *self, ee_error *error);

/* The same after a change of the objective: *next gets new numbers of tests, and its schedule begins. */
ee_status service_change_objective(relearning *self, ee_error *error);

#endif
