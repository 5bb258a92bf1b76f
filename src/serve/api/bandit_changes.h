/* Changes of bandits: each is checked, written as a SETTINGS event, and then takes effect. For the worker. */
#ifndef EENET_BANDIT_CHANGES_H
#define EENET_BANDIT_CHANGES_H

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
/* The same with, in the same transaction, a model that has learned all settled decisions of the log by the objective of
 * *next: *number becomes that of its MODEL event. The old model decides until then, which may take minutes. */
ee_status service_change_objective(service *self, served_bandit *bandit, const bandit_settings *before,
                                   bandit_settings *next, uint64_t *number, ee_error *error);

#endif
