/* A bandit's settings as Personalizer's ServiceConfiguration and PolicyContract. What has no equivalent here is stored
 * in the setting "personalizer". */
#ifndef EENET_PERSONALIZER_SETTINGS_H
#define EENET_PERSONALIZER_SETTINGS_H

#include "data/values/log_time.h"
#include "iso_duration.h"
#include "serve/settings/bandit_settings.h"

enum { POLICY_NAME_MOST = 256, POLICY_ARGUMENTS_MOST = 1024 };

/* What has no equivalent here. */
typedef struct personalizer_kept {
    char export_frequency[ISO_DURATION_SIZE];       /* stored and returned; models are published sooner */
    char optimization_frequency[ISO_DURATION_SIZE]; /* stored and returned; live evaluation runs continuously */
    char optimization_start[LOG_TIME_SIZE];
    char edited[LOG_TIME_SIZE]; /* time of the last change */
    int64_t retrain_days;       /* of the log that a new model is trained on */
    char policy_name[POLICY_NAME_MOST + 1], policy_arguments[POLICY_ARGUMENTS_MOST + 1]; /* "": never set */
} personalizer_kept;

/* What the setting has, with defaults for the rest. */
personalizer_kept personalizer_kept_of(const bandit_settings *settings);
/* EE_BAD_INPUT if it is too long. */
ee_status personalizer_keep(const personalizer_kept *kept, bandit_settings *into, ee_error *error);

/* ---- the service's configuration ---- */

/* with_retrain: with modelRetrainDays, as in the last generation. */
void service_configuration_write(const bandit_settings *from, bool with_retrain, text *into);

/* Reads the whole object into *into, which is unchanged on failure. *code becomes Personalizer's code of an error. */
ee_status service_configuration_read(bandit_settings *into, json_text body, const char **code, ee_error *error);

/* The exploration that the configuration shows. */
double service_exploration(const bandit_settings *settings);

/* ---- the policy ---- */

void policy_contract_write(const bandit_settings *from, text *into);

/* Reads {"name", "arguments"} into *into. Arguments are "eenet:POLICY OPTIONS", where options may include
 * propensity=RULE, or Vowpal Wabbit's: those are stored, and
 * --epsilon is applied. */
ee_status policy_contract_read(bandit_settings *into, json_text body, ee_error *error);
ee_status policy_contract_apply(bandit_settings *into, json_text name, json_text arguments, ee_error *error);

/* Resets to the defaults of a new bandit. */
ee_status policy_contract_reset(bandit_settings *into, ee_error *error);

#endif
